"""Bytes of an archive: compressed as they are written, and read out of a file again as lines, within bounds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from hindsight_memory.errors import InvalidInput
from hindsight_memory.guard.passphrase import MAGIC, decrypted

if TYPE_CHECKING or sys.version_info < (3, 14):
    from backports import zstd
else:
    from compression import zstd

LONGEST_LINE: Final = 16_000_000
"""Bytes of one line: a text of 100,000 characters, escaped, is less than a tenth of it."""
_LEVEL: Final = 9
_READ: Final = 1 << 18
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
PLAIN: Final = b'{"archive"'
"""What the lines of an archive begin with."""
_WINDOW: Final = 25
"""Of what is unpacked, 2^25 bytes are kept to be referred to."""
_FREE: Final = 256_000_000
_BOMB_RATIO: Final = 5_000
"""Times of its packed size that an archive may unpack to, once it is beyond ``_FREE``: above the most that memories can
reach, since the ids, hashes and seals of each do not compress."""


class Packer:
    """Compresses what it is given; the same bytes for the same lines."""

    def __init__(self) -> None:
        known = zstd.CompressionParameter
        options: dict[int, int] = {known.compression_level: _LEVEL, known.checksum_flag: 1}
        self._zstd = zstd.ZstdCompressor(options=options)

    def add(self, data: bytes) -> bytes:
        """What can be written of it by now."""
        return self._zstd.compress(data)

    def end(self) -> bytes:
        """The rest."""
        return self._zstd.flush()


def is_archive(path: Path) -> bool:
    """Whether a file is an archive of ours, encrypted, packed or plain, by its beginning."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            start = file.read(len(PLAIN))
    except OSError:
        return False  # whoever reads it says why
    return start.startswith((MAGIC, _ZSTD, PLAIN))


def is_encrypted(path: Path) -> bool:
    """Whether an archive needs a passphrase."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def lines_of(path: Path, passphrase: str | None) -> Iterator[bytes]:
    """The lines of an archive, without their ends.

    Raises ``InvalidInput`` where it cannot be read, unpacked or decrypted.
    """
    number = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(_lines(_unpacked(_opened(file, passphrase))), 1):  # noqa: B007  # told of below
                yield line
    except zstd.ZstdError as error:
        raise InvalidInput(f"The archive is damaged behind line {number}.", hint=OTHER_COPY, field="path") from error
    except EOFError as error:
        raise InvalidInput(f"The archive was cut off behind line {number}.", hint=OTHER_COPY, field="path") from error
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}.", hint=OTHER_COPY, field="path") from error


OTHER_COPY: Final = "Take another copy of it; nothing was changed here."


def _opened(file: BinaryIO, passphrase: str | None) -> Iterator[bytes]:
    start = file.read(len(MAGIC))
    if start == MAGIC:
        if passphrase is None:
            raise InvalidInput("The archive is encrypted.", hint="Give its passphrase.", field="passphrase")
        yield from decrypted(file, passphrase)
        return
    yield start
    while data := file.read(_READ):
        yield data


def _unpacked(packed: Iterator[bytes]) -> Iterator[bytes]:
    start = b""
    for data in packed:
        start += data
        if len(start) >= len(_ZSTD):
            break
    if not start.startswith(_ZSTD):
        yield start
        yield from packed
        return
    unpacker = _Unpacker()
    yield from unpacker.add(start)
    for data in packed:
        if unpacker.done:
            raise InvalidInput("Behind the end of the archive stands more.", hint=OTHER_COPY, field="path")
        yield from unpacker.add(data)
    if not unpacker.done:
        raise EOFError


class _Unpacker:
    """Unpacks what it is given, a bounded piece at a time."""

    def __init__(self) -> None:
        self._zstd = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW})
        self._size = 0
        self._total = 0

    @property
    def done(self) -> bool:
        """Whether it has come to the end."""
        return self._zstd.eof

    def add(self, data: bytes) -> Iterator[bytes]:
        """What it unpacks to by now."""
        self._size += len(data)
        while True:
            piece = self._zstd.decompress(data, _READ)
            self._total += len(piece)
            if self._total > max(_FREE, _BOMB_RATIO * self._size):
                raise InvalidInput("The archive unpacks to far more than memories can.", hint=OTHER_COPY, field="path")
            yield piece
            data = b""
            if self._zstd.eof or self._zstd.needs_input:
                break
        if self._zstd.unused_data:
            raise InvalidInput("Behind the end of the archive stands more.", hint=OTHER_COPY, field="path")


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
        if len(rest) > LONGEST_LINE:
            said = f"A line of the archive is over {LONGEST_LINE:,} bytes long."
            raise InvalidInput(said, hint=OTHER_COPY, field="path")
    if rest:
        yield rest
