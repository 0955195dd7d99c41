"""Takes secrets and personal data out of texts, as a policy asks, however they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import partial
from typing import Any, Final, TypeVar

from hindsight_memory.check import Checked
from hindsight_memory.domain import Finding, Handling
from hindsight_memory.guard import detect_contacts, detect_numbers, detect_tokens
from hindsight_memory.guard.detect_phrases import passwords
from hindsight_memory.guard.detect_views import Spot, View, views
from hindsight_memory.guard.policy import Policy
from hindsight_memory.guard.vault import no_vault
from hindsight_memory.text.frame import without_frames
from hindsight_memory.text.tokens import normalise

T = TypeVar("T", bound=Checked)
_ORDER: Final = (Handling.MASK, Handling.VAULT, Handling.REDACT, Handling.REJECT)
"""From the mildest: where two things stand in one place, the stricter decides."""
_LOOKS: Final = 4


@dataclass(frozen=True, slots=True)
class Found:
    """Something that was found in a text: where it stands, what it reads there, and whether it was encoded."""

    kind: str
    start: int
    end: int
    said: str
    encoded: bool = False


def find(text: str, policy: Policy | None = None) -> list[Found]:
    """What a text holds, in its order; with a policy, without the types that it allows."""
    found: list[Found] = []
    for _ in range(_LOOKS):
        new = [each for view in views(text) for each in _seen(view, policy)]
        if not new:
            break
        found += new
        # What stood right beside something may be seen once that is gone.
        chars = list(text)
        for each in new:
            chars[each.start : each.end] = "\n" * (each.end - each.start)
        text = "".join(chars)
    return sorted(found, key=lambda each: (each.start, -each.end, each.kind))


def _seen(view: View, policy: Policy | None) -> Iterator[Found]:
    for spot in _spots(view.text, policy):
        start, end = view.span(spot.start, spot.end)
        yield Found(spot.kind, start, end, view.text[spot.start : spot.end], view.whole)


def _spots(text: str, policy: Policy | None) -> Iterator[Spot]:
    for look in (*detect_tokens.LOOK, passwords, detect_contacts.emails):
        yield from _wanted(look(text), policy)
    if policy is None or policy.of("address") is not Handling.ALLOW:
        yield from detect_contacts.addresses(text)
    if not detect_numbers.ENOUGH.search(text):
        return
    bare = detect_numbers.without_dates(text)
    if not detect_numbers.ENOUGH.search(bare):
        return
    for types, look in (*detect_numbers.LOOK, *detect_contacts.LOOK):
        if policy is None or any(policy.of(each) is not Handling.ALLOW for each in types):
            yield from _wanted(look(bare), policy)


def _wanted(spots: Iterator[Spot], policy: Policy | None) -> Iterator[Spot]:
    return (each for each in spots if policy is None or policy.of(each.kind) is not Handling.ALLOW)


def redact(text: str, policy: Policy) -> tuple[str, list[Finding]]:
    """The text with what the policy does not allow in it masked or taken out, and what that was.

    Done twice, it changes nothing. What the policy rejects is taken out too, and noted so.
    """
    findings: list[Finding] = []
    kept: list[str] = []
    done = 0
    for one in _joined(find(text, policy), policy):
        handling = policy.of(one.kind)
        kept += [text[done : one.start], _instead(one, handling, policy)]
        findings.append(Finding(one.kind, one.start, one.end, handling))
        done = one.end
    return "".join([*kept, text[done:]]) if findings else text, findings


def _joined(found: Sequence[Found], policy: Policy) -> list[Found]:
    """What was found, where stretches overlap as one: of the type that is handled most strictly, the longest first."""
    joined: list[Found] = []
    for one in found:
        if not joined or one.start >= joined[-1].end:
            joined.append(one)
            continue
        last = joined[-1]
        strict = max(last, one, key=lambda each: (_ORDER.index(policy.of(each.kind)), each.end - each.start))
        end = max(last.end, one.end)
        covers = (strict.start, strict.end) == (last.start, end)
        joined[-1] = replace(strict, start=last.start, end=end, encoded=strict.encoded or not covers)
    return joined


def _instead(one: Found, handling: Handling, policy: Policy) -> str:
    """What stands in the place of something: a mask shows its form, a mark only its type, or where it is kept."""
    if handling is Handling.VAULT:
        if policy.keep is None:
            raise no_vault("content")
        return policy.keep(one.kind, one.said)
    if handling is not Handling.MASK or one.encoded:
        return f"[redacted:{one.kind}]"
    return _MASKS[one.kind](one.said) if one.kind in _MASKS else f"[redacted:{one.kind}]"


def _mailbox(said: str) -> str:
    box, _, host = said.partition("@")
    return f"{box[:1]}***@{host}"


def _phone(said: str) -> str:
    """At least four digits of a telephone number are hidden: 138****5678."""
    digits = sum(each.isdigit() for each in said)
    tail = 4 if digits >= 9 else 2
    return _starred(said, min(3, max(0, digits - tail - 4)), tail)


def _starred(said: str, head: int, tail: int) -> str:
    count = sum(each.isalnum() for each in said)
    place, shown = 0, []
    for each in said:
        hidden = each.isalnum() and head <= place < count - tail
        shown.append("*" if hidden else each)
        place += each.isalnum()
    return "".join(shown)


_MASKS: Final[Mapping[str, Callable[[str], str]]] = {
    "email": _mailbox,
    "phone": _phone,
    "national_id": lambda said: _starred(said, 3 if len(said) > 15 else 0, 4),
    "card": lambda said: _starred(said, 0, 4),
    "iban": lambda said: _starred(said, 2, 4),
    "account": lambda said: _starred(said, 0, 4),
    "address": lambda said: "".join("*" if each.isdigit() else each for each in said),
}
"""What a mask leaves of each type; nothing of those that are not here."""


def redacted(request: T, policy: Policy) -> tuple[T, list[Finding]]:
    """A request with all its texts redacted, those in lists and in JSON too; the findings name the field."""
    findings: list[Finding] = []

    def change(text: str, field: str, *, prose: bool) -> str:
        # As it will be stored: what is cut out of it may have parted what now stands together.
        after, found = redact((prose and normalise(without_frames(text))) or text, policy)
        findings.extend(replace(each, field=field) for each in found)
        return after

    values: dict[str, Any] = {}
    for name, value, prose in _texts(request):
        after = _walked(value, partial(change, field=name, prose=prose))
        if after != value:
            values[name] = after
    changed: Any = replace(request, **values) if values else request  # type: ignore[type-var]  # each is a dataclass
    return changed, findings


def rewritten(value: Any, policy: Policy, findings: list[Finding]) -> Any:
    """A text, or all texts of a list or of JSON, redacted; what was found is added to ``findings``."""

    def change(text: str) -> str:
        after, found = redact(text, policy)
        findings.extend(found)
        return after

    return _walked(value, change)


def texts_of(request: Checked) -> Iterator[tuple[str, str]]:
    """Every text that a request holds, with the field it stands in."""
    for name, value, _ in _texts(request):
        yield from ((name, text) for text in _held(value) if text)


def _texts(request: Checked) -> Iterator[tuple[str, Any, bool]]:
    """The fields of a request that hold text, a list of texts or JSON, and whether they are prose."""
    for each in fields(request):  # type: ignore[arg-type]  # every Checked is a dataclass
        value = getattr(request, each.name)
        if isinstance(value, str | tuple | Mapping) and not isinstance(value, StrEnum) and value:
            yield each.name, value, bool(each.metadata.get("prose"))


def _held(value: Any) -> Iterator[str]:
    match value:
        case str() if not isinstance(value, StrEnum):
            yield value
        case Mapping():
            for key, part in value.items():
                yield key
                yield from _held(part)
        case list() | tuple():
            for part in value:
                yield from _held(part)


def _walked(value: Any, change: Callable[[str], str]) -> Any:
    """A value with every text in it changed; keys of objects are texts too."""
    match value:
        case StrEnum():
            return value
        case str():
            return change(value)
        case Mapping():
            return {change(key): _walked(part, change) for key, part in value.items()}
        case list() | tuple():
            return type(value)(_walked(part, change) for part in value)
    return value
