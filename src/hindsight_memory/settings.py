"""Every number the system runs by, with its default, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from hindsight_memory.domain import Kind, Source


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How the store is opened. Times in milliseconds."""

    busy_timeout_ms: int = 30_000
    """How long a write waits for another process before it gives up."""
    readers: int = 4
    """Searches one process runs at the same time."""


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """The write path and the worker behind it."""

    index_batch: int = 16
    """Texts handed to the embedder at once: small enough that a search never waits long behind it."""
    index_lease_s: float = 120.0
    """How long a worker owns the rows it took; after that another may take them."""
    index_attempts: int = 5
    """Tries at one memory's vector before it is left to words alone, with the reason kept."""
    poll_s: float = 5.0
    """How often the worker looks for what other processes wrote."""
    drain_s: float = 10.0
    """How long closing waits for vectors of what this process wrote."""
    finish_s: float = 60.0
    """How long a write that waits for its vector waits."""
    window_chars: int = 800
    """Longest text embedded in one piece; longer ones get a vector for each window.

    Some 200 tokens of English, 560 of Chinese: models of this size read 512, and their cost grows with the square.
    """
    windows: int = 16
    """Most windows of one memory; words beyond them are still found by words."""
    trust: Mapping[Source, float] = field(
        default_factory=lambda: MappingProxyType(
            {Source.USER: 1.0, Source.SYSTEM: 0.9, Source.AGENT: 0.8, Source.TOOL: 0.7, Source.DOCUMENT: 0.5}
        )
    )
    working_ttl_s: float = 3_600.0
    """How long working memory lives when its writer names no end."""


@dataclass(frozen=True, slots=True)
class WordSettings:
    """BM25 over a memory's words and those of its neighbouring turns.

    Formula: Robertson and Zaragoza, «The Probabilistic Relevance Framework: BM25 and Beyond» (2009), with the
    two fields weighted before saturation (its BM25F).
    """

    k1: float = 1.2
    b: float = 0.75
    near: float = 0.6
    """Weight of a word said one turn before or after, against 1 for the memory's own."""
    postings: int = 10_000
    """Most entries read for one query; the commonest words are left out beyond it."""


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """Spreading activation over what memories mention, the turns beside them and their relations.

    Every number bounds the work of one search: it stays the same however large the bank grows.
    """

    damping: float = 0.5
    """What an activated memory passes on; the rest of the activation starts anew from where the query began."""
    rounds: int = 5
    """Steps of the iteration; a memory two hops away is four edges away."""
    hops: int = 2
    """How often the graph is widened by what its most activated memories touch."""
    seeds: int = 32
    """Memories and names a search starts from, the heaviest first."""
    frontier: int = 8
    """Memories that are widened from in one hop, the most activated first."""
    hub: int = 100
    """Mentions from which a name is left out: one that so many memories share tells none of them from another, and
    following it would read them all."""
    edges: int = 300
    """Most mentions, and most relations, read in one hop; those of the rarest names first."""
    beside: float = 0.5
    """Weight of the turn right before or after, against 1 for a name that two memories share and for a relation."""


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """The read path."""

    candidates: int = 100
    """What each retriever brings, at least the number of results asked for."""
    looked_at: int = 100
    """How many of the candidates are read and measured, at least twice the number of results asked for."""
    floor: float = 0.1
    """The gate: where the best confidence is below it, a search says that it is not sure and a context is empty.

    At 0.1, 93 % of LoCoMo's own questions pass and 4 % of those put to a conversation that cannot answer them; RealMem,
    whose people plan alike, 82 against 47.
    """
    off: frozenset[str] = frozenset()
    """Signals that take no part: what an ablation switches off."""
    zone: str = "UTC"
    """The time zone of those who ask, where a query does not say: what «yesterday» means to them."""
    model_wait_s: float = 10.0
    """How long a search waits for a query's vector before it does without; a first one loads the model."""
    query_cache: int = 2_048
    """Query vectors kept in memory, least recently used first out."""
    words: WordSettings = field(default_factory=WordSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How fast each kind fades, and how much that, importance and trust may move a score."""

    decay_per_day: Mapping[Kind, float] = field(
        default_factory=lambda: MappingProxyType(
            {Kind.WORKING: 1.0, Kind.EPISODIC: 0.01, Kind.SEMANTIC: 0.002, Kind.PROCEDURAL: 0.002}
        )
    )
    recency_span: float = 0.1
    importance_span: float = 0.2
    trust_span: float = 0.15
    use_span: float = 0.05


@dataclass(frozen=True, slots=True)
class PackSettings:
    """What ``context`` puts into a prompt."""

    budget_tokens: int = 800
    candidates: int = 20
    lines: int = 12
    line_tokens: int = 160
    """Longest line; a longer memory is shown by its summary or cut."""


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    """Which embedders to use. ``names`` is a comma-separated list; the first answers queries by default."""

    names: str = "auto"
    base_url: str = "https://api.openai.com/v1"
    api_key: str = ""
    timeout_s: float = 30.0


@dataclass(frozen=True, slots=True)
class LLMSettings:
    """The language model, if there is one: ``openai:MODEL`` or ``anthropic:MODEL``; without an address its maker's."""

    name: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    timeout_s: float = 30.0
    """How long one answer may take, repeats included."""
    rewrite_wait_s: float = 3.0
    """How long a search waits for further wordings of its question."""


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """What reads the best candidates once more, if anything does.

    ``fastembed:MODEL``, ``flashrank:MODEL``, ``endpoint:MODEL`` at ``base_url``, or ``llm``.
    """

    name: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    wait_s: float = 3.0
    """How long a search waits for it; after that the order stays as it was."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the server listens and how much it takes at once."""

    host: str = "127.0.0.1"
    port: int = 8765
    api_key: str = ""
    body_bytes: int = 8_000_000
    heartbeat_s: float = 15.0


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it."""

    database: str
    store: StoreSettings = field(default_factory=StoreSettings)
    write: WriteSettings = field(default_factory=WriteSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    pack: PackSettings = field(default_factory=PackSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    llm: LLMSettings = field(default_factory=LLMSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
