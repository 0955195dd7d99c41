"""The secrets of API keys: made here, and from then on known by their digest only."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final, NamedTuple

_SIGN: Final = "hm_"
"""How every secret begins, so that people and scanners know one when they see it."""
_BYTES: Final = 24
_SHOWN: Final = len(_SIGN) + 8


class Minted(NamedTuple):
    """A new secret, what is kept of it, and how much of it may be shown."""

    secret: str
    digest: str
    prefix: str


def mint() -> Minted:
    """A secret of 192 random bits."""
    secret = f"{_SIGN}{secrets.token_hex(_BYTES)}"
    return Minted(secret, digest_of(secret), secret[:_SHOWN])


def digest_of(secret: str) -> str:
    """What is kept of a secret.

    A slow hash protects words that people choose, because those can be tried out. Of 192 random bits the fast one tells
    as little, and it is made at every request. Looking it up in an index needs no constant time: whoever measures how
    far two digests agree learns nothing that leads to a secret.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
