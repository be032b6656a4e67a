"""The command that checks everything that answers need, and says what to fix."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from tempfile import TemporaryFile
from typing import Annotated, Literal

import typer

from ...tools.errors import TableturnError
from ...tools.folders import CACHE_VARIABLE, DATA_VARIABLE, cache_folder, data_folder
from ...tools.terminal import print_json_line, say
from ..options import (
    AccessOptions,
    EmbeddingOption,
    ExamplesOption,
    JsonOption,
    ModelOption,
    UrlOption,
    expand_options,
    is_model_unnamed,
)

State = Literal["ok", "note", "fault"]
"""`ok`: it works. `note`: it is missing, and answers do without. `fault`: answers fail, or may."""

_MARKS: dict[State, str] = {"ok": "ok   ", "note": "note ", "fault": "FAULT"}
_MODEL_SECONDS = 30.0

_EXTRAS = {
    "charts": ("pictures of charts", "vl_convert"),
    "files": ("Excel and Parquet files", "openpyxl"),
    "duckdb": ("DuckDB and files of tables", "duckdb"),
    "postgres": ("PostgreSQL", "psycopg"),
    "mysql": ("MySQL and MariaDB", "pymysql"),
    "reason": ("pandas code", "pyarrow"),
    "evals": ("evaluations and CREDIT-SQL's sampling", "sklearn"),
}
"""The use of each extra, and a package that shows whether it is installed."""


@dataclass(frozen=True)
class CheckResult:
    """The result of one check."""

    state: State
    says: str  # what was found
    do: str = ""  # what to do about it; empty where there is nothing to do


@expand_options()
def doctor(
    options: AccessOptions,
    db: Annotated[str | None, typer.Option(help="A database to check too, as for ask.")] = None,
    model: ModelOption = None,
    base_url: UrlOption = None,
    examples: ExamplesOption = None,
    embedding: EmbeddingOption = "hashed",
    as_json: JsonOption = False,
) -> None:
    """Check the model, database, example store, sandbox and extras, and say what to fix.

    Sends the model a request. Exit codes: 0 everything needed works, 1 something does not, 2 bad usage.
    """
    checks: dict[str, Callable[[], CheckResult]] = {
        "model": lambda: _check_model(model, base_url),
        "database": lambda: _check_database(db, options),
        "examples": lambda: _check_example_store(examples, embedding),
        "sandbox": _check_sandbox,
        "folders": _check_folders_writable,
        "extras": _check_installed_extras,
        "trust": lambda: _check_trust_bound(db, model, base_url, options),
    }
    findings: dict[str, CheckResult] = {}
    for topic, check in checks.items():
        try:
            findings[topic] = check()
        except TableturnError as error:  # which says itself what to do
            from ...tools.labels import IN_ENGLISH

            findings[topic] = CheckResult("fault", IN_ENGLISH.say_error(error))
    if as_json:
        print_json_line([{"what": topic, **asdict(finding)} for topic, finding in findings.items()])
    else:
        for topic, finding in findings.items():
            say(f"{_MARKS[finding.state]} {topic:9} {finding.says}")
            if finding.do:
                say(f"{'':15} -> {finding.do}")
    raise typer.Exit(any(finding.state == "fault" for finding in findings.values()))


def _check_model(spec: str | None, base_url: str | None) -> CheckResult:
    from ..model.choose_model import get_model_label, resolve_model
    from ..model.replies import make_model_error

    chat_model = resolve_model(spec, base_url=base_url, timeout=_MODEL_SECONDS, max_retries=0)
    if chat_model is None and not is_model_unnamed(spec):
        return CheckResult("ok", "the built-in offline translator")
    if chat_model is None:
        do = "set --model, TABLETURN_MODEL or OPENAI_API_KEY for a real one, such as --model openai:gpt-5-mini"
        return CheckResult("note", "no model is chosen: the built-in offline translator answers", do)
    label, start = get_model_label(chat_model), time.monotonic()
    try:
        chat_model.invoke("Reply with the one word: ready")
    except Exception as error:
        raise make_model_error(label, error) from error
    return CheckResult("ok", f"{label} replied in {time.monotonic() - start:.1f} s")


def _check_database(db: str | None, options: AccessOptions) -> CheckResult:
    if db is None:
        return CheckResult("note", "no database was given", "add --db to check one")
    with options.open_database(db) as database:
        schema = database.schema()
        database.execute("SELECT 1")
        engine, remarks = database.engine, [*database.warnings, *filter(None, [database.limits_note])]
        says = f"{engine.name} {engine.version} at {database.location}: {schema.total_tables} tables".replace("  ", " ")
    return CheckResult("note" if remarks else "ok", says, "; ".join(remarks))


def _check_example_store(location: str | None, embedding: str) -> CheckResult:
    from ...tools.examples import ExampleStore, get_store_folder, has_example_store, make_embedding

    place = location or get_store_folder()
    if not has_example_store(place):
        message = f"no store yet at {place}: the built-in examples are used, and /approve creates one"
        return CheckResult("ok", message)
    with ExampleStore.open(place, make_embedding(embedding)) as store:
        return CheckResult("ok", f"{store.count():,} examples in {place}")


def _check_sandbox() -> CheckResult:
    from ...tools.sandbox import find_sandbox_problem, get_default_sandbox_limits, run_python

    limits = get_default_sandbox_limits()
    if problem := find_sandbox_problem(limits.boundary):
        message, _, do = problem.partition("; ")
        return CheckResult("note", message, do)
    ran = run_python("result = 6 * 7", {}, limits)
    if ran.error:
        return CheckResult("fault", f"pandas code does not run: {ran.error}")
    return CheckResult("ok", f"pandas code runs; boundary: {limits.boundary}")


def _check_folders_writable() -> CheckResult:
    for folder, variable in ((cache_folder(), CACHE_VARIABLE), (data_folder(), DATA_VARIABLE)):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=folder):
                pass
        except OSError as error:
            message = f"{folder} cannot be written: {error.strerror}"
            return CheckResult("fault", message, f"set {variable} to another folder")
    return CheckResult("ok", f"{cache_folder()} and {data_folder()} can be written")


def _check_installed_extras() -> CheckResult:
    missing = {extra: use for extra, (use, package) in _EXTRAS.items() if find_spec(package) is None}
    if not missing:
        return CheckResult("ok", "all are installed")
    lacking = ", ".join(f"{extra} ({use})" for extra, use in missing.items())
    return CheckResult("note", f"not installed: {lacking}", f"pip install 'tableturn[{','.join(missing)}]'")


def _check_trust_bound(db: str | None, spec: str | None, base_url: str | None, options: AccessOptions) -> CheckResult:
    from ...tools.examples import database_identity
    from ..evidence import trust
    from ..sqlagent import SQLAgent

    path = trust.get_trust_file_path()
    bounds = trust.read_trust_bounds(path) if path else ()
    if db is None or not bounds:
        return CheckResult("ok", "no answer is marked trusted before `tableturn trust fit` is run")
    with options.open_database(db) as database, SQLAgent(database, model=spec, base_url=base_url) as agent:
        resources = agent.resources
        bound = trust.find_trust_bound(bounds, database_identity(database), resources.translator(agent.settings).model)
        if bound is None:
            missing = "`tableturn trust fit` was not run for this database and model: no answer is marked trusted"
            return CheckResult("ok", missing)
        if reason := trust.explain_inapplicable_bound(bound, trust.compute_fingerprints(resources, agent.settings)):
            return CheckResult("note", reason)
    return CheckResult("ok", f"of trusted answers {trust.format_trust_bound(bound)}")
