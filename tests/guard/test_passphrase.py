"""A stream under a passphrase: it opens with that one only, and not when a byte of it is another."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable

import pytest

from hindsight_memory import InvalidInput
from hindsight_memory.guard import passphrase
from hindsight_memory.guard.passphrase import MAGIC, Encryptor, decrypted

pytest.importorskip("cryptography")
PIECE = 65_536
TAG = 16
HEAD = len(MAGIC) + 16


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passphrase, "_COST", 2)


def sealed(pieces: Iterable[bytes], word: str = "密码 word") -> bytes:
    maker = Encryptor(word)
    return b"".join([*(maker.add(piece) for piece in pieces), maker.end()])


def opened(data: bytes, word: str = "密码 word") -> bytes:
    file = io.BytesIO(data)
    assert file.read(len(MAGIC)) == MAGIC
    return b"".join(decrypted(file, word))


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 7])
def test_what_goes_in_comes_out(size: int) -> None:
    plain = os.urandom(size)
    data = sealed([plain])
    assert opened(data) == plain
    assert opened(sealed([plain[: size // 3], b"", plain[size // 3 :]])) == plain
    assert size < 16 or plain[:16] not in data
    assert sealed([plain]) != data


def test_no_other_passphrase_opens_it() -> None:
    data = sealed([b"secret"])
    for word in ("密码 Word", "", "密码 word ", "x" * 1_000):
        with pytest.raises(InvalidInput, match="does not open") as refused:
            opened(data, word)
        assert refused.value.field == "passphrase"


def test_nothing_can_be_changed_cut_off_added_or_exchanged() -> None:
    data = sealed([os.urandom(3 * PIECE + 100)])
    first, second = data[HEAD : HEAD + PIECE + TAG], data[HEAD + PIECE + TAG : HEAD + 2 * (PIECE + TAG)]
    rest = data[HEAD + 2 * (PIECE + TAG) :]
    other = sealed([os.urandom(3 * PIECE + 100)])
    for bad in (
        data[:-1],
        data + b"x",
        data[: HEAD + PIECE + TAG],
        data[: HEAD + 3 * (PIECE + TAG)],
        data[:HEAD],
        data[: HEAD - 4],
        data[:HEAD] + second + first + rest,
        data[:HEAD] + first + first + rest,
        data[:HEAD] + second + rest,
        data[:HEAD] + other[HEAD:],
        *(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in (len(MAGIC), HEAD, HEAD + PIECE, len(data) - 1)),
    ):
        with pytest.raises(InvalidInput):
            opened(bad)
