"""The bytes of text files: their encoding, and what is packed."""

from __future__ import annotations

import codecs
import gzip
import io
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

# Of a larger file, this much is looked at, at its beginning and its end.
_SAMPLE_BYTES = 4_000_000
# Of the lines with other signs than ASCII's, so many bytes are enough to tell a language by.
_GUESS_BYTES = 64_000
_COPIED_BYTES = 1 << 20
_WESTERN = "cp1252"
# Those that spreadsheets and databases write, by Python's names; obscurer ones would only be mistaken for them.
_CANDIDATES = tuple(
    """
    cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp874 cp932 euc-jp gb18030 big5 cp949 koi8-r cp866
    cp850 cp852 mac-roman iso-8859-2 iso-8859-7
    """.split()  # noqa: SIM905 - as a list it would take a line a name
)
# Western text has few signs to tell it by: it is taken for another only where that is about twice as likely.
_PRIOR = 0.55


def detect_file_encoding(path: Path) -> tuple[str, bool]:
    """Return the encoding of a file by its Python name, and whether that is a guess."""
    with open_decompressed_file(path) as file:
        start, end = file.read(_SAMPLE_BYTES), b""
        size = path.stat().st_size
        if path.suffix != ".gz" and size > len(start):
            file.seek(max(len(start), size - _SAMPLE_BYTES))
            end = file.read(_SAMPLE_BYTES)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # By its other name, for DuckDB reads neither the other order nor a packed file.
        return "utf-16" if start.startswith(codecs.BOM_UTF16_LE) and path.suffix != ".gz" else "utf16", False
    for offset, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        # Every second byte of plain text in UTF-16 is zero.
        if start[offset:200:2].count(0) > len(start[:200]) // 4:
            return name, False
    if _can_decode_bytes("utf-8", start) and _can_decode_bytes("utf-8", end):
        return "utf-8-sig" if start.startswith(codecs.BOM_UTF8) else "utf-8", False
    return _guess_encoding_of_bytes(start, end), True


def copy_as_utf8(path: Path, private: Path, encoding: str) -> Path:
    """Copy a text file, converted to UTF-8 and to one end of lines, to the private folder."""
    copy = private / f"{len(list(private.iterdir()))}.csv"
    with open_decompressed_file(path) as file, copy.open("w", encoding="utf-8", newline="") as output:
        shutil.copyfileobj(io.TextIOWrapper(file, encoding, "replace"), output, _COPIED_BYTES)
    return copy


def open_decompressed_file(path: Path) -> IO[bytes]:
    """Open a file for reading bytes; decompress a gzip file."""
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def measure_decompressed_size(path: Path, limit: int) -> int:
    """Return the decompressed size of a file; any larger number if it exceeds `limit`."""
    if path.suffix != ".gz":
        return path.stat().st_size
    with open_decompressed_file(path) as file:
        return file.seek(limit + 1)


def _guess_encoding_of_bytes(start: bytes, end: bytes) -> str:
    """Return the most likely encoding of bytes that are not UTF-8, by language statistics."""
    import chardet

    # DuckDB reads Latin-1 itself, which differs in what are control characters there.
    western = _WESTERN if any(128 <= byte < 160 for byte in {*start, *end}) else "latin-1"
    lines = [line for line in (start + b"\n" + end).splitlines() if not line.isascii()]
    sample = b"\n".join(lines)[:_GUESS_BYTES]
    if not any(sign.isalpha() for sign in sample.decode(_WESTERN, "ignore") if not sign.isascii()):
        return western
    guesses = chardet.detect_all(sample, ignore_threshold=True, compat_names=False, include_encodings=_CANDIDATES)
    weights = [(str(guess["encoding"]), guess["confidence"]) for guess in guesses if guess["encoding"]]
    least = max((sure for name, sure in weights if codecs.lookup(name).name == _WESTERN), default=0.0)
    likelier = (name for name, sure in weights if _PRIOR * sure > least)
    return next((name for name in likelier if _can_decode_bytes(name, start) and _can_decode_bytes(name, end)), western)


def _can_decode_bytes(name: str, piece: bytes) -> bool:
    """Whether an encoding can decode a piece of text that may be cut within a character."""
    for offset in range(min(4, len(piece) + 1)):
        with suppress(UnicodeDecodeError):
            codecs.getincrementaldecoder(name)().decode(piece[offset:])
            return True
    return False
