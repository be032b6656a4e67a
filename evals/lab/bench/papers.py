"""A check that each experiment of the papers ends and each row changes only what it names."""

from __future__ import annotations

import json
from contextlib import closing, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.evals.rows import count_compared, find_misnamed

from ....agent.context.rephrase_examples import complete_example_pairs, rephrase_dialogue, simplify_dialogue
from ....agent.model.chat import PromptedTranslator
from ....agent.model.choose_model import resolve_model
from ....tools.errors import TableturnError
from ....tools.examples import DatabaseFolder, ExampleStore, read_examples
from ...experiments.measure import ExperimentSetup, NotRun, list_experiment_names, measure, read_experiment
from ...metrics.judging import Verdict
from ...runner.record import RunSpec, TurnRecord
from ...runner.run import Listener
from .registry import BenchOptions
from .stand_in import run_slow_server

MODEL = "openai:stand-in"

_LIMIT, _DIALOGUES = 3, 40
"""Interactions of each row, and training dialogues of the store."""


def run(options: BenchOptions) -> dict[str, object]:
    """Run each experiment over a few questions, and render the requests of each row."""
    ended: list[str] = []
    skipped: dict[str, str] = {}
    failed: dict[str, str] = {}
    unnamed, rows = find_misnamed(list_experiment_names()), 0
    with TemporaryDirectory() as folder, run_slow_server(0.0) as url:
        store = _make_small_example_store(options.folder, Path(folder) / "store", url)
        asked = RunSpec("", "", MODEL, base_url=url, examples=store, limit=options.limit or _LIMIT)
        for name in list_experiment_names():
            experiment = read_experiment(name)
            rows += len(experiment.rows)
            try:
                measure(experiment, ExperimentSetup(asked, options.folder), Path(folder) / name, _make_silent_listener)
                ended.append(name)
            except NotRun as reason:
                skipped[name] = str(reason)
            except TableturnError as error:
                failed[name] = str(error)
    return {
        "experiments": len(list_experiment_names()),
        "ended": len(ended),
        "skipped": len(skipped),
        "rows": rows,
        "rows_compared": count_compared(list_experiment_names()),
        "rows_not_as_named": len(unnamed),
        "not_run": skipped,
        "failed": failed,
        "not_as_named": unnamed,
    }


def _make_small_example_store(data: Path, place: Path, url: str) -> str:
    """Return a small store of CoSQL training dialogues, rephrased by the stand-in."""
    whole = json.loads((data / "cosql" / "train.json").read_text(encoding="utf-8"))
    some = place.with_name("train.json")
    some.write_text(json.dumps(whole[:_DIALOGUES]), encoding="utf-8")
    with ExampleStore.open(place) as store:
        with closing(DatabaseFolder(data / "spider" / "database", whole_schemas=True)) as databases:
            store.add(databases.complete_examples(read_examples(some, lambda _: None)), strict=False)
        model = resolve_model(MODEL, base_url=url, timeout=60.0, max_retries=0)
        assert model is not None
        translator = PromptedTranslator(model)
        complete_example_pairs(store, rephrase_dialogue, lambda pair: pair.rephrased, translator, calls=10_000)
        complete_example_pairs(store, simplify_dialogue, lambda pair: pair.simplified, translator, calls=10_000)
    return str(place)


def _make_silent_listener(row: str, total: int) -> nullcontext[Listener]:
    def ignore_turn(record: TurnRecord, verdict: Verdict) -> None:
        """Ignore progress."""

    return nullcontext(ignore_turn)
