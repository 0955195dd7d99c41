"""Summaries: a long memory has one beside its full text, which stays what is searched."""

from __future__ import annotations

import pytest

from hindsight_memory import AsyncHindsightMemory
from hindsight_memory.text.tokens import count_tokens
from samples import found_by_words

FACT = {"en": "The backup of 12 March goes to host vault7 in Lisbon. ", "zh": "3月12日的备份放在里斯本的主机vault7上。"}
DETAIL = {"en": "Backup {n} of host vault7 took {n} minutes. ", "zh": "主机vault7的第{n}次备份用了{n}分钟。"}
ASIDE = {"en": "somebody hummed a polka.", "zh": "有人哼着波尔卡。"}


def long(language: str) -> str:
    details = (DETAIL[language].format(n=number) for number in range(10, 50))
    return FACT[language] + "".join(details) + ASIDE[language]


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_long_memory_has_a_summary_and_its_full_text(memory: AsyncHindsightMemory, language: str) -> None:
    receipt = await memory.write(long(language))
    kept = await memory.get(receipt.id)
    assert kept.content == long(language)
    assert kept.summary is not None
    assert "vault7" in kept.summary
    assert count_tokens(kept.summary) <= 120 < count_tokens(kept.content)


async def test_a_short_one_has_none(memory: AsyncHindsightMemory) -> None:
    for text in ("x" * 500, "短"):
        assert (await memory.get((await memory.write(text)).id)).summary is None
    assert (await memory.get((await memory.write("x y " * 125 + "z")).id)).summary is not None


async def test_a_long_turn_has_one_too(memory: AsyncHindsightMemory) -> None:
    receipts = await memory.write_conversation([{"content": long("en")}, {"content": "Noted: vault7"}], session_id="s")
    summaries = [(await memory.get(receipt.id)).summary for receipt in receipts]
    assert summaries[0] is not None
    assert "vault7" in summaries[0]
    assert summaries[1] is None


async def test_it_follows_the_text_when_that_changes(memory: AsyncHindsightMemory) -> None:
    receipt = await memory.write(long("en"))
    before = (await memory.get(receipt.id)).summary
    assert (await memory.update(receipt.id, importance=0.9)).summary == before
    assert (await memory.update(receipt.id, key="fact.backup")).summary == before
    changed = await memory.update(receipt.id, content=long("en").replace("vault7", "vault9"))
    assert changed.summary is not None
    assert "vault9" in changed.summary
    assert (await memory.update(receipt.id, content="The backup is gone.")).summary is None


@pytest.mark.parametrize(("language", "word"), [("en", "polka"), ("zh", "波尔卡")])
async def test_the_full_text_is_what_is_found(memory: AsyncHindsightMemory, language: str, word: str) -> None:
    receipt = await memory.write(long(language))
    kept = await memory.get(receipt.id)
    assert kept.summary is not None
    assert word not in kept.summary
    assert await found_by_words(memory, word) == [long(language)]


async def test_a_context_shows_the_summary(memory: AsyncHindsightMemory) -> None:
    receipt = await memory.write(long("en"), wait="indexed")
    summary = (await memory.get(receipt.id)).summary
    context = await memory.context("How many minutes took each backup of host vault7, after the backup of 12 March?")
    assert summary is not None
    assert " ".join(summary.split()) in context.text
    assert "polka" not in context.text
