"""``eval poison --data``: false answers beside real conversations; what of them reaches a prompt, at what price."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Final

from hindsight_memory.build import build
from hindsight_memory.domain import Action, Context, Draft, Listing, Query, Scope, Source, Status, Wait
from hindsight_memory.errors import InvalidInput
from hindsight_memory.evals import poison_items
from hindsight_memory.evals.asking import Progress, SetResult
from hindsight_memory.evals.banks import Clock, fill, query_of, scope_of, stored_ids, unworn
from hindsight_memory.evals.datasets import DataSet, Group
from hindsight_memory.evals.poison import PASSAGES, is_marked, is_replaced, line_of
from hindsight_memory.evals.poison_words import (
    Target,
    language_of,
    passages,
    plain_answer,
    quoted,
    targets,
    wordings_of,
)
from hindsight_memory.models.base import Embedder
from hindsight_memory.service import Service
from hindsight_memory.settings import Settings

_SOURCES: Final = (Source.DOCUMENT, Source.TOOL)
_PAGE: Final = 500
_ALONE: Final = "(unconfirmed)"
_PROBED: Final = 15
"""Honest documents of each kind, about something else, that a conversation gets."""


@dataclass(frozen=True, slots=True)
class Honest:
    """An honest document: whether it was in the block of the question it answers, and whether it was marked there."""

    kind: str
    found: bool
    marked: bool


@dataclass(frozen=True, slots=True)
class Attacked:
    """What became of one question: of the false passages, of the evidence, and of what honest documents say to it.

    ``bare`` are the styles of its own false passages that stood unmarked, ``others`` counts those of other questions.
    """

    target: Target
    stored: int
    bare: tuple[str, ...]
    others: int
    others_bare: int
    shown: int
    unconfirmed: int
    withheld: int
    superseded: bool
    before: bool
    after: bool
    honest: tuple[Honest, ...] = field(default=())


async def poison_data(
    sets: Sequence[DataSet],
    settings: Settings,
    embedders: Sequence[Embedder],
    progress: Progress,
    *,
    seed: int = 0,
    most: int | None = None,
) -> list[SetResult]:
    """Write the conversations, what honest documents say, and then the attack; figures of each set.

    Args:
        sets: With questions that have a short answer, and whose evidence a person said.
        settings: Of the service.
        embedders: The caller's to close.
        progress: Is told what is being done.
        seed: Says which questions are attacked, and with which answers.
        most: Only so many questions of each set.
    """
    clock = Clock()
    service = await build(unworn(settings), clock, embedders)
    try:
        await service.start()
        run = _Attacks(service, clock, progress, indexed=bool(embedders))
        return [await run(data, targets(data, seed, most)) for data in sets]
    finally:
        await service.close()


@dataclass(frozen=True, slots=True)
class _Attacks:
    """What is attacked: a service at the data's time."""

    service: Service
    clock: Clock
    progress: Progress
    indexed: bool

    async def __call__(self, data: DataSet, asked: Sequence[Target]) -> SetResult:
        """Attack a set, one conversation after the other."""
        if not asked:
            hint = "It needs short answers, two of a type, and evidence that a person said."
            raise InvalidInput(f"{data.name} has no question to attack.", hint=hint, field="data")
        ids = {target.group.id for target in asked}
        held = replace(data, groups=tuple(group for group in data.groups if group.id in ids))
        same = await fill(self.service, [held], self.progress, indexed=self.indexed)
        found: list[Attacked] = []
        beside: list[Honest] = []
        for group in held.groups:
            scope = scope_of(held.name, group.id)
            run = _Run(self.service, self.clock, group, scope, same.get(scope.bank, {}))
            try:
                beside += await run.beside()
                async for one in run.attack([target for target in asked if target.group is group]):
                    found.append(one)
                    self.progress(f"{held.name}: attacked", len(found), len(asked))
            finally:
                await run.clear()
        return _result(held, found, beside)


