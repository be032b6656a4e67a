"""`tableturn eval`: runs over a benchmark, and what fine-tuning needs of one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...agent.cli.options import BaseUrlOption, PresetOption, SettingsOption
from ...tools.terminal import say, warn
from . import finetune
from .options import (
    DataOption,
    EvalEmbeddingOption,
    ExamplesOption,
    JobsOption,
    JsonOption,
    LimitOption,
    ModelOption,
    RecordOption,
    SplitOption,
    VerdictsOption,
    WithoutOption,
)
from .summaries import print_doubts, print_outcomes, print_summary

if TYPE_CHECKING:
    from ..adjudication.scores import ByVerdict
    from ..datasets import Dataset
    from ..metrics import Summary, Verdict
    from ..runner import RunSpec
    from ..runner.run import Engine

app = typer.Typer(invoke_without_command=True)
app.command()(finetune.export_sft)
app.command()(finetune.train_lora)


@app.callback()
def evaluate(
    context: typer.Context,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="A benchmark's name, or a file of your own questions; required.")
    ] = None,
    split: SplitOption = "dev",
    model: ModelOption = None,
    preset: PresetOption = None,
    settings: SettingsOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", help="zero-shot, random-examples, random-dialogues or langchain, instead of the agent."
        ),
    ] = None,
    history: Annotated[
        str, typer.Option("--history", help="The SQL of earlier turns that a turn sees: predicted, or gold.")
    ] = "predicted",
    examples: ExamplesOption = None,
    embedding: EvalEmbeddingOption = "hashed",
    base_url: BaseUrlOption = None,
    jobs: JobsOption = 4,
    engine: Annotated[str, typer.Option("--engine", help="Where to run: local, or ray (an extra).")] = "local",
    out: Annotated[Path, typer.Option("--out", help="Folder of the run; give the same one to resume.")] = Path(
        "eval-run"
    ),
    price: Annotated[
        tuple[float, float] | None, typer.Option("--price", help="Dollars per million prompt and completion tokens.")
    ] = None,
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    verdicts: VerdictsOption = None,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="How often to run, each time in its own folder in --out.")
    ] = 1,
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the agent over a benchmark, or over your own questions, and judge its answers.

    If a run was stopped or killed, start it again with the same folder to continue it. Exits with 1
    if some questions could not be sent to the model.
    """
    if context.invoked_subcommand is not None:
        if dataset is not None:
            raise typer.BadParameter(f"give --dataset after {context.invoked_subcommand}", param_hint="--dataset")
        return
    if dataset is None:
        raise typer.BadParameter("say which benchmark to run", param_hint="--dataset")
    from ...agent.settings import read_settings
    from ..datasets import load_dataset
    from ..runner import RunSpec, RunStopped

    if history not in ("gold", "predicted"):
        raise typer.BadParameter("--history is gold or predicted")
    if engine not in ("local", "ray"):
        raise typer.BadParameter("--engine is local or ray")
    questions = load_dataset(dataset, split, data)
    fields = read_settings(settings) if settings else {}
    left_out = tuple(without or ())
    spec = RunSpec(
        dataset, split, model, preset, fields, history, limit, left_out, examples, base_url, baseline, embedding
    )  # fmt: skip
    folders = [out] if repeats == 1 else [out / f"repeat-{number}" for number in range(1, repeats + 1)]
    try:
        ended = [_run(spec, questions, folder, jobs, engine, price, verdicts, record) for folder in folders]
    except RunStopped as error:
        warn(str(error))
        raise typer.Exit(1) from error
    if repeats > 1:
        _print_repeats(ended, as_json)
    elif as_json:
        say(json.dumps(ended[0].shown))
    else:
        ended[0].print()
    if left := [run for run in ended if run.unasked[0]]:
        first = next(verdict.error for verdict in left[0].verdicts if not verdict.asked)
        unasked, asked = (sum(counts) for counts in zip(*(run.unasked for run in left), strict=True))
        told = f"{unasked} of {asked} questions have no answer: {first}"
        warn(f"{told}; start the same run again to ask them")
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Ended:
    """A run that has come to its end."""

    title: str
    out: Path
    results: dict[str, Any]
    verdicts: Sequence[Verdict]
    summary: Summary
    by_verdict: ByVerdict | None

    @property
    def shown(self) -> dict[str, Any]:
        """What `--json` prints."""
        outcomes = ["outcomes"] if self.results["outcomes"] else []
        printed = ("run", "strict", "official", "linking", "cost", "by_verdict", *outcomes)
        return {key: self.results[key] for key in printed}

    @property
    def unasked(self) -> tuple[int, int]:
        """Questions that could not be asked, and all questions."""
        return sum(not verdict.asked for verdict in self.verdicts), len(self.verdicts)

    def print(self) -> None:
        """Prints scores, doubts and cost."""
        print_summary(self.summary, self.title)
        if self.by_verdict is not None:
            say(self.by_verdict.told(self.summary.all.ex))
        print_outcomes(self.results["outcomes"])
        print_doubts(self.summary, [verdict for verdict in self.verdicts if verdict.question.golds])
        cost = self.results["cost"]
        tokens = f"{cost['prompt_tokens']} + {cost['completion_tokens']} tokens"
        say(f"{cost['llm_calls']} calls, {tokens}; {self.out}")


