"""Embeddings other than the default: an OpenAI-compatible server's, and Chroma's own model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..errors import ExampleStoreError, SettingsError
from .embedding import Embedding, HashedEmbedding, Vectors, unit
from .messages import brief_repr, one_line

_BATCH = 256


class OpenAIEmbedding:
    """A model of an OpenAI-compatible server, by the `openai` library's own settings (`OPENAI_API_KEY`, base URL)."""

    def __init__(self, model: str, *, base_url: str | None = None, api_key: str | None = None) -> None:
        """Prepares the client; nothing is sent yet.

        Args:
            model: Such as `text-embedding-3-small`.
            base_url: The server; the environment's `OPENAI_BASE_URL` or OpenAI's own if None.
            api_key: Its key; `OPENAI_API_KEY` if None.

        Raises:
            ExampleStoreError: There is no key.
        """
        from openai import OpenAI, OpenAIError

        self.name = f"openai-{model}"
        self._model = model
        try:
            self._client = OpenAI(base_url=base_url, api_key=api_key)
        except OpenAIError as error:
            raise ExampleStoreError(f"the embedding {brief_repr(model)} cannot be used: {one_line(error)}") from None

    def close(self) -> None:
        """Closes the client's connections."""
        self._client.close()

    def __enter__(self) -> OpenAIEmbedding:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """See `Embedding`.

        Raises:
            ExampleStoreError: The server cannot be reached, refuses, or answers with what are no vectors.
        """
        try:
            parts = [self._embedded(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
            return unit(np.concatenate(parts)) if parts else np.zeros((0, 1), dtype=np.float32)
        except Exception as error:  # an answer of another form breaks the library's own reading at any place
            raise ExampleStoreError(f"the embedding {brief_repr(self._model)} failed: {one_line(error)}") from error

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        """As the server gives them.

        Raises:
            ValueError: They are not as many as the texts, not numbers, or not equally long.
        """
        answer = self._client.embeddings.create(model=self._model, input=[text or " " for text in texts])
        vectors = np.asarray([item.embedding for item in answer.data], dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.size or not np.isfinite(vectors).all():
            raise ValueError(f"the answer does not hold {len(texts)} equally long vectors of numbers")
        return vectors


class ChromaEmbedding:
    """Chroma's own sentence model (all-MiniLM-L6-v2). Chroma downloads it, about 80 MB, when it is first used."""

    name = "chroma-all-MiniLM-L6-v2"

    def __init__(self) -> None:
        from chromadb.utils.embedding_functions import DefaultEmbeddingFunction

        self._embed = cast(Callable[[list[str]], Any], DefaultEmbeddingFunction())

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """See `Embedding`.

        Raises:
            ExampleStoreError: The model is not there and cannot be downloaded.
        """
        try:
            return unit(np.asarray(self._embed(list(texts)), dtype=np.float32))
        except Exception as error:
            raise ExampleStoreError(f"Chroma's embedding model cannot be used: {one_line(error)}") from error


class SentenceEmbedding:
    """A sentence model on this machine, by the library sentence-transformers (SBERT; an extra)."""

    def __init__(self, model: str) -> None:
        """Loads the model.

        Args:
            model: A folder, or a name that the library knows, which it downloads where it is not there yet.

        Raises:
            ExampleStoreError: The library or the model is not there.
        """
        try:
            library: Any = import_module("sentence_transformers")
        except ImportError:
            raise ExampleStoreError(
                "a sentence model needs the extra `sentence`: pip install 'tableturn[sentence]'"
            ) from None
        folder = Path(model)
        # The same model under another path is the same: its folder's name tells it from others.
        self.name = f"sentence-{folder.resolve().name if folder.is_dir() else model}"
        try:
            self._model = library.SentenceTransformer(model, device="cpu")
        except Exception as error:  # whatever the library stumbles over in a model's files
            raise ExampleStoreError(
                f"the sentence model {brief_repr(model)} cannot be used: {one_line(error)}"
            ) from error

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """See `Embedding`."""
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        found = self._model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
        return unit(np.asarray(found, dtype=np.float32))


@lru_cache(maxsize=2)
def _sentence(model: str) -> SentenceEmbedding:
    return SentenceEmbedding(model)


def make_embedding(name: str) -> Embedding:
    """An embedding by its setting: `hashed`, `chroma`, `openai:MODEL` or `sentence:MODEL`.

    Raises:
        SettingsError: There is none of that name.
        ExampleStoreError: It cannot be used.
    """
    if name == "hashed":
        return HashedEmbedding()
    if name == "chroma":
        return ChromaEmbedding()
    kind, _, model = name.partition(":")
    if kind == "openai" and model:
        return OpenAIEmbedding(model)
    if kind == "sentence" and model:
        return _sentence(model)
    known = "hashed, chroma, openai:MODEL and sentence:MODEL"
    raise SettingsError(f"no embedding is called {brief_repr(name)}; there are {known}")