@dataclass(slots=True)
class _Run:
    """One conversation under attack."""

    service: Service
    clock: Clock
    group: Group
    scope: Scope
    same: Mapping[str, tuple[str, ...]]
    written: list[str] = field(default_factory=list)

    async def clear(self) -> None:
        """Forget all that was written beside the conversation: another evaluation may use its bank."""
        for each in self.written:
            await self.service.forget(each, self.scope)

    async def beside(self) -> list[Honest]:
        """What honest documents say of something else: of the world, and of the person that the talk is with."""
        language = language_of(self.group.questions[0].text)
        name = _person(self.group) or {"en": "the user", "zh": "用户"}[language]
        facts = [("world", each["fact"], each["asks"]) for each in poison_items.facts(language)[:_PROBED]]
        facts += [
            ("person", each["fact"].format(name=name), each["asks"].format(name=name))
            for each in wordings_of(language)["person"][:_PROBED]
        ]
        drafts = [self.draft(text, number, kind) for number, (kind, text, _) in enumerate(facts)]
        ids = await self.write(drafts)
        self.clock.set_to(self.group, self.group.questions[0], foreign=True)
        found = []
        for (kind, _, asks), each in zip(facts, ids, strict=True):
            block = await self.service.context(Query(text=asks), self.scope)
            found.append(_honest(kind, each, block))
        return found

    async def attack(self, asked: Sequence[Target]) -> AsyncIterator[Attacked]:
        """Ask, with honest documents beside the conversation; attack all of it, and ask again."""
        agreeing = []
        for number, target in enumerate(asked):
            true = list(passages(target, plain_answer(target.question), number + 1))[number % 5][1]
            agreeing += [self.draft(true, number, "agreeing"), self.draft(quoted(target), number + 1, "quoted")]
        honest = list(zip(*[iter(await self.write(agreeing))] * 2, strict=True))
        before = [await self.ask(target) for target in asked]
        gone, false = await self.replaced(), list[dict[str, str]]()
        for number, target in enumerate(asked):
            texts = list(passages(target, target.false, number))
            drafts = [self.draft(text, number + at, f"{number}-{at}") for at, (_, text) in enumerate(texts)]
            ids = await self.write(drafts)
            false.append({each: style for each, (style, _) in zip(ids, texts, strict=True) if each})
        every = {each for some in false for each in some}
        new = await self.replaced() - gone
        for target, first, own, (agrees, quotes) in zip(asked, before, false, honest, strict=True):
            block = await self.ask(target)
            others = [each for each in block.memory_ids if each in every and each not in own]
            shown = [each for each in block.memory_ids if each in own]
            bare = [each for each in shown if not is_marked(block, each)]
            yield Attacked(
                target=target,
                stored=len(own),
                bare=tuple(own[each] for each in bare),
                others=len(others),
                others_bare=sum(not is_marked(block, each) for each in others),
                shown=len(shown),
                unconfirmed=sum(_ALONE in line_of(block, each) for each in shown),
                withheld=await self.withheld(target, own),
                superseded=bool(new),
                before=self.holds(first, target),
                after=self.holds(block, target),
                honest=(_honest("agreeing", agrees, first), _honest("quoted", quotes, first)),
            )

    def draft(self, text: str, number: int, ref: str) -> Draft:
        """What a document or a tool says, by turns."""
        source = _SOURCES[number % len(_SOURCES)]
        return Draft(content=text, source=source, source_ref=f"{source}-{ref}-{number}")

    async def write(self, drafts: Sequence[Draft]) -> list[str]:
        """The ids that the texts are stored under; an empty one for what is refused, held back, or known already."""
        self.clock.now = max((item.at for item in self.group.items if item.at is not None), default=self.clock.now)
        found = []
        for draft in drafts:
            wait = Wait.INDEXED if draft is drafts[-1] else Wait.STORED  # what was written before comes with it
            try:
                receipt = await self.service.write(draft, self.scope, wait)
            except InvalidInput:
                found.append("")
                continue
            self.written += [receipt.id] if receipt.created else []
            found.append(receipt.id if receipt.created and receipt.action is not Action.QUARANTINED else "")
        return found

    async def ask(self, target: Target) -> Context:
        """The block for a question, at the time it is asked."""
        self.clock.set_to(self.group, target.question)
        return await self.service.context(self.query(target), self.scope)

    def query(self, target: Target) -> Query:
        """The question as a caller asks it."""
        return replace(query_of(target.question, foreign=False), limit=self.service.settings.pack.candidates)

    async def withheld(self, target: Target, false: Collection[str]) -> int:
        """How many false passages the search finds and keeps out of a block."""
        hits = await self.service.search(self.query(target), self.scope)
        return sum(hit.memory.id in false and any(doubt.withheld for doubt in hit.why.doubts) for hit in hits)

    def holds(self, block: Context, target: Target) -> bool:
        """Whether any of the evidence is in a block."""
        found = {each for cited in block.citations for each in stored_ids(cited.source_ref, self.same)}
        return not found.isdisjoint(target.question.evidence)

    async def replaced(self) -> set[str]:
        """The user's memories that something has replaced, or a part of which."""
        found: set[str] = set()
        for status in (Status.ACTIVE, Status.SUPERSEDED):
            after: str | None = None
            while True:
                page = await self.service.list(Listing(status=status, limit=_PAGE, after=after), self.scope)
                found |= {each.id for each in page.memories if each.source is Source.USER and is_replaced(each)}
                if (after := page.next) is None:
                    break
        return found


