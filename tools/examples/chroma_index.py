"""Looks into the index files of a Chroma store before they are loaded: links that lead nowhere end the process there.

The layout is hnswlib's: a header; for each element its links on the lowest level, its vector and its label; and for
each the number of bytes, and the links, on higher levels.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

_HEADER = struct.Struct("<iQQQQQQiIQQQdQ")
_WORD = 4
_LABEL_BYTES = 8
_MOST_LEVELS = 64
_READ_WHOLE = 64_000_000
"""Bytes of an index that is looked through; in a larger one, which would take seconds, only the sizes are."""


def damaged_index(store: Path) -> Path | None:
    """The folder of an index that cannot be loaded; None where there is none."""
    for header in sorted(store.glob("*/header.bin")):
        try:
            sound = _is_sound(header.parent)
        except (OSError, ValueError, struct.error):
            sound = False
        if not sound:
            return header.parent
    return None


def _is_sound(folder: Path) -> bool:
    header = _HEADER.unpack((folder / "header.bin").read_bytes()[: _HEADER.size])
    _, start, room, count, size, label, data, levels, entry, most_above, most, *_ = header
    lowest = folder / "data_level0.bin"
    links = _WORD * (most + 1)
    fits = (
        start == 0 and 0 < most < 10_000 and 0 < most_above <= most and data == links and label == size - _LABEL_BYTES
    )
    if not fits or data >= label or size % _WORD or not count <= room or lowest.stat().st_size < count * size:
        return False
    if count == 0:
        return True
    if not (0 <= levels < _MOST_LEVELS and entry < count):
        return False
    if count * size > _READ_WHOLE:
        return True
    words = np.fromfile(lowest, "<u4", count * size // _WORD).reshape(count, size // _WORD)
    return _lead_somewhere(words[:, : most + 1], count) and _above(folder, count, levels, entry, most_above)


def _lead_somewhere(blocks: npt.NDArray[np.uint32], count: int) -> bool:
    """Whether each block, a number and so many links, links to elements that there are."""
    used = blocks[:, 0] & 0xFFFF
    places = np.arange(1, blocks.shape[1])
    return bool(np.all(used < blocks.shape[1]) and np.all((blocks[:, 1:] < count) | (places > used[:, None])))


def _above(folder: Path, count: int, levels: int, entry: int, most: int) -> bool:
    """Whether links on higher levels lead to elements that reach as high."""
    words = np.fromfile(folder / "link_lists.bin", "<u4")
    block, heights, blocks, own = most + 1, np.zeros(count, np.int64), list[npt.NDArray[np.uint32]](), list[int]()
    place = 0
    for element in range(count):
        if place >= len(words):
            return False
        taken, rest = divmod(int(words[place]), _WORD * block)
        if rest or place + 1 + taken * block > len(words):
            return False
        heights[element] = taken
        blocks.extend(words[place + 1 : place + 1 + taken * block].reshape(taken, block))
        own.extend(range(1, taken + 1))
        place += 1 + taken * block
    if heights[entry] != levels or heights.max() > levels:
        return False
    above = np.array(blocks, np.uint32).reshape(-1, block)
    if not _lead_somewhere(above, count):
        return False
    used = (above[:, 0] & 0xFFFF)[:, None] > np.arange(most)
    reached = heights[np.where(used, above[:, 1:], 0)]
    return bool(np.all((reached >= np.array(own)[:, None]) | ~used))
