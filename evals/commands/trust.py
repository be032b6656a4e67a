"""`tableturn trust`: from which confidence on answers are marked trusted, by labelled questions of one's own."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...agent.cli.options import BaseUrlOption, PresetOption, SettingsOption
from ...tools.terminal import say, warn
from .options import ExamplesOption, JobsOption, JsonOption, ModelOption

if TYPE_CHECKING:
    from ...agent.model.trust import Bound

app = typer.Typer(
    help="Mark answers as trusted, with a limit on how many are wrong, from labelled questions of your own."
)

TrustOption = Annotated[
    Path | None, typer.Option("--trust", help="The file of bounds. Default: trust.json in your data folder.")
]


@app.command()
def fit(
    db: Annotated[str, typer.Option("--db", help="The database: a path, or a URL.")],
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            help="A trial's question file, or JSON lines of question, sql and right. "
            "Default: the answers that were approved or corrected.",
        ),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option("--alpha", min=0.001, max=0.5, help="The greatest share of wrong answers among trusted ones."),
    ] = 0.05,
    certainty: Annotated[
        float, typer.Option("--certainty", min=0.5, max=0.999, help="How certain that limit must be.")
    ] = 0.95,
    model: ModelOption = None,
    preset: PresetOption = None,
    settings: SettingsOption = None,
    examples: ExamplesOption = None,
    base_url: BaseUrlOption = None,
    jobs: JobsOption = 4,
    trust: TrustOption = None,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the model's replies; stored ones are not requested again.")
    ] = Path("trust"),
    as_json: JsonOption = False,
) -> None:
    """Ask labelled questions, and set the confidence above which answers are marked trusted.

    Exits with 1 if the labels are too few or too often wrong for a bound, and says how many are missing.
    """
    from ...agent.settings import read_settings
    from ..runner import RunStopped
    from ..runner.progress import RunProgress
    from ..trial.trusting import TrustOptions, fit_bound

    fields = read_settings(settings) if settings else {}
    options = TrustOptions(
        db, labels, model, base_url, preset, fields, _store(examples), alpha, certainty, jobs
    )  # fmt: skip
    path = _file(trust, fields)
    try:
        with RunProgress(None, None, "right") as progress:
            bound = fit_bound(options, out, path, lambda record, verdict: progress.count(record, verdict.passed))
    except RunStopped as error:
        warn(str(error))
        raise typer.Exit(1) from error
    say(json.dumps(asdict(bound)) if as_json else _told(bound))
    if bound.level is None:
        raise typer.Exit(1)


@app.command()
def show(
    db: Annotated[str | None, typer.Option("--db", help="The database whose bound to check.")] = None,
    model: ModelOption = None,
    preset: PresetOption = None,
    settings: SettingsOption = None,
    base_url: BaseUrlOption = None,
    trust: TrustOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which bounds are set, the labels behind them, and whether they still apply."""
    from ...agent.answers.trust import fault
    from ...agent.model.trust import read_bounds
    from ...agent.settings import read_settings
    from ..trial.trusting import TrustOptions, state_of

    fields = read_settings(settings) if settings else {}
    path = _file(trust, fields)
    bounds = read_bounds(path)
    faults: dict[tuple[str, str], str] = {}
    if db is not None:
        identity, name, now = state_of(TrustOptions(db, None, model, base_url, preset, fields))
        bounds = tuple(bound for bound in bounds if (bound.database, bound.model) == (identity, name))
        faults = {(bound.database, bound.model): fault(bound, now) for bound in bounds}
    if as_json:
        told = [{**asdict(each), "withdrawn": faults.get((each.database, each.model))} for each in bounds]
        say(json.dumps(told))
        return
    if not bounds:
        say(f"nothing in {path} for this: `tableturn trust fit` sets bounds")
    for bound in bounds:
        say(_told(bound))
        if why := faults.get((bound.database, bound.model)):
            say(f"  now {why}")


def _file(given: Path | None, fields: dict[str, object]) -> Path:
    from ...agent.model.trust import trust_file
    from ...tools.errors import SettingsError

    path = trust_file(given or str(fields.get("trust", "")))
    if path is None:
        raise SettingsError("bounds are switched off (trust): name a file with --trust")
    return path


def _store(given: str | None) -> str | None:
    """The store that questions at the terminal are answered with; None where there is none yet."""
    from ...tools.examples import default_location, is_made

    return given or (str(default_location()) if is_made(default_location()) else None)


def _told(bound: Bound) -> str:
    head = f"{bound.database}, {bound.model}: "
    if bound.level is None:
        more = f"at least {bound.missing} more labelled answers are missing"
        return f"{head}nothing is marked trusted: {bound.labels} labelled answers, {bound.wrong} of them wrong; {more}"
    return (
        f"{head}answers with a confidence of {bound.level:.3f} or more are marked trusted, {bound.trusted} of "
        f"{bound.labels} labelled ones ({bound.trusted_wrong} wrong): at most {bound.alpha:.0%} wrong at "
        f"{bound.certainty:.0%} certainty; set {bound.time}"
    )
