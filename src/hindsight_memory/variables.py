"""The variables of the environment, each with the setting that it fills; ``build`` reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment: the setting it fills, and what it means."""

    name: str
    group: str
    setting: str
    meaning: str


VARIABLES: Final = (
    Variable("DATABASE_URL", "", "database", "where memories are kept: sqlite:///PATH or postgresql://…"),
    Variable("CONNECTIONS", "store", "connections", "connections to PostgreSQL that one process holds at most"),
    Variable("PARTITIONS", "store", "partitions", "parts of each PostgreSQL table, when they are made"),
    Variable("HNSW_FROM", "store", "hnsw_from", "memories of a bank from which an index finds vectors (PostgreSQL)"),
    Variable("HNSW_M", "store", "hnsw_m", "neighbours that this index keeps of each vector"),
    Variable("HNSW_EF_CONSTRUCTION", "store", "hnsw_ef_construction", "candidates when it is made"),
    Variable("HNSW_EF_SEARCH", "store", "hnsw_ef_search", "candidates when it is searched"),
    Variable("DATABASE_KEY", "store", "key", "what the database is encrypted with; a plain file has none"),
    Variable("DATABASE_KEY_COMMAND", "store", "key_command", "a command that prints that key, such as a keyring's"),
    Variable("EMBEDDER", "embed", "names", "auto, none, bundled, openai:MODEL, fastembed:MODEL, …; a list by comma"),
    Variable("EMBEDDING_URL", "embed", "base_url", "address of the OpenAI-compatible embeddings"),
    Variable("EMBEDDING_API_KEY", "embed", "api_key", "its key"),
    Variable("FLOOR", "recall", "floor", "the gate, 0 to 1: least confidence that is sure"),
    Variable("ZONE", "recall", "zone", "time zone of those who ask, such as Europe/Berlin"),
    Variable("LLM", "llm", "name", "a language model: openai:MODEL (or compatible), anthropic:MODEL"),
    Variable("LLM_BASE_URL", "llm", "base_url", "its address"),
    Variable("LLM_API_KEY", "llm", "api_key", "its key"),
    Variable("LLM_TIMEOUT_S", "llm", "timeout_s", "seconds one of its answers may take"),
    Variable("LLM_DAILY_TOKENS", "llm", "daily_tokens", "tokens it may take in a day, 0 for no limit"),
    Variable("LLM_EXTRACT", "llm", "extract", "another model, or none, to pick out what is worth remembering"),
    Variable("LLM_JUDGE", "llm", "judge", "another model, or none, to tell a change from a repetition"),
    Variable("LLM_SUMMARISE", "llm", "summarise", "another model, or none, to shorten long texts"),
    Variable("LLM_REFLECT", "llm", "reflect", "another model, or none, to draw lessons from tasks"),
    Variable("LLM_STATE", "llm", "state", "another model, or none, to keep a session's state"),
    Variable("LLM_BACKLOG_DAYS", "read", "backlog_days", "days back that it reads what was written, 0 for no limit"),
    Variable("LLM_DAILY_MEMORIES", "read", "daily_memories", "memories it reads in a day, 0 for no limit"),
    Variable("RERANK", "rerank", "name", "fastembed:MODEL, flashrank:MODEL, endpoint:MODEL or llm"),
    Variable("RERANK_BASE_URL", "rerank", "base_url", "address of the rerank endpoint"),
    Variable("RERANK_API_KEY", "rerank", "api_key", "its key"),
    Variable("RERANK_WAIT_S", "rerank", "wait_s", "seconds a search waits for the reranker"),
    Variable("MAINTENANCE", "lifecycle", "schedule", "on, or off: whether a running service does maintenance itself"),
    Variable("KEEP_DELETED_DAYS", "lifecycle", "keep_deleted_days", "days that a forgotten memory can be restored"),
    Variable("MOST_MEMORIES", "lifecycle", "most_memories", "memories of one user; of more, the least are forgotten"),
    Variable(
        "GUARD_PERSONAL", "guard", "personal", "what becomes of personal data: mask, redact, reject, vault or allow"
    ),
    Variable("GUARD_SECRETS", "guard", "secrets", "what becomes of keys and passwords: redact, reject, vault or allow"),
    Variable("VAULT_KEY", "guard", "vault_key", "what the vault is encrypted with: 32 bytes in URL-safe base64"),
    Variable("HOST", "server", "host", "address the server listens on"),
    Variable("PORT", "server", "port", "port the server listens on"),
    Variable("WORKERS", "server", "workers", "processes that serve"),
    Variable(
        "WORK", "write", "work", "on, or off: whether a running service gives vectors itself, or leaves all to a worker"
    ),
    Variable("AT_ONCE", "server", "at_once", "requests that one process answers at a time"),
    Variable("HELD_BYTES", "server", "held_bytes", "bytes of requests that one process holds at a time"),
    Variable("API_KEY", "server", "api_key", "key that callers of the server must show: the administrator's"),
    Variable("REQUESTS_PER_MINUTE", "server", "requests_per_minute", "requests of one key in a minute, 0 for no limit"),
    Variable("BYTES_PER_MINUTE", "server", "bytes_per_minute", "bytes one key may send in a minute, 0 for no limit"),
    Variable("TLS_CERT", "server", "tls_cert", "file of the server's certificate: it speaks TLS then"),
    Variable("TLS_KEY", "server", "tls_key", "file of its private key"),
)
