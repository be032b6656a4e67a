"""The commands of the server, an entry point of the group `tableturn.commands`."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from ..agent.options import AgentOptions, DatabaseOptions, PriceOption, expand_options
from ..tools.errors import SettingsError
from ..tools.terminal import print_json_line

ASK = "Ask"  # heading of `tableturn --help`

CheckpointsOption = Annotated[
    str | None,
    typer.Option(
        "--checkpoints",
        help="Where to store conversations: an SQLite file or postgresql://... Default: in your data folder.",
    ),
]

app = typer.Typer()


@app.callback()
def commands() -> None:
    """Define the group of server commands."""


@app.command(rich_help_panel=ASK)
@expand_options(without=("user",))
def serve(
    options: AgentOptions,
    host: Annotated[str, typer.Option("--host", help="The address to listen on. Default: this machine only.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="The port; 0 for any free port.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="TABLETURN_TOKEN",
            help="The token that every request must have; safer in the variable than on the command line.",
        ),
    ] = None,
    user_header: Annotated[
        str | None, typer.Option("--user-header", help="The header in which a reverse proxy names the person.")
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option("--proxy", help="An address or network of that proxy; repeatable. Default: this machine."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="A host name by which browsers reach the server; repeatable."),
    ] = None,
    origin: Annotated[
        list[str] | None, typer.Option("--origin", help="The origin of another site that may call the API; repeatable.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, max=64, help="Number of worker processes.")] = 1,
    checkpoints: CheckpointsOption = None,
    retention_days: Annotated[
        float | None,
        typer.Option("--retention-days", min=0.01, help="Delete conversations unused for this many days."),
    ] = None,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="Maximum turns at once in one process.")] = 300,
    rate: Annotated[int, typer.Option("--rate", min=1, help="Maximum requests per minute from one client.")] = 600,
    dollars_a_day: Annotated[
        float | None,
        typer.Option("--dollars-a-day", min=0, help="Maximum cost of all turns of a day, in dollars; needs --price."),
    ] = None,
    dollars_a_person: Annotated[
        float | None, typer.Option("--dollars-a-person", min=0, help="Maximum cost of one person's turns a day.")
    ] = None,
    price: PriceOption = None,
) -> None:
    """Serve a web page, an HTTP API and MCP for one database, to many people at once.

    By default, only this machine can connect. To open it to others, set a token or a reverse proxy that names the
    person (docs/serve.md).
    """
    from .config import ServerLimits, ServeSettings
    from .launch import ServerPlan, run_http_server

    if dollars_a_person is not None and user_header is None:
        raise SettingsError("--dollars-a-person needs --user-header: without it, nobody is named; see --dollars-a-day")
    # Nobody asks unnamed behind the proxy, so the server itself needs no rules; [default] is for those whom it names.
    options = replace(options, named=user_header is not None)
    limits = ServerLimits(
        at_once=at_once,
        requests_a_minute=rate,
        dollars_a_day=dollars_a_day,
        dollars_a_person=dollars_a_person,
        dollars_a_million=price,
        retention_days=retention_days,
    )
    proxies = tuple(proxy or ServeSettings.proxies)
    settings = ServeSettings(token, user_header, proxies, tuple(allow_host or ()), tuple(origin or ()), limits)
    run_http_server(ServerPlan(options, settings, host, port, workers, checkpoints))


@app.command(rich_help_panel=ASK)
@expand_options()
def feedback(options: DatabaseOptions, checkpoints: CheckpointsOption = None) -> None:
    """List answers that people marked as wrong, as lines of JSON: who, when and what they said."""
    from ..tools.examples import database_identity
    from .checkpoints import StorageLocation
    from .store import TurnStore

    if checkpoints is not None and "://" not in checkpoints and not Path(checkpoints).exists():
        raise SettingsError(f"there is no file {checkpoints}: name the one that `tableturn serve --checkpoints` writes")
    location = StorageLocation.of(checkpoints, options.db)
    location.set_up()
    with options.open() as database, closing(TurnStore(location.url)) as store:
        for wrong_answer in store.list_wrong_answers(database_identity(database)):
            print_json_line(asdict(wrong_answer))


@app.command(rich_help_panel=ASK)
@expand_options()
def mcp(
    options: AgentOptions,
    http: Annotated[
        int | None,
        typer.Option(
            "--http", min=0, max=65_535, help="Serve on this port of this machine, under /mcp, instead of over stdio."
        ),
    ] = None,
    checkpoints: CheckpointsOption = None,
) -> None:
    """Serve the database to an assistant by the Model Context Protocol, over stdio or on a port."""
    from .config import ServeSettings
    from .launch import ServerPlan, run_http_server, run_mcp_over_stdio

    plan = ServerPlan(options, ServeSettings(), "127.0.0.1", http or 0, 1, checkpoints)
    run_mcp_over_stdio(plan) if http is None else run_http_server(plan, "--http")