def _run(
    spec: RunSpec,
    questions: Dataset,
    out: Path,
    jobs: int,
    engine: Engine,
    price: tuple[float, float] | None,
    verdict_file: Path | None,
    record: Path | None,
) -> _Ended:
    import time

    from ...agent.model.record import check_record_file
    from ..adjudication.disagreements import with_verdicts
    from ..adjudication.ruling import rulings_beside
    from ..metrics import summarize
    from ..runner import run_evaluation
    from ..runner.kept import add_records, chosen_record
    from ..runner.progress import RunProgress
    from ..runner.results import recorded_in, run_results, write_results

    file = chosen_record(record, spec)
    if file is not None:
        check_record_file(file)
    kept_before = recorded_in(out)
    rulings = rulings_beside(out, verdict_file)
    asked = questions.without(spec.without).first(spec.limit)
    start = time.perf_counter()
    with RunProgress(len(asked.questions), price) as progress:
        answered = run_evaluation(spec, questions, out, jobs=jobs, listener=progress, engine=engine)
    results = run_results(spec, asked, answered, time.perf_counter() - start)
    verdicts = [verdict for _, verdict in answered]
    with_gold = [verdict for verdict in verdicts if verdict.question.golds]
    ruled = with_verdicts(results, questions, with_gold, rulings)
    if file is not None and kept_before != str(file) and all(verdict.asked for verdict in verdicts):
        words = {name: found.verdict for name, found in ruled.outcomes.items()} if rulings else {}
        add_records(spec, answered, words, file)
        kept_before = str(file)
    write_results({**results, "recorded": kept_before}, out)
    title = f"{asked.name} {asked.split}, strict"
    return _Ended(title, out, results, verdicts, summarize(with_gold), ruled if rulings else None)


def _print_repeats(ended: Sequence[_Ended], as_json: bool) -> None:
    """The runs of `--repeats`, and how far apart they are."""
    from dataclasses import asdict

    from ..metrics.repeats import repeats

    found = repeats([{v.question.id: v.ex for v in run.verdicts if v.ex is not None} for run in ended])
    if as_json:
        runs = [{key: value for key, value in run.shown.items() if key != "run"} for run in ended]
        say(json.dumps({"run": ended[0].results["run"], "repeats": asdict(found), "runs": runs}))
        return
    for run in ended:
        run.print()
    say(found.told)
    if found.unstable:
        say(f"unstable: {', '.join(found.unstable)}")
