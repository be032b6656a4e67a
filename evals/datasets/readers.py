"""Readers of the published file formats, one function each: parsed JSON in, questions out.

A record that lacks a field raises KeyError; `load_dataset` says which file it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ..official.execution import whole_operators
from .question import Question

Records: TypeAlias = Sequence[Mapping[str, Any]]


def spider(records: Records) -> list[Question]:
    """Spider, Spider-DK and Spider-Realistic."""
    return _single(records, "question")


def spider_syn(records: Records) -> list[Question]:
    """Spider-Syn: the question with synonyms; the original one is Spider's."""
    return _single(records, "SpiderSynQuestion")


def interactions(records: Records) -> list[Question]:
    """SParC and CoSQL."""
    return [
        Question(
            id=f"{number}.{turn}",
            database=record["database_id"],
            text=entry["utterance"],
            golds=(whole_operators(entry["query"]),),
            interaction=str(number),
            turn=turn,
        )
        for number, record in enumerate(records)
        for turn, entry in enumerate(record["interaction"], 1)
    ]


def bird(records: Records) -> list[Question]:
    """BIRD dev and mini-dev, with evidence and BIRD's own difficulty."""
    return [
        Question(
            id=str(record.get("question_id", number)),
            database=record["db_id"],
            text=record["question"],
            golds=(record["SQL"],),
            interaction=str(record.get("question_id", number)),
            evidence=record.get("evidence", ""),
            level=record.get("difficulty", ""),
        )
        for number, record in enumerate(records)
    ]


def _single(records: Records, question: str) -> list[Question]:
    return [
        Question(str(number), record["db_id"], record[question], (record["query"],), interaction=str(number))
        for number, record in enumerate(records)
    ]
