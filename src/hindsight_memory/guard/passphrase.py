"""A stream of bytes encrypted with a passphrase, in pieces that can neither be changed, exchanged, nor cut off.

The form is that of STREAM (Hoang, Reyhanitabar, Rogaway, Vizár, 2015) with AES-256-GCM: each piece of 64 KiB is sealed
under its number and whether it is the last; the key is stretched out of the passphrase by scrypt with a salt in front.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from hindsight_memory.errors import InvalidInput, Unavailable

MAGIC: Final = b"HMARCHV1"
"""What an encrypted stream begins with."""
_SALT: Final = 16
_PIECE: Final = 65_536
_TAG: Final = 16
_COST: Final = 2**17
_MEMORY: Final = 300_000_000
"""Scrypt at N = 2^17, r = 8: 128 MB and some tenths of a second for each guess."""


class Encryptor:
    """Encrypts what it is given piece by piece; ``end`` seals the last one."""

    def __init__(self, passphrase: str) -> None:
        salt = os.urandom(_SALT)
        self._head = MAGIC + salt
        self._cipher = _cipher_of(passphrase, salt)
        self._number = 0
        self._rest = b""
        self._begun = False

    def add(self, data: bytes) -> bytes:
        """What can be written of it by now."""
        whole = self._rest + data
        found = [] if self._begun else [self._head]
        self._begun = True
        place = 0
        while len(whole) - place > _PIECE:  # never the last one: that is known at the end only
            found.append(self._sealed(whole[place : place + _PIECE], last=False))
            place += _PIECE
        self._rest = whole[place:]
        return b"".join(found)

    def end(self) -> bytes:
        """The rest."""
        return self.add(b"") + self._sealed(self._rest, last=True)

    def _sealed(self, piece: bytes, *, last: bool) -> bytes:
        sealed: bytes = self._cipher.encrypt(_nonce(self._number, last=last), piece, self._head)
        self._number += 1
        return sealed


def decrypted(file: BinaryIO, passphrase: str) -> Iterator[bytes]:
    """What a stream holds, read from behind its magic.

    Raises ``InvalidInput`` where the passphrase does not open it, or where it was changed or cut off.
    """
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415  # an extra

    salt = file.read(_SALT)
    cipher, head = _cipher_of(passphrase, salt), MAGIC + salt
    number, piece = 0, file.read(_PIECE + _TAG)
    while True:
        following = file.read(_PIECE + _TAG)
        try:
            yield cipher.decrypt(_nonce(number, last=not following), piece, head)
        except (InvalidTag, ValueError) as error:
            if number:
                raise InvalidInput(
                    "The archive was changed, or cut off.", hint="Take another copy.", field="path"
                ) from error
            hint = "Give the passphrase it was written with; without it nobody can read it."
            raise InvalidInput(
                "The passphrase does not open the archive, or it was changed.", hint=hint, field="passphrase"
            ) from error
        if not following:
            return
        number, piece = number + 1, following


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([last])


def _cipher_of(passphrase: str, salt: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  # an extra
    except ImportError as error:
        hint = "Install it: pip install 'hindsight-memory[vault]'"
        raise Unavailable("An encrypted archive needs cryptography, which is not installed.", hint=hint) from error
    key = hashlib.scrypt(passphrase.encode(), salt=salt, n=_COST, r=8, p=1, maxmem=_MEMORY, dklen=32)
    return AESGCM(key)
