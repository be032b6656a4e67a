"""Benches on stored replies: declines, disputed golds, and a judge.

    python -m tableturn.evals.lab bench declines --replies FILE --model openai:NAME --base-url URL

asks what FILE does not have yet and stores it as it comes; without `--model` only FILE is read. All questions are asked
at once, and each reply may take a day: people may answer. A run that was ended goes on where it was. Without
`--replies`, declines and a judge's verdicts are those that a strong model once said to these commands (`data`).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

from langchain_core.caches import RETURN_VAL_TYPE, InMemoryCache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation
from pandas import DataFrame

from tests.support.scripted import ScriptedModel

from ....agent.model.chat import PromptedTranslator
from ....agent.settings import Settings, make_settings
from ....prompts.judge import Word
from ....tools.errors import DatabaseUnavailable, ModelError, SettingsError
from ....tools.record_files import read_lines, read_records, read_text_file
from ...adjudication.judging import JudgeCase, compute_agreement, judge_cases
from ...adjudication.ruling import is_ruling_on, read_rulings
from ...datasets.load import LAYOUTS, Dataset, ExpectedOutcome, GoldTurn, Outcome, join_operators, load_dataset
from ...runner.agents import AgentAnswerer, open_model
from ...runner.record import TurnRecord
from ..disputes import GoldQueries, find_disputes, read_published_predictions
from ..suite.mutants import generate_query_mutants
from .registry import BenchOptions, Figures, Measure, Row, share, wrap_row

DATA = Path(__file__).parent / "data"
DECLINES = DATA / "decline_replies.jsonl"

LABELS = DATA / "decline_labels.jsonl"
"""The data's label says that the person who played the system could not answer, which says little of the database.

Here a reader says of each question so labelled whether the schema and the conversation hold an answer, and why; that
was read before any reply.
"""

QUESTIONS = 60
"""Of each sort of question that is or is not declined."""

SEED = 24

_SORTS: Mapping[str, Outcome] = {"unanswerable": "decline", "answerable": "answer"}

_DECLINING: Mapping[str, Any] = {
    "record": "off",
    "today": "none",
    "request_retries": 0,
    "turn_seconds": 86_000,
    "request_seconds": 3_600,
}
"""What a person is given, but for what would not be the same tomorrow; behind the server people may answer."""


class ReplyFileCache(InMemoryCache):
    """A cache of model replies in a JSONL file of `prompt` (a digest) and `reply`.

    `missed` are digests of requests that have no reply, neither stored nor asked for.

    Raises:
        SettingsError: The file is not in this form.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self.missed: set[str] = set()
        try:
            records: list[Any] = read_lines(read_text_file(path), path) if path.exists() else []
            for record in records:
                self._store_in_memory(str(record["prompt"]), str(record["reply"]))
        except (TypeError, KeyError) as error:
            raise SettingsError(f"{path} is not a file of stored replies: {error!r}") from error

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        key = _hash_prompt(prompt)
        found = super().lookup(key, "")
        if found is None:
            self.missed.add(key)
        return found

    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        """Store a reply to a prompt; the reply is on disk when this returns."""
        key, reply = _hash_prompt(prompt), return_val[0].text
        self._store_in_memory(key, reply)
        self.missed.discard(key)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"prompt": key, "reply": reply}) + "\n")

    def _store_in_memory(self, key: str, reply: str) -> None:
        super().update(key, "", [ChatGeneration(message=AIMessage(reply))])


def _hash_prompt(prompt: str) -> str:
    messages: list[dict[str, Any]] = json.loads(prompt)
    said = [(message["id"][-1], message["kwargs"]["content"]) for message in messages]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]


def open_stored_model(
    replies: Path | None, model: str | None, base_url: str | None, seconds: float = 3_600
) -> BaseChatModel:
    """Return a chat model with stored replies; `model`, if given, writes the missing ones.

    Args:
        replies: The file; it is made if there is none and somebody is asked.
        model: Whom to ask; None asks nobody.
        base_url: Of an OpenAI-compatible server.
        seconds: How long one reply may take: people may answer.

    Raises:
        SettingsError: There is no file to read, or it is damaged.
        ModelError: The model cannot be set up.
    """
    if replies is None or (model is None and not replies.exists()):
        raise SettingsError("this figure needs stored replies: pass --replies FILE, and --model to create the file")
    cache = ReplyFileCache(replies)
    nobody = ScriptedModel(
        script=lambda prompt: ModelError("a reply is not stored: pass --model, and --base-url, to ask for it"),
        cache=cache,
    )
    if model is None:
        return nobody
    return open_model(model, base_url, Settings(request_seconds=seconds, request_retries=0), cache) or nobody


