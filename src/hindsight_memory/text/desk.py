"""What a session's state becomes: a patch laid on it, and what messages answer or take back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from hindsight_memory.domain import Role, SessionState, StatePatch
from hindsight_memory.text.desk_rules import is_taken_back, read_off, thing_decided, thing_discarded
from hindsight_memory.text.frame import without_frames
from hindsight_memory.text.patterns import Lazy
from hindsight_memory.text.signals import is_small_talk
from hindsight_memory.text.tokens import index_words, normalise

LINES: Final = ("task_goal", "current_step")
"""The texts of a state; its other fields are lists."""
_STANDING: Final = ("confirmed_facts", "open_questions", "decisions")
_LISTS: Final = (*_STANDING, "discarded")
_ANSWER_CHARS: Final = 2_000

_UNDERSTOOD: Final = Lazy(
    r"(?i)(?<![a-z])(?:got it|gotcha|i see|understood|makes sense|thanks?|thank you|thx|ty)(?![a-z])|明白|懂了|知道了"
    "|知道啦|了解|谢谢|多谢|感谢|原来如此|原来是这样"
)
_UNKNOWN: Final = Lazy(
    r"(?i)(?<![a-z])(?:(?:don['’]?t|do not|cannot|can['’]?t) (?:know|say|tell|answer|find)|not sure|unsure|unclear"
    r"|unknown"
    r"|no idea|let me (?:check|look|see|find)|(?:i['’]ll|i will) (?:check|look|find)|could you (?:clarify|tell)"
    r"|can you (?:clarify|tell)|more (?:information|details|context)|depends)(?![a-z])"
    "|不知道|不清楚|不确定|不太清楚|说不准|无法确定|查一下|看一下|稍等|稍后|更多信息|更多细节|取决于|请问|你能告诉"
)
_YES_NO: Final = Lazy(
    r"(?i)(?:yes|no|yep|yeah|nope)(?![a-z])|(?:是的?|不是|对|不对|有|没有|会|不会|可以|不可以|能|不能)[，,。！!]"
)
_POLAR: Final = Lazy(
    r"(?i)(?:is|are|was|were|do|does|did|has|have|can|could|will|would|should|may|must)(?:n['’]t)?(?![a-z])"
    "|.*(?:吗|是不是|有没有|能不能|会不会|是否)"
)
_ENDS: Final = " \t\n.,;:!?。，；：！？、"


@dataclass(frozen=True, slots=True)
class Said:
    """A message as the rules see it."""

    role: Role
    text: str


def laid_out(state: SessionState) -> SessionState:
    """A state as it is kept: its texts cleaned, each on one line, none twice."""
    return patched(SessionState(), StatePatch(**{name: getattr(state, name) for name in (*LINES, *_LISTS)}))


def patched(state: SessionState, patch: StatePatch) -> SessionState:
    """The state after a patch. Raises ``InvalidInput`` when a list would grow too long."""
    removed = _folds(patch.remove)
    lists = {name: _appended(getattr(state, name), getattr(patch, name), removed) for name in _LISTS}
    dropped = _folds(patch.discarded)
    for name in _STANDING:
        lists[name] = [entry for entry in lists[name] if _fold(entry) not in dropped]
    taken_up = {fold for name in _STANDING for fold in _folds(getattr(patch, name))} - dropped
    lists["discarded"] = [entry for entry in lists["discarded"] if _fold(entry) not in taken_up]
    values: dict[str, Any] = {name: tuple(entries) for name, entries in lists.items()}
    values |= {name: _line(text) for name in LINES if (text := getattr(patch, name)) is not None}
    return replace(state, **values)


def observed(state: SessionState, said: Said, before: Sequence[Said]) -> StatePatch:
    """What rules would change after a message, of which ``before`` are the latest ones of its session, oldest first.

    Every entry stands in the message as it is written. What a caller has set is left alone: a goal is only filled in
    where there is none, and only questions and decisions that were said in so many words are taken away.
    """
    patch = read_off(said.text, said.role)
    if patch.task_goal and state.task_goal:
        patch = replace(patch, task_goal=None)
    taken_back = _taken_back(state, said, before)
    answered = _answered(state, said, before)
    patch = replace(patch, discarded=(*patch.discarded, *taken_back), remove=(*answered, *_overruled(state, patch)))
    return patch if _changes(state, patch) else StatePatch()


def _changes(state: SessionState, patch: StatePatch) -> bool:
    """Whether anything in the patch is new."""
    known = {name: _folds(getattr(state, name)) for name in _LISTS}
    new = any(_folds(getattr(patch, name)) - known[name] for name in _LISTS)
    return new or bool(patch.task_goal or patch.remove)


def _overruled(state: SessionState, patch: StatePatch) -> list[str]:
    """Decisions for what is discarded now, and what was discarded and is decided for now."""
    off, on = set(map(thing_discarded, patch.discarded)), set(map(thing_decided, patch.decisions))
    decided = [entry for entry in state.decisions if (thing := thing_decided(entry)) and thing in off]
    discarded = [entry for entry in state.discarded if (thing := thing_discarded(entry)) and thing in on]
    return [*decided, *discarded]


def _taken_back(state: SessionState, said: Said, before: Sequence[Said]) -> list[str]:
    """The user's own last questions, after no more than «never mind»."""
    if said.role is not Role.USER or not is_taken_back(said.text):
        return []
    last = next((each for each in reversed(before) if each.role is Role.USER), None)
    return _asked_in(state, last)


def _answered(state: SessionState, said: Said, before: Sequence[Said]) -> list[str]:
    """Questions of the turn before that an assistant's reply answers, or that a thankful user had answered."""
    if not before:
        return []
    if said.role is Role.ASSISTANT and before[-1].role is Role.USER:
        return [question for question in _asked_in(state, before[-1]) if _answers(said.text, question)]
    if said.role is Role.USER and len(before) > 1 and before[-1].role is Role.ASSISTANT:
        content = is_small_talk(said.text) and _UNDERSTOOD.pattern.search(said.text)
        unknown = _UNKNOWN.pattern.search(before[-1].text[:_ANSWER_CHARS])
        return _asked_in(state, before[-2]) if content and not unknown else []
    return []


def _asked_in(state: SessionState, said: Said | None) -> list[str]:
    if said is None or said.role is not Role.USER:
        return []
    asked = _folds(read_off(said.text, said.role).open_questions)
    return [question for question in state.open_questions if _fold(question) in asked]


def _answers(reply: str, question: str) -> bool:
    """Whether a reply speaks of what was asked, says more than was asked, and does not put it off."""
    reply = reply[:_ANSWER_CHARS]
    if _UNKNOWN.pattern.search(reply) or reply.rstrip().endswith(("?", "？")):
        return False
    asked, told = set(index_words(question)), set(index_words(reply))
    if _POLAR.pattern.match(question) and _YES_NO.pattern.match(reply.strip()):
        return True
    return 3 * len(asked & told) >= len(asked) and bool(asked & told) and bool(told - asked)


def _appended(held: Sequence[str], new: Sequence[str], removed: set[str]) -> list[str]:
    entries = {_fold(entry): entry for entry in held if _fold(entry) not in removed}
    for entry in map(_line, new):
        if entry:
            entries.setdefault(_fold(entry), entry)
    return list(entries.values())


def _folds(entries: Sequence[str]) -> set[str]:
    return {_fold(entry) for entry in entries}


def _fold(entry: str) -> str:
    return _line(entry).casefold().strip(_ENDS)


def _line(text: str) -> str:
    return " ".join(normalise(without_frames(text)).split())
