"""The screen every text passes on its way in: secrets and personal data by policy, then how suspicious the rest is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, TypeVar

from hindsight_memory.check import Checked
from hindsight_memory.domain import Finding, Handling, Source
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.injection import weigh
from hindsight_memory.guard.policy import Policy
from hindsight_memory.guard.redact import redacted, texts_of

T = TypeVar("T", bound=Checked)
M = TypeVar("M", bound=Checked)


class Admission(StrEnum):
    """Whether a text comes in."""

    PASSED = "passed"
    QUARANTINED = "quarantined"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Screened(Generic[T]):
    """A request with what the policy leaves of its texts, what was seen in them, and whether it comes in.

    Only this becomes a memory (``ingest.enrich.remember``), so that nothing gets in unseen.
    """

    draft: T
    findings: tuple[Finding, ...] = ()
    verdict: Admission = Admission.PASSED
    suspicion: float = 0.0

    def made(self, draft: M) -> Screened[M]:
        """What was made of the request, let in as that was."""
        return Screened(draft, self.findings, self.verdict, self.suspicion)


def screen(request: T, policy: Policy, source: Source) -> Screened[T]:
    """Screen all that a request says, in every field that holds text; ``source`` is who says it.

    What is suspicious, or holds a type that the policy rejects, is marked so: ``admitted`` refuses it.
    """
    policy = policy.towards(source)
    draft, findings = redacted(request, policy)
    if any(each.note == Handling.REJECT for each in findings):
        return Screened(draft, tuple(findings), Admission.REJECTED)
    worst = 0.0
    for field, text in () if policy.lenient else texts_of(draft):
        suspicion = weigh(text, source)
        worst = max(worst, suspicion.score)
        if suspicion.score >= policy.quarantine_at:
            findings += [replace(signal, field=field) for signal in suspicion.signals]
    return Screened(draft, tuple(findings), _verdict(worst, policy), worst)


def _verdict(suspicion: float, policy: Policy) -> Admission:
    if suspicion >= policy.reject_at:
        return Admission.REJECTED
    return Admission.QUARANTINED if suspicion >= policy.quarantine_at else Admission.PASSED


def admitted(screened: Screened[T]) -> T:
    """The request, where it comes in. Raises ``InvalidInput`` where it does not; the error holds none of its text."""
    if screened.verdict is not Admission.REJECTED:
        return screened.draft
    held = next((each for each in screened.findings if each.note == Handling.REJECT), None)
    if held is not None:
        hint = "Take it out and write again; the bank's policy says what is refused."
        raise InvalidInput(f"{held.field} holds what this bank refuses: {held.rule}.", hint=hint, field=held.field)
    signals = [each for each in screened.findings if each.note not in tuple(Handling)]
    field = signals[0].field if signals else "content"
    seen = ", ".join(sorted({each.rule for each in signals})) or "its words together"
    hint = "Say it in plain words, without instructions to the assistant, or have a person write it."
    raise InvalidInput(f"{field} looks like an attack on memory: {seen}.", hint=hint, field=field)
