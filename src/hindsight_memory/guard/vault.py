"""The vault: what a policy keeps apart, encrypted, under an id that stands in the text in its place."""

from __future__ import annotations

import binascii
import hmac
import os
from base64 import b64decode
from dataclasses import dataclass, field
from typing import Any, Final

from hindsight_memory.errors import InvalidInput

VARIABLE: Final = "HINDSIGHT_MEMORY_VAULT_KEY"
_BYTES: Final = 32
_NONCE: Final = 12
_LETTERS: Final = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
ID: Final = r"[a-p]{24}"
"""The form of an id: letters alone, so that it is taken for no number."""


@dataclass(frozen=True, slots=True)
class Vault:
    """Seals and opens with AES-GCM. The same value has the same id within a bank, and another in every other."""

    key: bytes = field(repr=False)

    def id_of(self, bank: str, kind: str, said: str) -> str:
        """The id of a value: nobody without the key can tell whether a guess has it."""
        digest = hmac.digest(self._key("name"), f"{bank}\n{kind}\n{said}".encode(), "sha256")
        return digest.hex()[:24].translate(_LETTERS)

    def seal(self, bank: str, vault_id: str, said: str) -> bytes:
        """The value, encrypted; it opens under this id in this bank only."""
        nonce = os.urandom(_NONCE)
        sealed: bytes = self._cipher().encrypt(nonce, said.encode(), f"{bank}\n{vault_id}".encode())
        return nonce + sealed

    def open(self, bank: str, vault_id: str, sealed: bytes) -> str:
        """The value again. Raises ``InvalidInput`` where it was sealed with another key, or changed."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415  # an extra

        try:
            said: bytes = self._cipher().decrypt(sealed[:_NONCE], sealed[_NONCE:], f"{bank}\n{vault_id}".encode())
        except (InvalidTag, ValueError) as error:
            hint = f"Start with the {VARIABLE} that it was written with."
            raise InvalidInput("This value does not open with this key.", hint=hint, field="vault_id") from error
        return said.decode()

    def _cipher(self) -> Any:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  # an extra

        return AESGCM(self._key("seal"))

    def _key(self, use: str) -> bytes:
        return hmac.digest(self.key, use.encode(), "sha256")


@dataclass(slots=True)
class Box:
    """What the texts of one request put into the vault: to be stored before the request is."""

    vault: Vault
    bank: str
    sealed: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def put(self, kind: str, said: str) -> str:
        """Seal a value; what stands in its place is returned."""
        vault_id = self.vault.id_of(self.bank, kind, said)
        if vault_id not in self.sealed:
            self.sealed[vault_id] = (kind, self.vault.seal(self.bank, vault_id, said))
        return f"[vault:{vault_id}]"


def vault_of(key: str) -> Vault | None:
    """The vault of a key, 32 bytes in URL-safe base64; none without. Raises ``InvalidInput`` for what is no key."""
    if not key:
        return None
    try:
        read = b64decode(key + "=" * (-len(key) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        read = b""
    if len(read) != _BYTES:
        hint = f"Give {_BYTES} bytes in URL-safe base64, such as: python -c 'import base64, os;"
        hint += f" print(base64.urlsafe_b64encode(os.urandom({_BYTES})).decode())'"
        raise InvalidInput(f"{VARIABLE} is no key.", hint=hint, field=VARIABLE)
    try:
        import cryptography  # noqa: F401, PLC0415  # an extra
    except ImportError as error:
        hint = "Install it: pip install 'hindsight-memory[vault]'"
        raise InvalidInput(
            "The vault needs cryptography, which is not installed.", hint=hint, field=VARIABLE
        ) from error
    return Vault(read)


def no_vault(field_name: str) -> InvalidInput:
    """What is raised where something is to go into a vault that has no key."""
    return InvalidInput(
        "There is no vault: it has no key.", hint=f"Set {VARIABLE}, or choose redact.", field=field_name
    )
