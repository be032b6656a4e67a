"""Embeddings of texts; the default needs no download and is the same everywhere."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib.util import find_spec
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..errors import ExampleStoreError, SettingsError
from ..words import fold, stem_word
from .example import brief_repr, one_line

Vectors = npt.NDArray[np.float32]
"""One row a text, each of length 1 (or 0 for a text without words)."""

DIMENSIONS = 256
VERSION = 2
"""Of the features and their weights; stores of vectors made by others are refused (see `tables.FORMAT`)."""

# Found on Spider train with databases held out, by skeleton agreement at 8 (`held_out_hit_at_8` of the bench).
_WORD, _PAIR, _CUE, _CUES, _MARK = 1.0, 0.4, 2.0, 0.5, 1.5
# Beginnings and ends of words: without them all questions that differ by one number are equally far from each other,
# and approximate search finds none of them.
_AFFIX = 0.2

_BATCH = 256
"""Texts that a model is given at once."""


@dataclass(frozen=True)
class Embedding:
    """A named function that embeds each text as a unit vector, one row per text."""

    name: str
    encode: Callable[[list[str]], Any]
    """Gives vectors of any length for up to 256 texts, none of which is empty."""

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per text; raise `ExampleStoreError` if a model fails."""
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        parts: list[Vectors] = []
        try:
            for start in range(0, len(texts), _BATCH):
                batch = [text or " " for text in texts[start : start + _BATCH]]
                vectors = np.asarray(self.encode(batch), dtype=np.float32)
                if vectors.shape[:-1] != (len(batch),) or not vectors.size or not np.isfinite(vectors).all():
                    raise ValueError(f"the reply does not contain {len(batch)} vectors of numbers of equal length")
                parts.append(vectors)
            return normalize_rows(np.concatenate(parts))
        except Exception as error:  # a model's files or an answer of another form break a library at any place
            raise ExampleStoreError(f"the embedding {brief_repr(self.name)} failed: {one_line(error)}") from error


def make_embedding(name: str) -> Embedding:
    """Return the embedding that a setting names, such as `hashed` or `openai:MODEL`.

    Args:
        name: `hashed`; `chroma`, a sentence model that Chroma downloads, about 80 MB, when it is first used;
            `openai:MODEL` of an OpenAI-compatible server, by the `openai` library's own settings; or `sentence:MODEL`,
            a folder or a name that the library sentence-transformers (an extra) knows.

    Raises:
        SettingsError: There is none of that name.
        ExampleStoreError: It cannot be used.
    """
    check_embedding_name(name)
    kind, _, model = name.partition(":")
    if name == "hashed":
        return HASHED
    if kind == "sentence" and find_spec("sentence_transformers") is None:
        raise ExampleStoreError("a sentence model needs the extra `sentence`: pip install 'tableturn[sentence]'")
    try:
        from chromadb.utils import embedding_functions as functions

        if kind == "openai":
            encode = functions.OpenAIEmbeddingFunction(model_name=model, api_key_env_var="OPENAI_API_KEY")
            return Embedding(f"openai-{model}", encode)
        if kind == "sentence":
            # The same model under another path is the same: its folder's name tells it from others.
            folder = Path(model).resolve().name if Path(model).is_dir() else model
            return Embedding(f"sentence-{folder}", functions.SentenceTransformerEmbeddingFunction(model))
        return Embedding("chroma-all-MiniLM-L6-v2", cast(Any, functions.DefaultEmbeddingFunction()))
    except Exception as error:  # whatever a library stumbles over in its settings or in a model's files
        raise ExampleStoreError(f"the embedding {brief_repr(name)} cannot be used: {one_line(error)}") from error


def check_embedding_name(name: str) -> None:
    """Raise `SettingsError` if a name is not that of an embedding."""
    kind, _, model = name.partition(":")
    if name not in ("hashed", "chroma") and (kind not in ("openai", "sentence") or not model):
        choices = "hashed, chroma, openai:MODEL and sentence:MODEL"
        raise SettingsError(f"no embedding is called {brief_repr(name)}; there are {choices}")


