"""The encoding of a file of text: by its mark, by what can be read as UTF-8, else the likeliest, which is told."""

from __future__ import annotations

import codecs
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

# Of a larger file, this much is looked at, at its beginning and its end.
_LOOKED_AT = 4_000_000
# Of the lines with other signs than ASCII's, so many bytes are enough to tell a language by.
_WEIGHED = 64_000
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


@dataclass(frozen=True)
class Encoding:
    """What a file is read as.

    Attributes:
        name: Python's name.
        is_guess: Whether nothing in the file says so.
    """

    name: str
    is_guess: bool = False

    @property
    def is_native(self) -> bool:
        """Whether DuckDB reads it itself."""
        return self.name in ("utf-8", "latin-1", "utf-16")


def encoding_of(path: Path) -> Encoding:
    """The encoding of a file."""
    start, end = _ends(path)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Encoding("utf-16" if start.startswith(codecs.BOM_UTF16_LE) and path.suffix != ".gz" else "utf-16-marked")
    # Every second byte of plain text in UTF-16 is zero.
    if start[1:200:2].count(0) > len(start[:200]) // 4:
        return Encoding("utf-16-le")
    if start[0:200:2].count(0) > len(start[:200]) // 4:
        return Encoding("utf-16-be")
    if _is_utf8(start) and _is_utf8(end):
        return Encoding("utf-8")
    return Encoding(_likeliest(start, end), is_guess=True)


def copied(path: Path, private: Path, encoding: Encoding) -> Path:
    """A copy of the file's text in UTF-8, in a folder of our own."""
    copy = private / f"{len(list(private.iterdir()))}.csv"
    name = encoding.name.removesuffix("-marked")
    with opened(path) as file, copy.open("w", encoding="utf-8", newline="") as written:
        reader = codecs.getreader(name)(cast("Any", file), "replace")
        while part := reader.read(_COPIED_BYTES):
            written.write(part)
    return copy


def opened(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked."""
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def unpacked_size(path: Path, enough: int) -> int:
    """The size of a file, unpacked; anything larger than `enough` where it is larger."""
    if path.suffix != ".gz":
        return path.stat().st_size
    size = 0
    with opened(path) as file:
        while size <= enough and (part := file.read(_COPIED_BYTES)):
            size += len(part)
    return size


def _likeliest(start: bytes, end: bytes) -> str:
    """Of what is not UTF-8: by statistics of languages, over the lines that tell."""
    import chardet

    lines = [line for line in (start + b"\n" + end).splitlines() if not line.isascii()]
    weighed = b"\n".join(lines)[:_WEIGHED]
    if not any(sign.isalpha() for sign in weighed.decode(_WESTERN, "ignore") if not sign.isascii()):
        return _western(start + end)
    found = chardet.detect_all(weighed, ignore_threshold=True, compat_names=False, include_encodings=_CANDIDATES)
    told = [(str(each["encoding"]), each["confidence"]) for each in found if each["encoding"]]
    western = max((sure for name, sure in told if codecs.lookup(name).name == _WESTERN), default=0.0)
    for name, sure in told:
        if western >= _PRIOR * sure:
            break
        if _reads(name, start) and _reads(name, end):
            return name
    return _western(start + end)


def _western(part: bytes) -> str:
    """DuckDB reads Latin-1 itself, which differs in what are control characters there."""
    return _WESTERN if any(128 <= byte < 160 for byte in set(part)) else "latin-1"


def _reads(name: str, part: bytes) -> bool:
    """Whether a piece, which may begin and end within a character, can be read so."""
    for skipped in range(min(4, len(part) + 1)):
        try:
            codecs.getincrementaldecoder(name)().decode(part[skipped:])
        except UnicodeDecodeError:
            continue
        return True
    return False


def _is_utf8(part: bytes) -> bool:
    return _reads("utf-8", part)


def _ends(path: Path) -> tuple[bytes, bytes]:
    with opened(path) as file:
        start = file.read(_LOOKED_AT)
        size = path.stat().st_size
        if path.suffix == ".gz" or size <= len(start):
            return start, b""
        file.seek(max(len(start), size - _LOOKED_AT))
        return start, file.read(_LOOKED_AT)
