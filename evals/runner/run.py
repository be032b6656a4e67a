"""A run: interactions side by side, their turns in order, and a journal to resume from."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar

from langchain_core.caches import BaseCache
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ...agent import Settings, make_settings
from ...agent.records import make_plain_result
from ...agent.settings import uses_code_result
from ...tools.errors import DatabaseUnavailable, ModelError, QueryError, SettingsError, TableturnError
from ...tools.record_files import read_file
from ...tools.terminal import warn
from ...tools.whole_files import write_text_atomically
from ..datasets.load import ClosingContext, Dataset, GoldTurn, SingleDatabaseCache, parse_record
from ..metrics.judging import UNREACHABLE, StrictJudge, Verdict
from ..metrics.summary import format_percent
from .agents import CACHE_FILE, REPLAY_SETTINGS, AgentAnswerer, ReplyCache, make_replay_model, open_model
from .record import NOT_ASKED, REPLAY, Answerer, RunSpec, TurnRecord, is_replay_model
from .results import HISTORY_FILE, RESULTS_FILE, JudgedAnswer, read_results

T = TypeVar("T")

SPEC_FILE, JOURNAL_FILE = "run.json", "journal.jsonl"

# Beside the keys of `RunSpec`: the questions' hash, and the folder that paths start from.
_DIGEST, _FOLDER = "questions", "folder"

Engine = Literal["local", "ray"]  # where questions are answered: in this process, or on a Ray cluster

Listener = Callable[[TurnRecord, Verdict], None]
"""A function that is told about each question as it is answered and judged."""

GIVE_UP_AFTER = 8  # questions in a row that cannot be asked before a run stops: a server is down, or the key is wrong


class RunStopped(TableturnError):
    """A run cannot continue now. Its answers are saved; starting it again continues from there.

    What to do: fix the problem that the message names, and run the same command again.
    """


class RunJournal(ClosingContext):
    """A file of turn records by question id; records with an answer are in memory, too."""

    def __init__(self, path: Path) -> None:
        self._path = path
        latest = read_journal(path)
        self.records = {name: record for name, record in latest.items() if record.was_asked}
        self.unasked_ids = latest.keys() - self.records.keys()
        self._file = path.open("ab")
        try:
            import fcntl

            fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # not a POSIX system: no lock
            pass
        except OSError as error:
            self._file.close()
            raise SettingsError(f"{path} is in use by another run: name another folder with --out") from error
        # A line that a killed run left half written is cut off; its question is asked again.
        self._file.truncate(len(_read_whole_lines(path)))

    def close(self) -> None:
        """Close the file, and release the file's lock."""
        self._file.close()

    def append(self, record: TurnRecord) -> None:
        """Append a record; the record is on disk when this returns."""
        if record.id in self.records:
            raise SettingsError(f"{self._path}: question {record.id} was answered twice")
        self._file.write(json.dumps(asdict(record)).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        if record.was_asked:
            self.records[record.id] = record


def read_journal(path: Path) -> dict[str, TurnRecord]:
    """Return the last record of each question, or {} if there is no file."""
    records: dict[str, TurnRecord] = {}
    for number, line in enumerate(_read_whole_lines(path).splitlines(), 1):
        record = parse_record(TurnRecord, line, f"{path}, line {number}: not a record of a run")
        records[record.id] = record
    return records


def _read_whole_lines(path: Path) -> bytes:
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1]


_ONE_REQUEST: Mapping[str, Any] = {
    "rephrase": "never",
    "simplify": False,
    "reason": "off",
    "values": 0,
    "base_sql": False,
    "candidates": 1,
    "max_attempts": 1,
}

BASELINES: Mapping[str, Mapping[str, Any]] = {
    "zero-shot": {**_ONE_REQUEST, "examples": "none"},
    "random-examples": {**_ONE_REQUEST, "examples": "random"},
    "random-dialogues": {},
    "langchain": {},
}
"""The agent's settings that make each baseline; the run's own settings override them.

Of one without any, a class of `baselines` answers instead.
"""
_ANSWERING = {"random-dialogues": "RandomDialoguesBaseline", "langchain": "LangChainAgent"}


