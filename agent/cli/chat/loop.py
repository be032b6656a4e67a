"""The loop of a conversation: reads a line, runs a turn or a command, and shows the result."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ....tools.errors import TableturnError
from ....tools.formats import format_rows
from ....tools.terminal import safe, say_json, warn
from ...answers.answer import Answer
from ...answers.commands import is_command
from ...conversation_files import lock_conversation, open_checkpointer
from ...options import AgentOptions
from ..display import ROWS_SHOWN, fitting, show_answer
from ..output import ANSWERED, NOT_ANSWERED, take_turn
from .chat import Chat, Cost
from .commands import NextQuestion, Said, run

LEAVE = ("exit", "quit", "/exit", "/quit", "/q")  # what ends a conversation, besides the end of input

_INTERRUPTED = "tableturn: this turn was interrupted; earlier turns are not affected"


def converse(
    options: AgentOptions,
    thread: str | None,
    checkpoints: Path | None,
    price: tuple[float, float] | None = None,
    *,
    as_json: bool = False,
) -> int:
    """Take turns until the input ends; return the last turn's exit code."""
    with (
        open_checkpointer(thread, checkpoints, options.locate(options.db)) as checkpointer,
        options.open_agent(checkpointer) as agent,
        lock_conversation(thread, checkpoints, agent.resources.database.location) as name,
    ):
        chat = Chat(
            resources=agent.resources,
            agent=agent,
            conversation=agent.conversation(name),
            cost=Cost(price),
            checkpoints=checkpoints,
            kept=name is not None,
        )
        chat.begin()
        code = ANSWERED
        with closing(chat), _open_lines(chat) as lines:
            for line in lines:
                code = _take_line(chat, line, as_json)
        return code


def _take_line(chat: Chat, line: str, as_json: bool) -> int:
    """Take one line; print errors of ours and continue."""
    try:
        if is_command(line):
            said = run(chat, line)
            if not isinstance(said, NextQuestion):
                _print(said)
                return ANSWERED
        else:
            said = NextQuestion(line)
        return _turn(chat, said, as_json)
    except TableturnError as error:
        warn(f"tableturn: {error}")
    except KeyboardInterrupt:
        warn(_INTERRUPTED)
    return NOT_ANSWERED


def _turn(chat: Chat, asked: NextQuestion, as_json: bool) -> int:
    goes_on, question = chat.is_waiting(), asked.question
    chat.lost = question
    chat.cost.ended += 1
    answer = take_turn(chat.conversation, question, notes=asked.notes)
    chat.cost.ended -= 1
    chat.lost = ""
    chat.cost.add(answer.usage, goes_on=goes_on)
    chat.take(answer, question, chat.conversation.why(), asked.wording)
    if as_json:
        say_json(answer.to_dict())
    else:
        show_answer(answer, paged=Console().is_terminal)
        _hint_at_wide(answer)
    if asked.wording and answer.answered:
        warn(f"right now? /approve saves it as the answer to: {asked.wording}")
    return ANSWERED if answer.answered else NOT_ANSWERED


def _hint_at_wide(answer: Answer) -> None:
    """Print a hint on a terminal if columns are hidden."""
    console = Console()
    if not console.is_terminal or not answer.rows:
        return
    rows = format_rows(answer.rows[:ROWS_SHOWN], answer.formats)
    if fitting(answer.headings, rows, console.width) < len(answer.headings):
        console.print(Text("/wide: all columns", style="dim"))


def _print(said: Said) -> None:
    """Print what a command returned to standard error, which is not for answers."""
    console = Console(stderr=True)
    if isinstance(said, str) and not console.is_terminal:
        warn(said)
    elif isinstance(said, str):
        console.print(Text(safe(said)), overflow="ignore", crop=False)  # a path that is longer than a line stays whole
    else:
        console.print(said)


@contextmanager
def _open_lines(chat: Chat) -> Generator[Iterator[str]]:
    """Open the input: lines typed at a terminal, or those of a pipe."""
    if not sys.stdin.isatty() or not (sys.stdout.isatty() or sys.stderr.isatty()):
        yield _strip_lines(line.encode("utf-8", "replace").decode() for line in sys.stdin)
        return
    from .prompt import keep_typing, read_lines

    with keep_typing():
        yield _strip_lines(read_lines(chat))
    warn(chat.cost.summary)


def _strip_lines(lines: Iterator[str]) -> Iterator[str]:
    for line in map(str.strip, lines):
        if line.lower() in LEAVE:
            return
        if line:
            yield line