def check_all_replies_stored(model: BaseChatModel) -> None:
    """Raise an error if any reply is missing, because later replies would differ."""
    if isinstance(model.cache, ReplyFileCache) and model.cache.missed:
        raise ModelError(
            f"{len(model.cache.missed)} requests got no reply: pass --model, and --base-url, to ask for them, or run "
            "again; what is stored is not asked for a second time"
        )


def _answer_sampled_questions(options: BenchOptions) -> Iterator[Row]:
    """Yield whether each question is declined, with its kind and a reader's judgement of it.

    Raises:
        ModelError: A question could not be asked.
    """
    dataset = read_dialogue_acts(options.folder)
    count = min(options.limit or QUESTIONS, QUESTIONS)
    sorts = {sort: sample_questions(dataset, outcome, count) for sort, outcome in _SORTS.items()}
    model = open_stored_model(options.replies or DECLINES, options.model, options.base_url)
    records = asyncio.run(_answer_turns(dataset, model, [turn for turns in sorts.values() for turn in turns]))
    check_all_replies_stored(model)
    labels: list[Any] = read_records(LABELS)
    verdicts = {label["question"]: label["verdict"] for label in labels}
    for sort, turns in sorts.items():
        for turn in turns:
            declined = records[turn.id].status == "unanswerable"
            yield {"sort": sort, "verdict": verdicts.get(turn.id), "declined": declined}


def _compute_declined_shares(table: DataFrame) -> Figures:
    """Return how often answerable and unanswerable questions are declined.

    `unanswerable_verified` are those of `unanswerable` that a reader finds to be so, `unanswerable_doubted` those that
    the reader finds an answer to.
    """
    sorts = {sort: table[table["sort"] == sort] for sort in _SORTS}
    for verdict, sort in (("unanswerable", "unanswerable_verified"), ("answerable", "unanswerable_doubted")):
        sorts[sort] = sorts["unanswerable"][sorts["unanswerable"]["verdict"] == verdict]
    shares = {sort: share(rows["declined"]) if len(rows) else None for sort, rows in sorts.items()}
    return {sort: {"n": len(sorts[sort]), "declined": declined} for sort, declined in shares.items()}


measure_declines = Measure(_answer_sampled_questions, wrap_row, _compute_declined_shares)


def read_dialogue_acts(folder: Path) -> Dataset:
    """Return CoSQL training turns whose dialogue acts show whether to answer, ask or decline.

    Thanks and greetings, and turns whose acts contradict each other, are left out.
    """
    path = folder / "cosql" / "dialogues_train.json"
    questions: list[GoldTurn] = []
    for number, record in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        turns, place, turn = record["turns"], 0, 0
        while place + 1 < len(turns):
            said, reply, *following = turns[place : place + 4]
            place += 1
            acts = said.get("type"), reply.get("label")
            answer, outcome = reply, None
            if acts in (("INFORM_SQL", "CONFIRM_SQL"), ("INFER_SQL", "CONFIRM_SQL")):
                outcome = "answer"
            elif acts[0] == "CANNOT_ANSWER" and acts[1] in ("REJECT", "SORRY", "CANNOT_UNDERSTAND"):
                outcome = "decline"
            elif acts == ("AMBIGUOUS", "CLARIFY") and len(following) == 2 and following[0]["isUser"]:
                outcome, answer = "ask_back", following[1]
                if reply.get("query") or answer.get("label") != "CONFIRM_SQL":
                    continue
            gold = str(answer.get("query") or "").strip()
            if not said["isUser"] or reply["isUser"] or outcome is None or bool(gold) == (outcome == "decline"):
                continue
            turn += 1
            # The reply to what was asked back belongs to the same turn.
            place += 2 if outcome == "ask_back" else 0
            golds = (join_operators(gold),) if gold else ()
            name, text, expects = f"{number}.{turn}", str(said["text"]).strip(), ExpectedOutcome(outcome)
            questions.append(GoldTurn(name, record["db_name"], text, golds, str(number), turn, expects=expects))
    return Dataset("cosql-acts", "train", tuple(questions), LAYOUTS["cosql"].paths("databases", folder), root=folder)