def make_run_settings(spec: RunSpec, dataset: Dataset) -> Settings:
    """Return the settings of a run: the preset with the run's own fields.

    No question is asked back unless the dataset says what its asker means; papers' presets ask nobody back even so.
    """
    # The ledger of rows changes no query, and would take up to a second of each question.
    fields: dict[str, Any] = {"today": "none", "record": "off", "trust": "off", "ledger": "off"}
    if not dataset.is_conversational:
        fields["clarify"] = False
    if spec.preset in (None, "full"):
        fields["conventions"] = "benchmark"
    if spec.baseline is not None:
        if spec.baseline not in BASELINES:
            raise SettingsError(f"unknown baseline {spec.baseline!r}; known: {', '.join(BASELINES)}")
        fields |= BASELINES[spec.baseline]
    fields |= spec.settings
    if is_replay_model(spec.model):
        # A model that describes schemas can be asked beside replayed queries.
        fields |= {name: value for name, value in REPLAY_SETTINGS.items() if name != "annotate" or not spec.annotator}
    return make_settings(fields, preset=spec.preset)


def make_answerer(spec: RunSpec, dataset: Dataset, cache: BaseCache, annotations: Path | None = None) -> Answerer:
    """Return the agent or baseline that answers a run's questions."""
    settings = make_run_settings(spec, dataset)
    if is_replay_model(spec.model):
        model = make_replay_model(spec, dataset)
    else:
        model = open_model(spec.model, spec.base_url, settings, cache)
    baseline: Callable[..., Answerer] | None = None
    if name := _ANSWERING.get(spec.baseline or ""):
        baseline = getattr(import_module(f"..baselines.{spec.baseline}".replace("-", "_"), __package__), name)
    if spec.baseline and model is None:
        # The built-in translator reads neither prompts nor examples: baselines would differ in name only.
        raise ModelError(f"the baseline {spec.baseline} needs a chat model: pass --model")
    if baseline is not None:
        return baseline(dataset, model, settings, spec.history)
    annotator = open_model(spec.annotator, None, settings, cache) or "offline" if spec.annotator else None
    return AgentAnswerer(
        dataset, model or "offline", settings, spec.history, spec.examples, spec.embedding, annotator, annotations
    )


@contextmanager
def _start_local(spec: RunSpec, dataset: Dataset, out: Path, _: int, annotations: Path | None) -> Generator[Answerer]:
    """Yield an answerer that runs in this process."""
    with (
        closing(ReplyCache(out / CACHE_FILE)) as cache,
        closing(make_answerer(spec, dataset, cache, annotations)) as answering,
    ):
        yield answering


def check_output_folder(spec: RunSpec, dataset: Dataset, part: Dataset, out: Path) -> None:
    """Create a run's folder, or check that it is empty or has the same run."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not (path := out / SPEC_FILE).exists():
            is_run = (out / RESULTS_FILE).exists() and "questions" in read_results(out)  # trials end without that file
            for name in () if is_run else (RESULTS_FILE, HISTORY_FILE, "report.html"):
                if (out / name).exists():
                    raise SettingsError(f"{out / name} is not a run's: name another folder with --out")
            return
    except OSError as error:
        reason = "it is a file, not a folder" if out.is_file() else error.strerror
        raise SettingsError(f"{out} cannot be used for a run: {reason}") from error
    old_spec = parse_record(dict[str, Any], read_file(path), str(path))
    old_digest, folder = old_spec.pop(_DIGEST, None), old_spec.pop(_FOLDER, "")
    old_spec = {"embedding": "hashed", **old_spec}  # what runs made before it was known had
    new_spec: dict[str, Any] = json.loads(json.dumps(asdict(spec)))
    if _have_same_settings(old_spec.get("settings"), spec, dataset):
        old_spec["settings"] = new_spec["settings"]
    names = (name for name in {*old_spec, *new_spec} if old_spec.get(name) != new_spec.get(name))
    if differences := sorted(n for n in names if _resolve(old_spec.get(n), folder) != _resolve(new_spec.get(n), "")):
        theirs, ours = (", ".join(f"{n}={run.get(n) or 'none'}" for n in differences) for run in (old_spec, new_spec))
        raise SettingsError(
            f"{out} contains a run with {theirs}, not {ours}: give the same options again, or name another folder"
        )
    if old_digest != _hash_questions(part):
        raise SettingsError(
            f"the questions or gold SQL of {part.name} {part.split} have changed since the run in {out} was started: "
            "name another folder"
        )


def _have_same_settings(fields: Any, spec: RunSpec, dataset: Dataset) -> bool:
    """Whether a run's stored fields give the same settings as its specification."""
    old_spec = replace(spec, settings=fields if isinstance(fields, Mapping) else {})
    with suppress(SettingsError):  # fields of another version
        return make_run_settings(old_spec, dataset) == make_run_settings(spec, dataset)
    return False


