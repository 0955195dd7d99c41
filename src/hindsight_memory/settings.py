"""Every number the system runs by, with its default, once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from hindsight_memory.domain import Kind, Source
from hindsight_memory.doors import ServerSettings as ServerSettings
from hindsight_memory.walls import GuardSettings as GuardSettings
from hindsight_memory.walls import TrustSettings as TrustSettings


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How the store is opened. Times in milliseconds."""

    busy_timeout_ms: int = 30_000
    """How long a write waits for another process before it gives up."""
    readers: int = 4
    """Searches one process runs at the same time."""
    key: str = field(default="", repr=False)
    """What the file is encrypted with: a passphrase, or 64 hexadecimal digits; a plain file has none."""
    key_command: str = ""
    """A command that prints the key, such as one that asks a keyring."""
    compact_at_once: int = 16 << 20
    """Bytes of a file that is compacted after each purge: the fifth of a second. A larger one is once a day, or when
    something of what was purged is found in it."""
    compact_most: int = 2 << 30
    """Bytes of a file that is compacted at all: writes wait half a minute."""
    connections: int = 10
    """Connections to a database server that one process holds at most; one is enough, and makes all wait in a row."""
    partitions: int = 16
    """Parts that a database server divides each table into, by bank; counts when the tables are made."""
    hnsw_from: int = 10_000
    """Memories of a bank from which nearest neighbours are found by an index; below, each vector is looked at."""
    hnsw_m: int = 16
    hnsw_ef_construction: int = 100
    hnsw_ef_search: int = 100
    """Neighbours that index keeps of each vector, candidates when it is made, and when it is searched."""
    hnsw_memory_mb: int = 256
    """Memory in which it is made; beyond that it takes many times as long."""

    @property
    def encrypted(self) -> bool:
        """Whether the file is encrypted."""
        return bool(self.key or self.key_command)


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
    work: bool = True
    """Whether a running service does the work behind the verbs itself, or leaves it to a worker elsewhere."""
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
            {
                Source.USER: 1.0,
                Source.SYSTEM: 0.9,
                Source.AGENT: 0.8,
                Source.TOOL: 0.7,
                Source.DOCUMENT: 0.5,
                Source.UNKNOWN: 0.3,
            }
        )
    )
    working_ttl_s: float = 3_600.0
    """How long working memory lives when its writer names no end."""
    summary_over: int = 500
    """Characters beyond which a memory is given a summary; its full text stays, and is what is searched."""
    summary_tokens: int = 120
    """Longest summary."""


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """What is shown of a session while it runs. How long it runs is ``working_ttl_s`` of the write path."""

    budget_tokens: int = 4_000
    """State and latest messages together."""
    messages: int = 500
    """The latest messages that are looked at."""
    half_life: int = 10
    """Messages after which one is worth half of what it was when it was said."""
    aside: float = 0.2
    """What a greeting or a tool's output is worth, against 1 for what is said."""
    batch: int = 200
    """Messages promoted in one transaction: others wait while it lasts."""


@dataclass(frozen=True, slots=True)
class ReflectSettings:
    """Steps of tasks, and what looking back over a task writes. The importance of a lesson is how sure it is."""

    looked_back: int = 40
    """Turns before a step that are read to tell whether its task is stuck."""
    step_importance: float = 0.3
    helped_by: int = 3
    """Most memories shown to who is stuck."""
    turns: int = 2_000
    """The latest turns of a task that are looked back on."""
    lesson_importance: float = 0.6
    outcome_importance: float = 0.5
    gain: float = 0.2
    """Part of the way to 1 that a lesson goes up each time it is borne out again."""
    loss: float = 0.6
    """What is left of it each time its advice was followed in vain."""
    least: float = 0.25
    """Below it a lesson is retired."""


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
    moment_span: float = 0.15
    """How much the moment of a task that a search is made at may raise a score; a lesson of its error, twice that."""
    key_span: float = 0.5
    """How much it raises a score that a memory stands under the key that a question asks for."""
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
    """How fast each kind fades, and how much that, importance, trust, use and feedback may move a score."""

    decay_per_day: Mapping[Kind, float] = field(
        default_factory=lambda: MappingProxyType(
            {Kind.WORKING: 1.0, Kind.EPISODIC: 0.01, Kind.SEMANTIC: 0.002, Kind.PROCEDURAL: 0.002}
        )
    )
    recency_span: float = 0.1
    importance_span: float = 0.2
    trust_span: float = 0.15
    use_span: float = 0.05
    feedback_span: float = 0.15


