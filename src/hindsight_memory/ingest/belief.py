"""How far what is about to be stored is believed, as a bank's own experience with its writer and its words has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hindsight_memory.domain import Finding, Memory, Status
from hindsight_memory.guard.trust import (
    VOICES,
    believed,
    corroborated,
    is_bare_claim,
    is_own_word,
    with_record,
)
from hindsight_memory.ingest.enrich import owner_of
from hindsight_memory.settings import TrustSettings, WriteSettings
from hindsight_memory.store.base import Tx
from hindsight_memory.text.authority import claims_authority
from hindsight_memory.text.rivals import tells_again


@dataclass(frozen=True, slots=True)
class Believed:
    """A memory with the trust it starts with, what was seen in it, and what false thing it says again."""

    memory: Memory
    findings: tuple[Finding, ...] = ()
    lesson: str | None = None


@dataclass(frozen=True, slots=True)
class Belief:
    """Gives new memories their trust, and holds those back that say again what the user has called wrong."""

    write: WriteSettings
    settings: TrustSettings = field(default_factory=TrustSettings)

    async def __call__(self, memories: Sequence[tuple[Memory, float]], most: float, tx: Tx) -> list[Believed]:
        """The memories as they are believed, each given with the screen's suspicion of it; in their order.

        Args:
            memories: What is to be stored.
            most: How far whoever writes is believed, whatever source they name.
            tx: The bank, in the transaction that stores them.
        """
        found: list[Believed] = []
        lessons: Sequence[Memory] | None = None
        for memory, suspicion in memories:
            trust = believed(memory, self.write, self.settings, most=most, suspicion=suspicion)
            if is_own_word(trust, self.write):
                found.append(Believed(replace(memory, trust=trust)))
                continue
            if lessons is None:
                lessons = await tx.lessons(self.settings.lessons)
            trust = with_record(trust, *await tx.record_of(memory, self.settings.record_of), self.settings)
            found.append(_held(replace(memory, trust=trust), lessons, self.settings))
        return found

    async def borne_out(self, known: Memory, memory: Memory, tx: Tx) -> Memory:
        """What is known already, said again by another voice: trusted as the better of the two, or a little more.

        Where the new voice is the better witness, the memory is its from then on.
        """
        trust, voices = corroborated(known, [memory], self.settings)
        if known.status is not Status.ACTIVE or trust <= known.trust:
            return known
        fields: dict[str, Any] = {"trust": trust}
        if memory.trust > known.trust:
            fields |= {"source": memory.source, "source_ref": memory.source_ref}
        if len(voices) > 1:
            fields["metadata"] = {**known.metadata, VOICES: voices}
        return await tx.change(known, **fields)


def _held(memory: Memory, lessons: Sequence[Memory], settings: TrustSettings) -> Believed:
    findings: list[Finding] = []
    claim = claims_authority(memory.content) if is_bare_claim(memory, settings) else None
    if claim is not None:
        findings.append(Finding("authority", *claim, note="believed little"))
    lesson = next((each for each in lessons if _teaches(each, memory)), None)
    if lesson is None:
        return Believed(memory, tuple(findings))
    findings.append(Finding("deception", 0, len(memory.content), note=Status.QUARANTINED))
    return Believed(replace(memory, status=Status.QUARANTINED), tuple(findings), lesson.id)


def _teaches(lesson: Memory, memory: Memory) -> bool:
    """Whether a memory says again what was found to be false; what one agent keeps to itself teaches that one alone."""
    return owner_of(lesson) in (None, memory.agent_id) and tells_again(memory.content, lesson.content)
