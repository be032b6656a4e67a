"""Datasets by name, from the files as they are published, all through one interface.

A reader takes parsed JSON; a record that lacks a field raises KeyError, and `load_dataset` says which file it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias, cast

from ...tools.errors import SettingsError
from ...tools.record_files import read_json
from ..official.execution import whole_operators
from .plain import SUFFIXES, read_plain
from .question import Dataset, Expects, Question

Records: TypeAlias = Sequence[Mapping[str, Any]]


def single(question: str, records: Records) -> list[Question]:
    """Spider and its variants; `question` names the field that is asked."""
    return [
        Question(str(number), record["db_id"], record[question], (record["query"],), interaction=str(number))
        for number, record in enumerate(records)
    ]


spider = partial(single, "question")


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


_DECLINING = ("REJECT", "SORRY", "CANNOT_UNDERSTAND")
_YES = re.compile(r"\s*(yes|yeah|yep|yup|sure|correct|right|exactly|ok(ay)?)\b[\s.,!:;-]*", re.IGNORECASE)
_OFFER = re.compile(
    r"^.*?\b(?:(?:do|did|would) you (?:mean|want|like|need)|you mean|are you asking)\b[\s:,]*(?:to (?:know|see)\b\s*)?",
    re.IGNORECASE | re.DOTALL,
)
_FEW_WORDS = 3
"""A reply of so many words after its "yes" says nothing of its own."""


def acts(records: Records) -> list[Question]:
    """Questions of the dialogues whose acts say what was right, in their order.

    A turn that was asked back about carries what its asker meant and the query of the answer that followed; thanks and
    greetings, and turns whose acts contradict each other, are left out.
    """
    return [question for number, record in enumerate(records) for question in _dialogue(str(number), record)]


def _dialogue(number: str, record: Mapping[str, Any]) -> Iterator[Question]:
    turns: Sequence[Mapping[str, Any]] = record["turns"]
    place = turn = 0
    while place + 1 < len(turns):
        said, reply = turns[place], turns[place + 1]
        place += 1
        if not said["isUser"] or reply["isUser"]:
            continue
        found = _expected(said, reply, turns[place + 1 : place + 3])
        if found is None:
            continue
        expects, gold = found
        turn += 1
        # The reply to what was asked back belongs to the same turn.
        place += 2 if expects.outcome == "ask_back" else 0
        golds = (whole_operators(gold),) if gold else ()
        yield Question(
            f"{number}.{turn}", record["db_name"], str(said["text"]).strip(), golds, number, turn, expects=expects
        )


def _expected(
    said: Mapping[str, Any], reply: Mapping[str, Any], following: Sequence[Mapping[str, Any]]
) -> tuple[Expects, str] | None:
    """What a turn expects, and its gold query; None where its acts do not tell."""
    kind, label, query = said["type"], reply.get("label"), str(reply.get("query") or "").strip()
    if kind in ("INFORM_SQL", "INFER_SQL") and label == "CONFIRM_SQL" and query:
        return Expects("answer"), query
    if kind == "CANNOT_ANSWER" and label in _DECLINING and not query:
        return Expects("decline"), ""
    if kind == "AMBIGUOUS" and label == "CLARIFY" and not query and len(following) == 2:
        told, answer = following
        gold = str(answer.get("query") or "").strip()
        if told["isUser"] and not answer["isUser"] and gold and answer.get("label") == "CONFIRM_SQL":
            return Expects("ask_back", _meant(str(reply["text"]), str(told["text"]))), gold
    return None


def _meant(asked: str, told: str) -> str:
    """What the person meant: their own words, or what was offered where they only agreed."""
    told = told.strip()
    agreed = _YES.match(told)
    if agreed and len(told[agreed.end() :].split()) <= _FEW_WORDS:
        return _OFFER.sub("", asked.strip()).rstrip("?. ") or told
    return told


_SPIDER = ("spider", "spider_data")


@dataclass(frozen=True)
class Layout:
    """Where a published dataset keeps its files.

    Attributes:
        folders: Names that its folder goes by; the first that exists counts.
        splits: Files by split, relative to the folder; the first that exists counts.
        read: Reader of these files.
        databases: Folders of databases within the folder.
        tables: Files of schemas within the folder.
        shared: Whether Spider's databases and schemas serve it too.
        published: Whether its questions are as published, and so worth checking; not where we make them of other files.
    """

    folders: tuple[str, ...]
    splits: Mapping[str, tuple[str, ...]]
    read: Callable[[Records], list[Question]]
    databases: tuple[str, ...] = ("database", "test_database")
    tables: tuple[str, ...] = ("tables.json",)
    shared: bool = True
    published: bool = True


LAYOUTS: Mapping[str, Layout] = {
    "spider": Layout(
        _SPIDER,
        {
            "dev": ("dev.json",),
            "train": ("train_spider.json",),
            "train_others": ("train_others.json",),
            "test": ("test.json",),
        },
        spider,
        tables=("tables.json", "test_tables.json"),
    ),
    "spider-syn": Layout(
        ("spider-syn", "Spider-Syn"),
        {"dev": ("dev.json", "dev_syn.json"), "train": ("train_spider.json",)},
        partial(single, "SpiderSynQuestion"),
    ),
    "spider-dk": Layout(("spider-dk", "Spider-DK"), {"dev": ("Spider-DK.json",)}, spider),
    "spider-realistic": Layout(
        ("spider-realistic", "Spider-Realistic", "spider_realistic"),
        {"dev": ("spider-realistic.json",)},
        spider,
    ),
    "sparc": Layout(("sparc",), {"dev": ("dev.json",), "train": ("train.json",)}, interactions),
    "cosql": Layout(
        ("cosql", "cosql_dataset"),
        {
            "dev": ("dev.json", "sql_state_tracking/cosql_dev.json"),
            "train": ("train.json", "sql_state_tracking/cosql_train.json"),
        },
        interactions,
    ),
    "cosql-acts": Layout(("cosql", "cosql_dataset"), {"train": ("dialogues_train.json",)}, acts, published=False),
    "bird": Layout(
        ("bird", "dev", "mini_dev_data"),
        {"dev": ("dev.json",), "mini_dev": ("mini_dev_sqlite.json",), "train": ("train.json",)},
        bird,
        databases=("dev_databases", "train_databases", "database"),
        tables=("dev_tables.json", "train_tables.json"),
        shared=False,
    ),
    "kaggle-dbqa": Layout(
        ("kaggle-dbqa", "KaggleDBQA"),
        {"test": ("test.json",), "fewshot": ("fewshot.json",)},
        spider,
        databases=("database", "databases"),
        shared=False,
    ),
}


OWN_SPLITS = ("dev", "all")
"""What a file of one's own may be asked for: what commands take for granted, and its only part."""


