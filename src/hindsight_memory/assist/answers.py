"""Asks a language model for typed answers: a form goes out as a JSON schema, and only what keeps to it comes back.

A form is a frozen dataclass whose fields are ``str``, ``float``, ``int``, ``Literal`` or a tuple of ``str`` or ``int``.
A field without a default must be there. What was broken on the way is read as it was meant (``lenient``); what is
wrong is dropped, and said.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Final, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from hindsight_memory.assist.lenient import LONGEST, Cut, values_in
from hindsight_memory.assist.prompts import Prompt
from hindsight_memory.models.base import LLM, ModelFailed
from hindsight_memory.text.tokens import normalise

T = TypeVar("T")

_MOST_ITEMS: Final = 50
_MOST_DROPPED: Final = 20
_NESTED: Final = 4
_TEXT: Final = 2_000
"""Characters of a text whose field says no other number."""
_NUMBER: Final = re.compile(r"\s*([-+]?\d{1,15}(?:\.\d{1,15})?)\s*(%?)\s*")
_NOTHING: Final = re.compile(r"\s*(?:```\w*)?\s*(?:null|none)\.?\s*(?:```)?\s*", re.IGNORECASE)
_REFUSAL: Final = re.compile(
    r"i'?m sorry|i am sorry|sorry\b|i (?:can(?:no|['’])t|am unable|won['’]t)|i['’]m unable|as an ai"
    "|抱歉|对不起|很遗憾|我(?:无法|不能)|作为",
    re.IGNORECASE,
)
_EDGES: Final = " \t\n.。:：\"'`*[](){}<>"


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What a model answered: ``items`` that keep to the form, what was ``dropped`` and why.

    ``reason`` says why there is no answer, and is empty where there is one, if only that there is nothing. ``passing``
    is whether asking later may help.
    """

    items: tuple[T, ...] = ()
    reason: str = ""
    passing: bool = False
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """What is asked for: objects of ``kind``, ``many`` of them in a list or one; ``name`` is the list's."""

    kind: type[T]
    name: str = ""

    @property
    def many(self) -> bool:
        """Whether a list is asked for."""
        return bool(self.name)

    def schema(self) -> dict[str, Any]:
        """The form as JSON schema, of what every provider takes: its root an object, each property required."""
        one = _object_of({name: _described(hint) for name, hint in _types(self.kind).items()})
        return _object_of({self.name: {"type": "array", "items": one}}) if self.many else one


async def ask(llm: LLM, prompt: Prompt, form: Form[T], *, max_tokens: int, wait_s: float) -> Answer[T]:
    """Ask for a form and read the answer. Whatever the model does is an ``Answer``; only a cancellation is raised."""
    try:
        async with asyncio.timeout(wait_s):
            text = await llm.chat(prompt.system, prompt.data, max_tokens=max_tokens, schema=form.schema())
        return await asyncio.to_thread(read, text, form)  # an endless answer takes a while
    except TimeoutError:
        return Answer(reason=f"The model did not answer in {wait_s:g} s.", passing=True)
    except ModelFailed as error:
        return Answer(reason=error.message, passing=error.passing)
    except Exception as error:  # noqa: BLE001  # rules answer, whatever a model or its library does
        return Answer(reason=f"The model failed ({type(error).__name__}).")


def read(text: str, form: Form[T]) -> Answer[T]:
    """What an answer says in the terms of a form."""
    values, types = list(values_in(text)), _types(form.kind)
    items: dict[T, None] = {}
    dropped: list[str] = []
    for given in (each for value in values for each in _objects(value, types)):
        item, fault = _item(given, form.kind, types)
        if item is not None and len(items) < _MOST_ITEMS:
            items[item] = None
        elif len(dropped) < _MOST_DROPPED:
            dropped.append(fault or f"more than {_MOST_ITEMS} items")
    if not items:
        return _none(text, values, form, tuple(dropped))
    if not form.many and len(items) > 1:
        return Answer(reason="The model gave several answers that differ.", dropped=tuple(dropped))
    return Answer(tuple(items), dropped=tuple(dropped))