@dataclass(frozen=True, slots=True)
class FeedbackSettings:
    """What a verdict does to a memory, and what many of them do to a bank's ranking.

    A memory's numbers move once a day for each verdict and each who judges.
    """

    importance_step: float = 0.1
    """What a helpful memory gains of the importance it still lacks to ``importance_most``."""
    importance_most: float = 0.9
    trust_step: float = 0.25
    """What the user's «helpful» gives back of the trust that a memory of its source would have."""
    trust_left: float = 0.3
    """What the user's «wrong» leaves of a memory's trust."""
    agent_day: int = 20
    """Memories that one agent may call wrong or outdated in a day; a mistaken one must not empty a bank."""
    user_day: int = 200
    memory_day: int = 50
    """Verdicts on one memory in a day that are taken down."""
    least_pairs: int = 20
    """Comparisons before a bank's ranking is touched at all."""
    most_pairs: int = 400
    """The newest comparisons that count."""
    pairs_day: int = 20
    """Comparisons of one day that count for one who judges."""
    refit_every: int = 10
    """New comparisons after which the ranking is fitted anew."""
    against: int = 5
    """Memories above, and as many below, that a judged one is compared with."""
    ridge: float = 50.0
    """How strongly weights are held at 1: as much as that many comparisons of size 1 pull them away."""
    least_weight: float = 0.8
    most_weight: float = 1.25
    """Bounds of a weight. At the worst of 60 corners of them, recall at 5 lost 3.3 points; see docs/feedback.md."""


@dataclass(frozen=True, slots=True)
class LifecycleSettings:
    """How long what is kept, and how maintenance goes about it. See docs/forgetting.md."""

    schedule: bool = True
    """Whether a running service does maintenance by itself."""
    look_s: float = 300.0
    """How often it looks for what is due."""
    lease_s: float = 120.0
    """How long a process that does maintenance is believed to be at it without a sign."""
    hot_days: float = 7.0
    """Days without use after which a memory is warm."""
    cold_days: Mapping[Kind, float] = field(
        default_factory=lambda: MappingProxyType(
            {Kind.WORKING: 30.0, Kind.EPISODIC: 30.0, Kind.SEMANTIC: 90.0, Kind.PROCEDURAL: 90.0}
        )
    )
    """Days without use after which it is cold: archived, and found only by who asks for cold ones."""
    keep_deleted_days: float = 7.0
    """Days that a forgotten memory can be restored; after them it is purged."""
    most_memories: int = 100_000
    """Active memories of one bank; of more, those worth least are forgotten."""
    page: int = 500
    """Memories read at once."""
    batch: int = 100
    """Changes made in one transaction: other processes get their turn between two of them."""
    near: int = 8
    """Memories that one is compared with by meaning, and by words, when repeats are looked for."""
    at_most: float = 0.5
    """Share of a bank that one routine takes out of sight in one run, ends that were named apart, ..."""
    at_least: int = 10
    """... where that is more than so many memories."""


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """How turns become episodes, and what is learnt of what comes up again. See docs/consolidation.md."""

    rest_s: float = 3_600.0
    """How long a session has been silent when its turns are grouped; one that was ended is not waited for."""
    turns: int = 2_000
    """Turns grouped at once: a longer session is read in parts."""
    edges: int = 50
    """Most memories that one is said to be made of."""
    support: int = 3
    """Sessions, or days, in which something must have come up before it is taken for what is usually so."""
    looked_at: int = 20_000
    """Latest statements that are held against each other, and latest tasks."""
    least_importance: float = 0.6
    """What something is worth that has come up so often; each further time adds a tenth, ..."""
    most_importance: float = 0.9
    """... up to this."""