def load_dataset(name: str, split: str, root: Path | None) -> Dataset:
    """Loads one split.

    Args:
        name: One of `LAYOUTS`, or the path of a file of one's own questions (`read_plain`).
        split: One of its layout's; a file of one's own has none, so that the usual one is passed over there.
        root: The folder that holds the datasets' folders (`TABLETURN_DATA`), or a dataset's folder itself.

    Raises:
        SettingsError: There is no such dataset, split or file, or it is not in its published format.
    """
    if Path(name).suffix in SUFFIXES:
        if split not in OWN_SPLITS:
            raise SettingsError(f"{name} is a file of one's own questions, without splits: leave --split {split} out")
        return read_plain(Path(name))
    layout = LAYOUTS.get(name)
    if layout is None:
        known = ", ".join(LAYOUTS)
        raise SettingsError(f"no dataset is called {name!r}; known: {known}, or a file of one's own questions")
    if root is None:
        raise SettingsError(f"dataset {name!r}: set TABLETURN_DATA to the folder of benchmark data, or pass --data")
    if split not in layout.splits:
        raise SettingsError(f"dataset {name!r} has no split {split!r}; known: {', '.join(layout.splits)}")
    path = find_split(layout, split, root)
    if path is None:
        looked = " or ".join(layout.splits[split])
        raise SettingsError(f"dataset {name!r}: no {looked} in {' or '.join(layout.folders)} below {root}")
    questions = _with_disputes(f"{name}/{split}", _read(layout, path))
    return Dataset(name, split, questions, _shared(layout, root, "databases"), _shared(layout, root, "tables"), root)


def find_split(layout: Layout, split: str, root: Path) -> Path | None:
    """The file of a split; None if there is none."""
    candidates = [folder / file for folder in _folders(layout, root) for file in layout.splits[split]]
    return next((path for path in candidates if path.is_file()), None)


def _folders(layout: Layout, root: Path) -> list[Path]:
    named = [root / folder for folder in layout.folders]
    return [*named, root] if root.name in layout.folders else named


def _shared(layout: Layout, root: Path, kind: str) -> tuple[Path, ...]:
    """The folders or files of a kind that exist: the dataset's own first, then Spider's where those serve it."""
    found = [folder / part for folder in _folders(layout, root) for part in getattr(layout, kind)]
    if layout.shared:
        spider = LAYOUTS["spider"]
        roots = (root, root.parent) if root.name in layout.folders else (root,)
        found += [base / folder / part for base in roots for folder in _SPIDER for part in getattr(spider, kind)]
    return tuple(dict.fromkeys(path for path in found if path.exists()))


def _read(layout: Layout, path: Path) -> tuple[Question, ...]:
    try:
        return tuple(layout.read(cast("Records", read_json(path.read_text(encoding="utf-8")))))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise SettingsError(f"{path} is not in its published format: {error!r}") from error


def _with_disputes(place: str, questions: tuple[Question, ...]) -> tuple[Question, ...]:
    """Marks the questions whose gold is known to be doubtful; disputed.json gives the reasons by question id."""
    text = (files("tableturn.evals.datasets") / "disputed.json").read_text(encoding="utf-8")
    reasons = cast("dict[str, dict[str, str]]", json.loads(text)).get(place, {})
    return tuple(
        replace(question, disputed=reasons[question.id]) if question.id in reasons else question
        for question in questions
    )
