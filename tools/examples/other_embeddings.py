"""Embeddings other than the default: an OpenAI-compatible server's, and Chroma's own model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ..errors import ExampleStoreError, SettingsError
from .embedding import Embedding, HashedEmbedding, Vectors

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
            raise ExampleStoreError(f"the embedding {model!r} cannot be used: {error}") from None

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
            ExampleStoreError: The server cannot be reached or refuses.
        """
        from openai import OpenAIError

        rows: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            part = [text or " " for text in texts[start : start + _BATCH]]
            try:
                answer = self._client.embeddings.create(model=self._model, input=part)
            except OpenAIError as error:
                raise ExampleStoreError(f"the embedding {self._model!r} failed: {error}") from None
            rows += [item.embedding for item in answer.data]
        return _unit(np.asarray(rows, dtype=np.float32))


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
            return _unit(np.asarray(self._embed(list(texts)), dtype=np.float32))
        except Exception as error:
            raise ExampleStoreError(f"Chroma's embedding model cannot be used: {error}") from error


def make_embedding(name: str) -> Embedding:
    """An embedding by its setting: `hashed`, `chroma`, or `openai:MODEL`.

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
    raise SettingsError(f"no embedding is called {name!r}; there are hashed, chroma and openai:MODEL")


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
