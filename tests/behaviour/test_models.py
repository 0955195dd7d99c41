"""Models that help: named by the settings, listed by doctor, closed with the service, and all of them optional."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hindsight_memory import AsyncHindsightMemory, InvalidInput
from hindsight_memory.build import PREFIX, build, llm_of, reranker_of, settings_from
from hindsight_memory.models.chat import AnthropicChat, OpenAIChat
from hindsight_memory.models.rerank import EndpointReranker, LLMReranker
from hindsight_memory.settings import LLMSettings, RerankSettings, Settings
from hindsight_memory.testing import ScriptedLLM, ScriptedReranker, open_service


async def test_by_default_there_are_none(database: Path) -> None:
    service = await open_service(database)
    checks = {check.name: check for check in await service.doctor()}
    assert checks["llm"].ok
    assert checks["reranker"].ok
    assert (checks["llm"].note, checks["reranker"].note) == ("none: rules only", "none")
    await service.close()


async def test_doctor_names_them_and_close_closes_them(database: Path) -> None:
    llm, reranker = ScriptedLLM("x", name="openai:small"), ScriptedReranker(name="endpoint:tiny")
    service = await open_service(database, llm=llm, reranker=reranker)
    notes = {check.name: check.note for check in await service.doctor()}
    assert (notes["llm"], notes["reranker"]) == ("openai:small", "endpoint:tiny")
    await service.close()
    assert llm.closed
    assert reranker.closed


async def test_the_environment_names_them(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "LLM": "anthropic:claude",
        "LLM_BASE_URL": "http://127.0.0.1:9",
        "LLM_API_KEY": "k",
        "LLM_TIMEOUT_S": "2.5",
        "RERANK": "llm",
        "RERANK_WAIT_S": "1",
        "ZONE": "Asia/Shanghai",
        "EMBEDDER": "none",
    }
    for name, value in values.items():
        monkeypatch.setenv(PREFIX + name, value)
    settings = settings_from(database=str(database))
    assert settings.llm == LLMSettings("anthropic:claude", "http://127.0.0.1:9", "k", 2.5)
    assert (settings.rerank.name, settings.rerank.wait_s, settings.recall.zone) == ("llm", 1.0, "Asia/Shanghai")
    service = await build(settings)  # nothing is asked of them at the start, so nobody need listen there
    notes = {check.name: check.note for check in await service.doctor()}
    assert (notes["llm"], notes["reranker"]) == ("anthropic:claude", "llm (anthropic:claude)")
    await service.close()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"ZONE": "Mars/Olympus"}, "ZONE"),
        ({"ZONE": "Europe"}, "ZONE"),
        ({"ZONE": "../etc/passwd"}, "ZONE"),
        ({"LLM_TIMEOUT_S": "soon"}, "LLM_TIMEOUT_S"),
        ({"LLM_TIMEOUT_S": "0"}, "LLM_TIMEOUT_S"),
        ({"RERANK_WAIT_S": "-1"}, "RERANK_WAIT_S"),
        ({"RERANK_WAIT_S": "nan"}, "RERANK_WAIT_S"),
        ({"RERANK_WAIT_S": "inf"}, "RERANK_WAIT_S"),
        ({"RERANKER": "llm"}, "RERANKER"),
    ],
)
def test_a_wrong_variable_is_named(values: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInput) as wrong:
        settings_from({PREFIX + name: value for name, value in values.items()})
    assert wrong.value.field == PREFIX + field


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("", type(None)),
        ("openai:small", OpenAIChat),
        ("openai:org/small:q4", OpenAIChat),
        ("anthropic:c", AnthropicChat),
    ],
)
async def test_a_language_model_by_its_name(name: str, kind: type[Any]) -> None:
    llm = llm_of(LLMSettings(name))
    assert type(llm) is kind
    if llm is not None:
        assert llm.name == name
        await llm.close()


@pytest.mark.parametrize("name", ["openai", "openai:", "gpt-5", "google:gemini", ":x"])
def test_a_language_model_that_is_not_known(name: str) -> None:
    with pytest.raises(InvalidInput) as wrong:
        llm_of(LLMSettings(name))
    assert wrong.value.field == f"{PREFIX}LLM"


async def test_a_reranker_by_its_name() -> None:
    assert reranker_of(RerankSettings(), None) is None
    assert isinstance(reranker_of(RerankSettings("llm"), ScriptedLLM()), LLMReranker)
    served = reranker_of(RerankSettings("endpoint:jina", "http://127.0.0.1:9/v1"), None)
    assert isinstance(served, EndpointReranker)
    await served.close()


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("llm", "RERANK"),
        ("llm:gpt", "RERANK"),
        ("endpoint:jina", "RERANK_BASE_URL"),
        ("endpoint", "RERANK"),
        ("flashrank:", "RERANK"),
        ("cohere:rerank", "RERANK"),
    ],
)
def test_a_reranker_that_cannot_be(name: str, field: str) -> None:
    with pytest.raises(InvalidInput) as wrong:
        reranker_of(RerankSettings(name), None)
    assert wrong.value.field == PREFIX + field


@pytest.mark.parametrize("name", ["fastembed:x", "flashrank:x"])
def test_a_library_that_is_not_installed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindsight_memory.build._installed", lambda package: False)
    with pytest.raises(InvalidInput, match="not installed"):
        reranker_of(RerankSettings(name), None)


async def test_a_service_that_cannot_have_its_models_is_not_built(database: Path) -> None:
    with pytest.raises(InvalidInput):
        await build(Settings(database=str(database), rerank=RerankSettings("llm")))
    assert not database.exists()


async def test_a_session_may_be_left_out(memory: AsyncHindsightMemory) -> None:
    await memory.write("The launch is on Friday.", session_id="now")
    await memory.write("The launch was in Berlin.", session_id="before")
    await memory.write("A launch needs a checklist.")
    found = {hit.memory.content for hit in await memory.search("launch", except_session="now")}
    assert found == {"The launch was in Berlin.", "A launch needs a checklist."}
    listed = {each.content for each in (await memory.list(except_session="before")).memories}
    assert listed == {"The launch is on Friday.", "A launch needs a checklist."}