def sample_questions(dataset: Dataset, outcome: Outcome, count: int) -> list[GoldTurn]:
    """Return `count` questions with an outcome, one per database in turn, by a fixed seed."""
    order = random.Random(SEED)  # noqa: S311 - a sample, not a secret
    by_database: dict[str, list[GoldTurn]] = {}
    for question in dataset.questions:
        if question.expects is not None and question.expects.outcome == outcome:
            by_database.setdefault(question.database, []).append(question)
    databases: list[str] = []
    for name in sorted(by_database):
        try:
            dataset.find_file(name)
            databases.append(name)
        except DatabaseUnavailable:
            continue
    order.shuffle(databases)
    for name in databases:
        order.shuffle(by_database[name])
    rounds = zip_longest(*(by_database[name] for name in databases))
    return list(islice((question for each in rounds for question in each if question is not None), count))


async def _answer_turns(dataset: Dataset, model: BaseChatModel, asked: Sequence[GoldTurn]) -> Mapping[str, TurnRecord]:
    """Answer each turn after the gold queries of earlier turns; return records by question id."""
    interactions = {turns[0].interaction: turns for turns in dataset.interactions}

    async def answer_turn(turn: GoldTurn) -> TurnRecord:
        turns = interactions[turn.interaction]
        others = {other.id: TurnRecord(other.id, "", "") for other in turns if other.id != turn.id}
        (record,) = [record async for record in answering.answer(turns, others)]
        return record

    with closing(AgentAnswerer(dataset, model, make_settings(_DECLINING), "gold")) as answering:
        return {record.id: record for record in await asyncio.gather(*map(answer_turn, asked))}


SPLITS = {"spider": "dev", "sparc": "dev", "cosql": "dev", "kaggle-dbqa": "test"}
"""What the disputes and the verdicts are of."""

MUTATED = (("spider", "train"), ("cosql", "train"))
"""What the mutants are made of, half of each: single questions, and turns of conversations."""

STORED = DATA / "judge_replies.jsonl"

REVIEWED = DATA / "reviewed_disputes.jsonl"
"""Whether a reader found listed golds sound: a sample drawn with a fixed seed."""

MUTANTS = 100
MUTANT_SEED = 16
_AT_ONCE = 256
"""Cases at once: a server behind which people answer is given all of them."""

_FAIR = ("LEFT JOIN", "DISTINCT")
"""Changes that a fair reading may make, too."""


def _find_disputed_golds(options: BenchOptions) -> Iterator[Row]:
    """Yield the kinds of disputes of each gold query, with readers' verdicts if there are any."""
    verdicts = options.folder / "strong_model" / "verdicts.jsonl"
    rulings = read_rulings(verdicts) if verdicts.exists() else []
    reviewed: list[Any] = read_records(REVIEWED)
    sound = {(one["dataset"], one["split"], one["id"]): one["sound"] for one in reviewed}
    for name, split in SPLITS.items():
        whole = load_dataset(name, split, options.folder)
        asked = whole.head(options.limit)
        kinds: dict[str, set[str]] = defaultdict(set)
        for dispute in find_disputes(asked, rulings, read_published_predictions(options.folder, whole)):
            kinds[dispute.question.id].add(dispute.kind)
        for question in asked.questions:
            yield {"set": name, "kinds": kinds[question.id], "sound": sound.get((name, split, question.id))}


def _count_disputes(table: DataFrame) -> Figures:
    """Return the numbers of gold queries, disputed ones and reviewed ones by dataset.

    Of 50 golds that were drawn from all that were listed, `sample` counts those still listed, and `sound_in_sample`
    those of them that a reader of question, query and data finds nothing wrong with.
    """
    figures: Figures = {}
    for name, rows in table.groupby("set", sort=False):
        disputed = rows[rows["kinds"].astype(bool)]
        figures[str(name)] = {
            "golds": len(rows),
            "disputed": len(disputed),
            "kinds": dict(sorted(Counter(chain(*disputed["kinds"])).items())),
            "sample": disputed["sound"].notna().sum(),
            "sound_in_sample": disputed["sound"].eq(True).sum(),
        }
    return figures


