"""What is done with each type of personal data and secret: the settings' word, and a bank's own before it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from hindsight_memory.domain import Handling, Source
from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.detect_tokens import TOKENS
from hindsight_memory.settings import GuardSettings

PERSONAL: Final = "personal"
SECRETS: Final = "secrets"
GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        PERSONAL: ("account", "address", "card", "email", "iban", "national_id", "phone"),
        SECRETS: ("access_code", "password", *TOKENS),
    }
)
"""The types of what is looked for, by the group whose rule they follow where they have none of their own."""
GROUP_OF: Final[Mapping[str, str]] = {each: group for group, types in GROUPS.items() for each in types}


_USUAL: Final = GuardSettings()


@dataclass(frozen=True, slots=True)
class Policy:
    """What becomes of each type; ``rules`` names types or groups, and a type goes before its group.

    From ``quarantine_at`` a suspicious text waits for a person, from ``reject_at`` it is refused. ``lenient`` is for
    what is made of memories, which were let in already: what a caller would be refused for is redacted there.
    """

    rules: Mapping[str, Handling] = field(default_factory=dict)
    quarantine_at: float = _USUAL.quarantine_at
    reject_at: float = _USUAL.reject_at
    lenient: bool = False
    keep: Callable[[str, str], str] | None = None
    """Puts a value of a type into the vault, and says what stands in its place."""

    def towards(self, source: Source) -> Policy:
        """The policy for what this source says.

        The user's own words are never refused, and wait only where others' would be: what a person tells their
        assistant to do is what memory is for.
        """
        return replace(self, quarantine_at=self.reject_at, reject_at=math.inf) if source is Source.USER else self

    def of(self, kind: str) -> Handling:
        """What becomes of this type."""
        found = self.rules.get(kind) or self.rules.get(GROUP_OF[kind]) or _DEFAULTS[GROUP_OF[kind]]
        return Handling.REDACT if self.lenient and found in (Handling.REJECT, Handling.VAULT) else found


_DEFAULTS: Final = {PERSONAL: _USUAL.personal, SECRETS: _USUAL.secrets}


def policy_of(settings: GuardSettings, own: Mapping[str, Handling]) -> Policy:
    """The policy of a bank: its ``own`` rules before the settings', one for a group before theirs for a type."""
    theirs = {PERSONAL: settings.personal, SECRETS: settings.secrets, **settings.rules}
    rules = {name: rule for name, rule in theirs.items() if GROUP_OF.get(name) not in own} | dict(own)
    return Policy(rules=rules, quarantine_at=settings.quarantine_at, reject_at=settings.reject_at)


def parse_rules(rules: Mapping[str, object]) -> dict[str, Handling | None]:
    """Rules as a caller gives them, checked: ``None`` takes a bank's own rule back."""
    found: dict[str, Handling | None] = {}
    for name, rule in rules.items():
        if name not in GROUPS and name not in GROUP_OF:
            hint = f"Use {', '.join(GROUPS)}, or one of: {', '.join(sorted(GROUP_OF))}."
            raise InvalidInput(f"{name[:60]!r} is not a type that is looked for.", hint=hint, field="rules")
        try:
            found[name] = None if rule in (None, "") else Handling(str(rule))
        except ValueError:
            hint = f"Use one of: {', '.join(Handling)}."
            raise InvalidInput(f"{name} cannot be handled as {str(rule)[:60]!r}.", hint=hint, field="rules") from None
    return found