@dataclass(frozen=True, slots=True)
class HabitSettings:
    """What counts as usual when ``suggest`` looks for it. See docs/suggestions.md."""

    looked_at: int = 4_000
    """Latest memories of what happened that are read, ..."""
    days: int = 400
    """... of so many days."""
    groups: int = 60
    """Things that recur, the most frequent, whose times are tested."""
    least: int = 4
    """Times that something must have been usual, each in another period."""
    coverage: float = 0.5
    """Share of the latest occasions on which it must have occurred."""
    error: float = 0.005
    """How likely one false habit may be in a bank that has none, and one false sequel."""
    evidence: int = 20
    """Memories named as evidence, the latest."""


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
    """The language model, if there is one: ``openai:MODEL`` or ``anthropic:MODEL``; without an address its maker's.

    Each task may have a model of its own at the same address, or ``none``.
    """

    name: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    timeout_s: float = 30.0
    """How long one answer may take, repeats included."""
    extract: str = ""
    judge: str = ""
    summarise: str = ""
    reflect: str = ""
    state: str = ""
    daily_tokens: int = 2_000_000
    """What all of them together may take in a day (UTC), in all processes that share a store; 0 for no limit."""
    text_tokens: int = 3_000
    """Longest text that a task gives to a model; a longer one is left to the rules."""
    rewrite_wait_s: float = 3.0
    """How long a search waits for further wordings of its question."""


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """How language models read what was written, behind the writes. See docs/language-models.md."""

    backlog_days: int = 30
    """How many days ago a memory may have been written to be read still; 0 for no limit."""
    daily_memories: int = 2_000
    """Memories read in a day (UTC), by all processes that share a store; 0 for no limit."""
    at_once: int = 4
    """Memories that a process has read at the same time."""
    lease_s: float = 120.0
    """How long a process is believed to be at it without a sign."""
    attempts: int = 3
    """Tries at one memory before it is given up, with the reason kept."""
    again_s: float = 60.0
    """Seconds before what failed is tried again; four times as long each further time."""
    begin_s: float = 2.0
    """How long a process must have run: one that ends at once leaves the reading to others."""
    work_s: float = 60.0
    """How long ``maintain`` has them read what waits, in all banks together."""
    pairs: int = 3
    """Neighbours that one memory is judged against."""
    near: float = 4.0
    """How near they must be: cosine in deviations above the background of its space.

    With the bundled model, 95 % of the changes in a conversation's facts are nearer, and 5 % of other English pairs;
    Chinese texts lie closer together, and half of other pairs pass too.
    """


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
class Settings:
    """All of it."""

    database: str = field(repr=False)  # it may hold a password
    store: StoreSettings = field(default_factory=StoreSettings)
    write: WriteSettings = field(default_factory=WriteSettings)
    guard: GuardSettings = field(default_factory=GuardSettings)
    trust: TrustSettings = field(default_factory=TrustSettings)
    session: SessionSettings = field(default_factory=SessionSettings)
    reflect: ReflectSettings = field(default_factory=ReflectSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    feedback: FeedbackSettings = field(default_factory=FeedbackSettings)
    lifecycle: LifecycleSettings = field(default_factory=LifecycleSettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    habits: HabitSettings = field(default_factory=HabitSettings)
    pack: PackSettings = field(default_factory=PackSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    llm: LLMSettings = field(default_factory=LLMSettings)
    read: ReadSettings = field(default_factory=ReadSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    server: ServerSettings = field(default_factory=ServerSettings)

    @property
    def place(self) -> str:
        """The database as it may be shown: without a password."""
        hidden = re.sub(r"(?<=://)([^/@:]*):[^/]*@", r"\1:***@", self.database)
        return re.sub(r"(?i)([?&]\w*password=)[^&]*", r"\1***", hidden)
