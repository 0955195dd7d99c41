"""The verbs of the guards: what becomes of personal data and secrets in a bank, and what is stored, looked at again."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from hindsight_memory.check import parse_text
from hindsight_memory.domain import Event, Handling, Policies, Revealed, Scan, Scanned, Scope, new_id
from hindsight_memory.errors import InvalidInput, NotFound
from hindsight_memory.guard.access import require
from hindsight_memory.guard.policy import GROUP_OF, parse_rules
from hindsight_memory.guard.vault import no_vault
from hindsight_memory.service.base import LONGEST_ID, Verbs

_LONGEST_REASON: Final = 2_000


class Guarding(Verbs):
    """Verbs of the guards."""

    async def policy(self, scope: Scope, rules: Mapping[str, Any] = MappingProxyType({})) -> Policies:
        """What becomes of each type of personal data and secret here; ``rules`` sets rules of the bank's own first.

        Args:
            scope: Whose memory is meant.
            rules: By type, or by group (``personal``, ``secrets``): ``mask``, ``redact``, ``reject``, ``vault`` or
                ``allow``; ``None`` takes a rule back. They hold for what is written from then on: see ``scan``.
        """
        require(self.principal, "set_policy" if rules else "get", scope)
        given = parse_rules(rules)
        if Handling.VAULT in given.values() and self._parts.screener.vault is None:
            raise no_vault("rules")
        if given:
            told = {name: "settings" if rule is None else rule.value for name, rule in given.items()}
            async with self._parts.store.transaction(scope) as tx:
                await tx.set_rules(given)
                await tx.record([self._line("policy", scope, told)])
        policy = await self._parts.screener.policy(scope.bank)
        own = await self._parts.store.reading(scope.bank).rules()
        return Policies(
            handling={kind: policy.of(kind).value for kind in GROUP_OF},
            own={kind: rule.value for kind, rule in own.items()},
        )

    async def reveal(self, vault_id: str, scope: Scope, reason: str = "") -> Revealed:
        """A value out of the vault, by the id that stands in its place in a text; who read it stands in the log.

        Raises ``NotFound`` for an id that the bank has not, or whose text was purged.
        """
        require(self.principal, "reveal", scope)
        vault_id = parse_text("vault_id", vault_id, LONGEST_ID).removeprefix("[vault:").removesuffix("]")
        reason = await self._parts.screener.text(parse_text("reason", reason, _LONGEST_REASON), scope.bank)
        vault = self._parts.screener.vault
        if vault is None:
            raise no_vault("vault_id")
        held = await self._parts.store.reading(scope.bank).sealed(vault_id)
        if held is None:
            message = f"The vault has no {vault_id[:60]} here."
            raise NotFound(message, hint="Check the id and the user.", field="vault_id")
        kind, sealed = held
        value = vault.open(scope.bank, vault_id, sealed)
        event = self._line("reveal", scope, {"vault_id": vault_id, "type": kind}, reason)
        async with self._parts.store.transaction(scope) as tx:
            await tx.record([event])
        return Revealed(vault_id=vault_id, type=kind, value=value)

    def _line(self, verb: str, scope: Scope, detail: dict[str, Any], reason: str = "") -> Event:
        """The line of the log about something that is done to no single memory."""
        now = self._parts.clock()
        whose = {"bank_id": scope.bank, "actor": self._actor(scope)}
        return Event(id=new_id(now), at=now, verb=verb, reason=reason, detail=detail, **whose)

    async def scan(self, asked: Scan, scope: Scope) -> Scanned:
        """Screen again what is stored, whoever may see it, a stretch at a time: go on with the answer's ``next``.

        What the policy does not leave goes from text, summary, words, relations, vectors and log, and from the state of
        running sessions; what is suspicious waits for a person from then on, and goes from a state.
        """
        require(self.principal, "scan", scope)
        if asked.after is not None and not (asked.after.isascii() and asked.after.isdecimal()):
            raise InvalidInput("after is not the next of a scan.", hint="Give it as it was.", field="after")
        scanned = await self._parts.rescreener(asked, scope, self._actor(scope))
        self._parts.indexer.wake()
        return scanned