def _resolve(value: object, folder: str) -> list[Path]:
    """Return the paths of the files that a text names, if it is read in a folder."""
    return [Path(folder, part).resolve() for part in str(value).removeprefix(REPLAY).split(",")]


def _hash_questions(part: Dataset) -> str:
    """Return a hash of the questions, because answers are stored by question id alone."""
    # Fields that are None are left out: folders of runs made before a field was known can be resumed.
    questions = [
        {name: value for name, value in asdict(question).items() if value is not None} for question in part.questions
    ]
    return hashlib.sha256(json.dumps(questions).encode()).hexdigest()


Judge = Callable[[GoldTurn, TurnRecord], Verdict]  # a function that judges a record, one at a time and in one thread


def run_evaluation(
    spec: RunSpec,
    dataset: Dataset,
    out: Path,
    *,
    jobs: int,
    listener: Listener,
    engine: Engine = "local",
    part: Dataset | None = None,
    judge: Judge | None = None,
    annotations: Path | None = None,
) -> list[JudgedAnswer]:
    """Answer the remaining questions of a dataset; return all questions judged, in order.

    The folder must hold the same run, or none. What could not be asked, or rests on changed rows, is asked at the next
    start. `part` is the part that is asked, if `spec` alone does not say; without a judge, judging is strict.

    Raises:
        RunStopped: `GIVE_UP_AFTER` questions in a row could not be asked.
        SettingsError: The folder holds another run or a trial, settings are wrong, or the engine is not installed.
    """
    settings = make_run_settings(spec, dataset)
    part = part or dataset.without(spec.without).head(spec.limit)
    check_output_folder(spec, dataset, part, out)
    if judge is None and (out / RESULTS_FILE).exists() and "trial" in read_results(out):
        raise SettingsError(f"{out} contains a trial: name another folder with --out")
    start_answerer = _start_local
    if engine == "ray":
        from .ray_engine import start_ray as start_answerer
    with (
        StrictJudge(dataset) as strict,
        SingleDatabaseCache() as databases,
        RunJournal(out / JOURNAL_FILE) as journal,
        start_answerer(spec, dataset, out, jobs, annotations) as answering,
    ):
        # Only what can be run at all takes the folder.
        origin = {_DIGEST: _hash_questions(part), _FOLDER: str(Path.cwd())}
        write_text_atomically(out / SPEC_FILE, json.dumps(asdict(spec) | origin, indent=2))
        judge_record: Judge = judge or (lambda question, record: strict.judge(question, record.sql))
        run = _EvaluationRun(part, answering, journal, judge_record, listener, databases, settings)
        answers = run_coroutine(run.answer_all_questions(jobs))
    if run.stale_count:
        warn(f"asked again, as rows behind earlier answers have changed: {run.stale_count} of {len(answers)} questions")
    return [answers[question.id] for question in part.questions]