def _person(group: Group) -> str | None:
    """Whom a conversation is with: who speaks most, where that is a name."""
    said = Counter(item.speaker for item in group.items if item.speaker and item.speaker.lower() not in _NAMELESS)
    return said.most_common(1)[0][0] if said else None


_NAMELESS: Final = frozenset({"user", "assistant", "用户", "助手"})


def _honest(kind: str, memory_id: str, block: Context) -> Honest:
    found = bool(memory_id) and memory_id in block.memory_ids
    return Honest(kind, found, found and is_marked(block, memory_id))


_MEASURES: Final[Mapping[str, Callable[[Attacked], float]]] = {
    "false_in_context_unmarked": lambda each: bool(each.bare),
    "passages_unmarked": lambda each: len(each.bare) / PASSAGES,
    "false_in_context": lambda each: each.shown > 0,
    "passages_in_context": lambda each: each.shown / PASSAGES,
    "passages_disputed": lambda each: (each.shown - len(each.bare) - each.unconfirmed) / PASSAGES,
    "passages_unconfirmed": lambda each: each.unconfirmed / PASSAGES,
    "passages_withheld": lambda each: each.withheld / PASSAGES,
    "others_in_context": lambda each: each.others > 0,
    "others_unmarked": lambda each: each.others_bare > 0,
    "false_supersedes": lambda each: each.superseded,
    "true_in_context_before": lambda each: each.before,
    "true_in_context": lambda each: each.after,
    "truths_lost": lambda each: each.before and not each.after,
}


def _figures(found: Sequence[Attacked], beside: Sequence[Honest] = ()) -> dict[str, float]:
    shares = {name: round(fmean(map(measure, found)), 4) for name, measure in _MEASURES.items()}
    shares["passages_stored"] = round(fmean(each.stored for each in found), 4)
    honest = [*beside, *(each for one in found for each in one.honest)]
    for kind in dict.fromkeys(each.kind for each in honest):
        of_kind = [each for each in honest if each.kind == kind]
        shares[f"{kind}_found"] = round(fmean(each.found for each in of_kind), 4)
        shares[f"{kind}_marked"] = round(fmean(each.marked for each in of_kind), 4)
    shown = [each for each in honest if each.found]
    shares["false_marks"] = round(fmean(each.marked for each in shown), 4) if shown else 0.0
    return {"n": len(found), **shares}


def _result(data: DataSet, found: Sequence[Attacked], beside: Sequence[Honest]) -> SetResult:
    by: dict[str, dict[str, list[Attacked]]] = {"category": defaultdict(list), "group": defaultdict(list)}
    for each in found:
        by["category"][each.target.kind].append(each)
        by["group"][each.target.group.id].append(each)
    through = Counter(style for each in found for style in each.bare)
    metrics = _figures(found, beside)
    return SetResult(
        name=data.name,
        n=int(metrics.pop("n")),
        metrics=metrics,
        by={
            **{kind: {name: _figures(some) for name, some in sorted(groups.items())} for kind, groups in by.items()},
            "style that got through": {style: {"n": count} for style, count in sorted(through.items())},
        },
        latency_ms={},
        groups=len(data.groups),
        memories=sum(len(group.items) for group in data.groups) + len(found) * (PASSAGES + 2) + len(beside),
    )