def embed(texts: Sequence[str]) -> Vectors:
    """Embed texts by hashing word stems, stem pairs and words that hint at the SQL.

    float32 of shape (len(texts), 256); deterministic, whatever the process or machine.
    """
    return normalize_rows(_weigh_features(texts))


def _weigh_features(texts: Sequence[str]) -> Vectors:
    vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in zip(vectors, texts, strict=True):
        for feature, weight in _extract_text_features(text.lower()):
            place, sign = _hash_feature(feature)
            row[place] += sign * weight
    return vectors


HASHED = Embedding(f"hashed-{VERSION}-{DIMENSIONS}", _weigh_features)
"""The default embedding: hashed words, as in `embed`, without a model."""


def normalize_rows(vectors: Vectors) -> Vectors:
    """Scale each row of vectors to unit length; rows of zeros stay unchanged."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


_TOKEN = re.compile(r"#\w+|[^\W_]+(?:['’][^\W\d_]+)?|[^\w\s?.]|_")


def _extract_text_features(text: str) -> Iterator[tuple[str, float]]:
    tokens = _TOKEN.findall(text)
    stems = [stem_word(fold(token)) for token in tokens if token[0] != "#"]
    for word in stems:
        yield word, _WORD
    for left, right in pairwise(stems):
        yield f"{left} {right}", _PAIR
    for token in tokens:
        if token[0] == "#":
            yield token, _MARK
        elif token[0].isdigit() or len(token) > 3:
            yield f"{token[:3]}-", _AFFIX
            yield f"-{token[-3:]}", _AFFIX
    cue_names = {cue for word in stems for cue in _CUES_BY_STEM.get(word, ())}
    cues = sorted(cue_names | {"count"} if "how many" in text else cue_names)
    for cue in cues:
        yield f"#{cue}", _CUE
    for first, second in combinations(cues or ("", "none"), 2):
        yield f"#{first}+{second}", _CUES


@lru_cache(maxsize=200_000)
def _hash_feature(feature: str) -> tuple[int, float]:
    """Return the dimension and the sign that the hash of a feature gives."""
    code = int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return (code >> 1) % DIMENSIONS, 1.0 if code & 1 else -1.0


# Words that tell what SQL a question will become, by what they tell.
_WORDS_OF_CUE = {
    "highest": "most highest largest biggest greatest maximum max oldest longest latest newest heaviest best tallest "
    "richest dearest strongest fastest",
    "lowest": "least lowest smallest fewest minimum min youngest shortest earliest cheapest worst lightest slowest",
    "average": "average mean avg",
    "sum": "total sum combined overall altogether",
    "without": "not never no without except neither nor none cannot didn't don't doesn't isn't aren't wasn't haven't "
    "hasn't excluding other besides",
    "each": "each every per",
    "distinct": "different distinct unique",
    "over": "above over greater older higher larger longer exceeding exceeds after later",
    "under": "below under less fewer younger lower smaller shorter before earlier",
    "more": "more",
    "at-least": "least",
    "both": "both also",
    "or": "or either",
    "between": "between",
    "like": "contain containing substring start begin end include letter prefix",
    "order": "order sort ascending descending alphabetical alphabetically decreasing increasing rank",
    "descending": "descending decreasing reverse",
    "ascending": "ascending increasing alphabetical alphabetically lexicographic",
    "count": "number count",
    "top": "top",
}


_CUES_BY_STEM: dict[str, list[str]] = defaultdict(list)
"""What each word stem tells; a word may tell several things ("least": lowest, or at least)."""
for _cue, _words in _WORDS_OF_CUE.items():
    for _stem in dict.fromkeys(map(stem_word, _words.split())):
        _CUES_BY_STEM[_stem].append(_cue)