def _none(text: str, values: list[Any], form: Form[T], dropped: tuple[str, ...]) -> Answer[T]:
    """An answer without a single item: that there is nothing, where a list was asked for, or why it cannot be used."""
    nothing = _is_nothing(values) or (not values and bool(_NOTHING.fullmatch(text[:LONGEST])))
    if nothing and not dropped and form.many:
        return Answer()
    if nothing and not dropped and all(each.default is not MISSING for each in fields(form.kind)):  # type: ignore[arg-type]
        return Answer((form.kind(),))
    if dropped:
        reason = f"The model's answer does not keep to the form: {dropped[0]}."
    elif not values and _REFUSAL.match(text.strip()[:200]):
        reason = "The model refused."
    elif values:
        reason = "The model's answer does not keep to the form."
    else:
        reason = "There is no whole JSON object in the model's answer."
    return Answer(reason=reason, dropped=dropped)


def _is_nothing(values: list[Any]) -> bool:
    """Whether all that was said is an empty list: ``[]``, ``{}``, ``{"facts": []}``, ``{"facts": null}``."""
    return bool(values) and all(
        not value or (isinstance(value, dict) and not isinstance(value, Cut) and not any(value.values()))
        for value in values
    )


def _objects(value: Any, names: Mapping[str, Any], depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The objects in a value that may be meant: those with a field of the form, in lists and in objects around them."""
    if depth > _NESTED:
        return
    if isinstance(value, dict):
        if any(_named(name) in names for name in value):
            yield value
            return
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _objects(each, names, depth + 1)


def _named(name: Any) -> str:
    return re.sub(r"[\s-]+", "_", str(name).strip().casefold())


def _item(given: Mapping[str, Any], kind: type[T], types: Mapping[str, Any]) -> tuple[T | None, str]:
    """The object as the form has it, or what is wrong with it."""
    folded = {_named(name): value for name, value in given.items()}
    taken: dict[str, Any] = {}
    for each, hint in zip(fields(kind), types.values(), strict=True):  # type: ignore[arg-type]
        value = _read_as(folded.get(each.name), hint, each.metadata)
        required = each.default is MISSING
        if isinstance(given, Cut) and each.name not in folded:
            return None, "it breaks off"
        if value is None and required:
            return None, f"{each.name} is {_fault(folded, each)}"
        if value is not None:
            taken[each.name] = value
    if not taken and any(folded.get(name) for name in types):
        return None, "nothing in it is of the right type"
    return kind(**taken), ""


def _fault(folded: Mapping[str, Any], each: Field[Any]) -> str:
    if folded.get(each.name) is None:
        return "missing"
    value = folded[each.name]
    if isinstance(value, str) and len(value) > each.metadata.get("most", _TEXT):
        return "too long"
    return "empty" if value in ("", [], {}) else "of another type"


def _read_as(value: Any, hint: Any, limits: Mapping[str, Any]) -> Any:
    """A value as its field holds it; ``None`` where it cannot be read so."""
    if get_origin(hint) is tuple:
        return _several(value, get_args(hint)[0], limits)
    if get_origin(hint) is Literal:
        return _one_of(value, get_args(hint), limits.get("meant", {}))
    if hint is str:
        text = " ".join(normalise(value[:LONGEST]).split()) if isinstance(value, str) else ""
        return text if 0 < len(text) <= limits.get("most", _TEXT) else None
    number = _number(value)
    if number is None or not limits.get("least", -math.inf) <= number <= limits.get("most", math.inf):
        return None
    return number if hint is float else int(number) if number == int(number) else None


def _several(value: Any, hint: Any, limits: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """A tuple of a list's values that can be read, each once; of a single value, or an object's values, as well."""
    if isinstance(value, dict):
        value = list(value.values())
    given = value if isinstance(value, list) else [value]
    found = [each for item in given[: _MOST_ITEMS * 2] if (each := _read_as(item, hint, limits)) is not None]
    return tuple(dict.fromkeys(found))[:_MOST_ITEMS] or None


def _one_of(value: Any, choices: tuple[Any, ...], meant: Mapping[str, str]) -> Any:
    if not isinstance(value, str):
        return None
    said = " ".join(value[:200].split()).strip(_EDGES).casefold()
    said = meant.get(said, said)
    return said if said in choices else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value[:40])
        return float(found[1]) / (100 if found[2] else 1) if found else None
    if isinstance(value, int | float) and abs(value) < 1e15:  # not for NaN
        return float(value)
    return None


def _types(kind: type[Any]) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def _described(hint: Any) -> dict[str, Any]:
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _described(get_args(hint)[0])}
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    return {"type": {str: "string", float: "number", int: "integer"}[hint]}


def _object_of(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