def run_coroutine(work: Coroutine[object, object, T]) -> T:
    """Run a coroutine to its end, in another thread if this one runs an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@dataclass
class _EvaluationRun:
    """An evaluation that is running: the answerer, the journal, and verdicts so far."""

    dataset: Dataset
    answering: Answerer
    journal: RunJournal
    judge: Judge
    listener: Listener
    databases: SingleDatabaseCache
    settings: Settings
    stale_count: int = 0  # how many answers of earlier starts rest on other rows than the database has now
    done: dict[str, JudgedAnswer] = field(default_factory=dict[str, JudgedAnswer])
    failures_in_a_row: int = 0
    # A judge has one database open at a time.
    judge_thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    async def answer_all_questions(self, jobs: int) -> dict[str, JudgedAnswer]:
        """Answer and judge all questions; return records and verdicts by question id."""
        # What could not be asked before comes last, and its database, too: questions that a server always refuses, or a
        # database that is out of reach, must not end a run before the others are asked.
        ids = self.journal.unasked_ids
        failing = {question.database for question in self.dataset.questions if question.id in ids}
        interactions = sorted(self.dataset.interactions, key=lambda turns: any(turn.id in ids for turn in turns))
        waiting = iter(sorted(interactions, key=lambda turns: turns[0].database in failing))
        with self.judge_thread:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(jobs):
                        group.create_task(self._answer_interactions(waiting))
            except ExceptionGroup as group:
                raise group.exceptions[0] from None
        return self.done

    async def _answer_interactions(self, interactions: Iterator[tuple[GoldTurn, ...]]) -> None:
        """Answer and judge interactions, as one of the workers that share the iterator."""
        for turns in interactions:
            records = {turn.id: record for turn in turns if (record := self.journal.records.get(turn.id))}
            current = [await self._run_in_judge_thread(self._is_current, turn, records.get(turn.id)) for turn in turns]
            if not all(current):  # later turns build on earlier ones
                self.stale_count += current.count(False)
                while records:
                    del self.journal.records[records.popitem()[0]]
            open_turns = {turn.id: turn for turn in turns}
            for name, record in records.items():
                await self._judge_record(open_turns.pop(name), record)
            if not open_turns:
                continue
            reason = ""
            async for record in self.answering.answer(turns, records):
                self.journal.append(record)
                self.failures_in_a_row = 0 if record.was_asked else self.failures_in_a_row + 1
                if self.failures_in_a_row == GIVE_UP_AFTER:
                    raise RunStopped(
                        f"stopped: {GIVE_UP_AFTER} questions in a row could not be asked ({record.text}); "
                        f"{len(self.journal.records)} of {len(self.dataset.questions)} are answered, "
                        "and the same command continues from there"
                    )
                reason = reason if record.was_asked else record.text
                await self._judge_record(open_turns.pop(record.id), record)
            # After a turn that could not be asked, none is.
            for turn in open_turns.values():
                await self._judge_record(turn, TurnRecord(turn.id, "", NOT_ASKED, text=reason))

    def _is_current(self, turn: GoldTurn, record: TurnRecord | None) -> bool:
        """Whether the query of a stored answer still returns the stored rows, in any order."""
        if not (record and record.sql) or uses_code_result(self.settings):  # whose rows are no query's
            return True
        try:
            table = self.databases.open(self.dataset.locate(turn.database)).execute(record.sql, self.settings.limits)
        except DatabaseUnavailable:
            return True  # judging says so
        except QueryError:
            return not record.columns
        result = make_plain_result(table)
        lost_rows = Counter(map(repr, record.rows)) - Counter(map(repr, result.rows))
        return not lost_rows and (record.columns, record.row_count) == (result.columns, result.row_count)

    async def _run_in_judge_thread(self, function: Callable[..., T], *values: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.judge_thread, function, *values)

    async def _judge_record(self, turn: GoldTurn, record: TurnRecord) -> None:
        try:
            verdict = await self._run_in_judge_thread(self.judge, turn, record)
        except DatabaseUnavailable as error:
            verdict = Verdict(turn, record.sql, error=f"{UNREACHABLE}: {error}")
        verdict = verdict if record.was_asked else verdict.mark_as_not_asked(record.text)
        self.done[turn.id] = (record, verdict)
        self.listener(record, verdict)


class RunProgress(Progress):
    """A progress bar of a run on standard error, with the cost if prices are given."""

    def __init__(self, total: int | None, price: tuple[float, float] | None = None, score: str = "EX") -> None:
        text = TextColumn("{task.description}")
        super().__init__(MofNCompleteColumn(), BarColumn(), text, TimeRemainingColumn(), console=Console(stderr=True))
        self._price, self._score, self._counts = price, score, Counter[str]()
        self.add_task("", total=total)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Of a run that fails, only the message stays on the terminal.
        self.live.transient = kind is not None
        super().__exit__(kind, error, traceback)

    def __call__(self, record: TurnRecord, verdict: Verdict) -> None:
        """Count one more question."""
        (prompt, completion), counts = record.tokens, self._counts
        counts.update(calls=record.calls, prompt=prompt, completion=completion, not_asked=int(not record.was_asked))
        counts.update(judged=int(verdict.ex is not None), right=int(verdict.ex is True))
        share = format_percent(counts["right"] / counts["judged"] if counts["judged"] else None)
        text = f"{self._score} {share}  {counts['calls']} calls  {counts['prompt'] + counts['completion']} tokens"
        text += f"  {counts['not_asked']} not asked" if counts["not_asked"] else ""
        if self._price is not None:
            text += f"  ${(counts['prompt'] * self._price[0] + counts['completion'] * self._price[1]) / 1e6:.2f}"
        self.update(self.task_ids[0], advance=1, description=text)