measure_disputes = Measure(_find_disputed_golds, wrap_row, _count_disputes)


@dataclass(frozen=True)
class LabelledCase:
    """A judged case with its known verdict, and the part of the benchmark that it belongs to."""

    part: str
    dataset: Dataset
    case: JudgeCase
    verdict: Word


def read_verdict_cases(data: Path) -> Iterator[LabelledCase]:
    """Yield a strong model's answers that do not match gold, with a reader's verdicts.

    Raises:
        SettingsError: A verdict is not on any question of its dataset.
    """
    rulings = read_rulings(data / "strong_model" / "verdicts.jsonl")
    for name, split in SPLITS.items():
        dataset = load_dataset(name, split, data)
        for ruling in (ruling for ruling in rulings if ruling.dataset == name):
            question = next((one for one in dataset.questions if is_ruling_on(ruling, one, dataset)), None)
            if question is None:
                raise SettingsError(f"no question of {name} {split} is {ruling.question!r} with that gold")
            yield LabelledCase("verdicts", dataset, JudgeCase(question, ruling.sql, ruling.gold), ruling.verdict)


def make_mutant_cases(data: Path) -> Iterator[LabelledCase]:
    """Yield gold queries with one change that changes the result, as wrong answers."""
    for name, split in MUTATED:
        dataset = load_dataset(name, split, data)
        questions = list(dataset.questions)
        random.Random(MUTANT_SEED).shuffle(questions)  # noqa: S311 - a sample, not a secret
        with GoldQueries(dataset) as golds:
            changed = ((question, sql) for question in questions if (sql := _make_wrong_mutant(golds, question)))
            for question, sql in islice(changed, MUTANTS // len(MUTATED)):
                yield LabelledCase("mutants", dataset, JudgeCase(question, sql, question.golds[0]), "wrong")


def _make_wrong_mutant(golds: GoldQueries, question: GoldTurn) -> str:
    """Return a mutant of the gold query that gives another result; empty if there is none."""
    schema = golds.schema(question.database)
    found = generate_query_mutants(question.golds[0], schema) if schema is not None else []
    random.Random(f"{MUTANT_SEED} {question.id}").shuffle(found)  # noqa: S311
    gold = question.golds[0].upper()
    fair = (sql for sql in found if all(sql.upper().count(word) == gold.count(word) for word in _FAIR))
    return next((sql for sql in fair if golds.contradicts_gold(question, sql)), "")


def _judge_labelled_cases(options: BenchOptions) -> Iterator[Row]:
    """Yield the known verdicts on cases, and the judge's.

    Raises:
        ModelError: A case could not be asked.
    """
    labelled = [
        one for cases in (read_verdict_cases, make_mutant_cases) for one in islice(cases(options.folder), options.limit)
    ]
    model = open_stored_model(options.replies or STORED, options.model, options.base_url)
    said: dict[JudgeCase, Word] = {}
    for dataset in {one.dataset.name + one.dataset.split: one.dataset for one in labelled}.values():
        cases = list(dict.fromkeys(one.case for one in labelled if one.dataset is dataset))
        judge_cases(
            cases, dataset, PromptedTranslator(model), lambda c, a, _: said.setdefault(c, a.verdict), jobs=_AT_ONCE
        )
        check_all_replies_stored(model)
    yield from ({"part": one.part, "verdict": one.verdict, "said": said[one.case]} for one in labelled)


def _compute_agreement(table: DataFrame) -> Figures:
    """Return how often the judge agrees with known verdicts, over all cases and per part."""
    figures: dict[str, Figures] = {}
    for name in ("", "verdicts", "mutants"):
        rows = table[table["part"] == name] if name else table
        found = compute_agreement(list(zip(rows["verdict"], rows["said"], strict=True)))
        figures[name] = {key: round(v, 4) if isinstance(v, float) else v for key, v in asdict(found).items()}
    return {**figures.pop(""), **figures}


measure_judge_agreement = Measure(_judge_labelled_cases, wrap_row, _compute_agreement)
