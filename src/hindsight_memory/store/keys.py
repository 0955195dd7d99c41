"""API keys as plans: found by the digest of a secret, listed by namespace, changed within a transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from hindsight_memory.domain import ApiKey, Grant, Scope
from hindsight_memory.store.rows import Bank, Params, Plan, Row, Statement, from_micros, to_json, to_micros

_COLUMNS: Final = (
    "id, name, namespace, prefix, grants, users, agents, created_at, created_by, expires_at, revoked_at, replaced_by,"
    " last_used_at"
)
_FROM: Final = f"SELECT {_COLUMNS} FROM api_keys"


def key_of(digest: str) -> Plan[ApiKey | None]:
    """See ``KeyStore.key_of``."""
    rows = yield Statement(f"{_FROM} WHERE digest = :digest", {"digest": digest})
    return _to_key(rows[0]) if rows else None


def key(key_id: str) -> Plan[ApiKey | None]:
    """See ``KeyStore.key``."""
    rows = yield Statement(f"{_FROM} WHERE id = :id", {"id": key_id})
    return _to_key(rows[0]) if rows else None


def keys(namespace: str | None, after: str | None, limit: int) -> Plan[list[ApiKey]]:
    """See ``KeyStore.keys``."""
    params: Params = {"after": after or "", "limit": limit}
    narrowed = ""
    if namespace is not None:
        params["namespace"] = namespace
        narrowed = " AND namespace = :namespace"
    rows = yield Statement(f"{_FROM} WHERE id > :after{narrowed} ORDER BY id LIMIT :limit", params)
    return [_to_key(row) for row in rows]


def working_keys(now: datetime) -> Plan[bool]:
    """See ``KeyStore.working_keys``."""
    rows = yield Statement(
        "SELECT 1 FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now) LIMIT 1",
        {"now": to_micros(now)},
    )
    return bool(rows)


def used_keys(used: Mapping[str, datetime]) -> Plan[None]:
    """See ``KeyStore.used_keys``."""
    yield Statement(
        "UPDATE api_keys SET last_used_at = :at WHERE id = :id",
        many=[{"id": key_id, "at": to_micros(at)} for key_id, at in sorted(used.items())],
    )


def put_key(bank: Bank, new: ApiKey, digest: str) -> Plan[None]:
    """See ``KeyTx.put_key``."""
    yield Statement(
        f"INSERT INTO api_keys (digest, {_COLUMNS}) VALUES (:digest, :id, :name, :namespace, :prefix, :grants, :users,"
        " :agents, :created_at, :created_by, :expires_at, :revoked_at, :replaced_by, :last_used_at)",
        {
            "digest": digest,
            "id": new.id,
            "name": new.name,
            "namespace": Scope.of_bank(bank.id).namespace,
            "prefix": new.prefix,
            "grants": to_json(list(new.grants)),
            "users": _listed(new.users),
            "agents": _listed(new.agents),
            "created_at": to_micros(new.created_at),
            "created_by": new.created_by,
            "expires_at": _moment(new.expires_at),
            "revoked_at": _moment(new.revoked_at),
            "replaced_by": new.replaced_by,
            "last_used_at": _moment(new.last_used_at),
        },
    )


def end_key(bank: Bank, ended: ApiKey) -> Plan[None]:
    """See ``KeyTx.end_key``."""
    yield Statement(
        "UPDATE api_keys SET expires_at = :expires, revoked_at = :revoked, replaced_by = :by"
        " WHERE id = :id AND namespace = :namespace",
        {
            "id": ended.id,
            "namespace": Scope.of_bank(bank.id).namespace,
            "expires": _moment(ended.expires_at),
            "revoked": _moment(ended.revoked_at),
            "by": ended.replaced_by,
        },
    )


def _to_key(row: Row) -> ApiKey:
    held: dict[str, Any] = dict(zip(_COLUMNS.split(", "), row, strict=True))
    for name in ("created_at", "expires_at", "revoked_at", "last_used_at"):
        held[name] = None if held[name] is None else from_micros(held[name])
    for name in ("users", "agents"):
        held[name] = None if held[name] is None else tuple(json.loads(held[name]))
    held["grants"] = tuple(Grant(each) for each in json.loads(held["grants"]))
    return ApiKey(**held)


def _listed(names: tuple[str, ...] | None) -> str | None:
    return None if names is None else to_json(list(names))


def _moment(at: datetime | None) -> int | None:
    return None if at is None else to_micros(at)
