"""How far a memory is believed when it is written: by source, by its writer's record, by screening, by other voices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod
from typing import Final

from hindsight_memory.domain import Memory, Source
from hindsight_memory.settings import TrustSettings, WriteSettings
from hindsight_memory.text.authority import claims_authority

VOICES: Final = "voices"
"""In the metadata of a memory that others have said too: whose voices those were."""
_MOST_VOICES: Final = 20
_LONGEST_VOICE: Final = 200
_PLACE: Final = re.compile(
    r"(?:[#?&].*|[:@,;]\s*(?:p\.?|page|line|lines|chunk|part|section|sheet|row|L)?\s*\d[\d\s:,.-]*"
    r"|[\s_/(\[-]+(?:p\.?|pp\.?|page|line|chunk|part|section|sheet|row|第)[\s._-]*\d[^/]*|第\d+[页章节行段].*)$",
    re.IGNORECASE,
)
"""What names a place inside of a document: «plan.pdf#page=3», «plan.pdf:12», «plan.pdf, p. 4», «plan.pdf/chunk-7»."""


def taken_for(source: Source, most: float) -> Source:
    """Who is taken to speak where somebody names this source who is believed so far: not the user, unless fully."""
    return Source.AGENT if source is Source.USER and most < 1.0 else source


def voice_of(memory: Memory) -> str:
    """Whose voice a memory is: what one voice says twice counts once.

    The user is one voice, an agent one, a tool one, and all passages of a document. What does not say where it comes
    from is one voice with all else of its source that does not.
    """
    match memory.source:
        case Source.USER | Source.SYSTEM:
            return memory.source.value
        case Source.AGENT:
            return f"agent:{memory.agent_id or ''}"[:_LONGEST_VOICE]
        case Source.TOOL:
            named = memory.source_ref or ",".join(memory.tools)
            return f"tool:{root_of(named)}"[:_LONGEST_VOICE]
    return f"{memory.source.value}:{root_of(memory.source_ref or '')}"[:_LONGEST_VOICE]


def root_of(ref: str) -> str:
    """The document, or the tool, of a place in it: without page, line or part."""
    name = ref.strip().casefold()
    while (shorter := _PLACE.sub("", name).strip()) and shorter != name:
        name = shorter
    return name


def believed(
    memory: Memory, write: WriteSettings, settings: TrustSettings, *, most: float = 1.0, suspicion: float = 0.0
) -> float:
    """The trust a new memory starts with, before its writer's record counts.

    Args:
        memory: What is to be stored; its source is what its writer says.
        write: Holds the trust of each source.
        settings: How far the rest moves it.
        most: How far whoever writes is believed at all, whatever source they name.
        suspicion: What the screen thought of the text, from 0 to 1.
    """
    trust = min(write.trust[memory.source], most)
    if is_own_word(trust, write):
        return trust
    if suspicion >= settings.suspicious_from:
        trust *= 1 - suspicion
    if is_claim(memory) and not speaks_with_authority(memory, settings):
        trust = min(trust, settings.claim_most)
    return round(trust, 4)


def is_own_word(trust: float, write: WriteSettings) -> bool:
    """Whether somebody is believed as the user is: no rule doubts what they say of their own affairs."""
    return trust >= write.trust[Source.USER]


def is_claim(memory: Memory) -> bool:
    """Whether a memory claims permissions, credentials or policy; a turn of a talk only shows that it was said."""
    return memory.turn is None and claims_authority(memory.content) is not None


def is_bare_claim(memory: Memory, settings: TrustSettings) -> bool:
    """Whether a stored memory claims so, and comes from nobody who is believed in that."""
    return memory.trust <= settings.claim_most and is_claim(memory)


def speaks_with_authority(memory: Memory, settings: TrustSettings) -> bool:
    """Whether the settings name the memory's source, or one document or tool of it, as one to be believed in that."""
    return not settings.authorities.isdisjoint({memory.source.value, voice_of(memory)})


def with_record(trust: float, written: int, bad: int, settings: TrustSettings) -> float:
    """A trust after the record of who writes: what part of its latest memories held, ``record_least`` at the worst.

    A few that held are taken for granted, so that one mistake of a new writer does not condemn it.

    Args:
        trust: What it would be without a record.
        written: How many memories the record is of.
        bad: How many of them are in quarantine: called wrong by the user, or held back by the screen.
        settings: The bounds.
    """
    if not bad:
        return trust
    held = (written - bad + settings.record_given) / (written + settings.record_given)
    return round(trust * max(held, settings.record_least), 4)


def together(trusts: Iterable[float]) -> float:
    """How far independent voices are believed that say the same: no number of doubtful ones makes a sure one."""
    return 1 - prod(1 - trust for trust in trusts)


def corroborated(kept: Memory, others: Sequence[Memory], settings: TrustSettings) -> tuple[float, list[str]]:
    """The trust of a memory that others say too, and the voices that have said it, each once.

    Nobody gains by repeating oneself, and outsiders together never reach what an agent is believed: see
    ``TrustSettings.corroborated_most``.
    """
    voices, trust = voices_of(kept), kept.trust
    for other in others:
        fresh = [each for each in voices_of(other) if each not in voices]
        more = together((trust, other.trust)) if fresh else trust
        trust = max(trust, other.trust, min(more, settings.corroborated_most))
        voices += fresh
    return round(trust, 4), voices[:_MOST_VOICES]


def voices_of(memory: Memory) -> list[str]:
    """A memory's own voice, and those that were found to say the same."""
    held = memory.metadata.get(VOICES)
    others = [each for each in held if isinstance(each, str)] if isinstance(held, list) else []
    return list(dict.fromkeys([voice_of(memory), *others[:_MOST_VOICES]]))


def may_become_knowledge(evidence: Sequence[Memory], settings: TrustSettings) -> bool:
    """Whether something may be concluded from memories: one is trusted enough, or independent voices say so."""
    if any(each.trust >= settings.knowledge_least for each in evidence):
        return True
    loudest: dict[str, float] = {}
    for each in evidence:
        voice = voice_of(each)
        loudest[voice] = max(each.trust, loudest.get(voice, 0.0))
    return len(loudest) > 1 and together(loudest.values()) >= settings.knowledge_least
