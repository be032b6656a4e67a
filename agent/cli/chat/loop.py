"""The loop of a conversation: reads a line, runs a turn or a command, and shows the result."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, nullcontext

from rich.console import Console
from rich.text import Text

from ....tools.errors import SettingsError, TableturnError
from ....tools.labels import accept_machine_language
from ....tools.terminal import print_json_line, sanitize_text, warn
from ...answers.commands import is_slash_command, offer_approval
from ...conversation_store import ConversationStore
from ...options import AgentOptions
from ..display import show_answer
from ..output import ANSWERED, NOT_ANSWERED, take_turn
from .chat import ChatSession, ConversationCost
from .commands import CommandResult, NextQuestion, run

LEAVE = ("exit", "quit", "/exit", "/quit", "/q")  # what ends a conversation, besides the end of input


def run_chat_loop(
    options: AgentOptions,
    thread: str | None,
    checkpoints: str | None,
    price: tuple[float, float] | None,
    as_json: bool,
) -> int:
    """Run a conversation until the input ends; return the exit code of the last line."""
    if checkpoints is not None and not thread:
        raise SettingsError("--checkpoints needs --thread: name the conversation to keep")
    store = ConversationStore.of(checkpoints, options.locate(options.db)) if thread else None
    with (
        accept_machine_language(),
        store.open() if store else nullcontext() as checkpointer,
        options.open_agent(checkpointer) as agent,
        store.lock(thread or "", agent.resources.database.location) if store else nullcontext() as name,
    ):
        chat = ChatSession(
            resources=agent.resources,
            agent=agent,
            conversation=agent.conversation(name),
            cost=ConversationCost(price),
            store=store,
        )
        if (last := chat.conversation.last()) is not None:  # of an earlier run
            chat.take(last, why=chat.conversation.why())
        code = ANSWERED
        with closing(chat), _open_input_lines(chat) as lines:
            for line in lines:
                code = _process_input_line(chat, line, as_json)
        return code


def _process_input_line(chat: ChatSession, line: str, as_json: bool) -> int:
    """Run a line of input as a command or question, and print tableturn's own errors."""
    try:
        if is_slash_command(line):
            result = run(chat, line)
            if not isinstance(result, NextQuestion):
                _print_command_result(result)
                return ANSWERED
        else:
            result = NextQuestion(line)
        return _ask_question(chat, result, as_json)
    except TableturnError as error:
        warn(f"tableturn: {chat.labels.say_error(error)}")
    except KeyboardInterrupt:
        warn("tableturn: this turn was interrupted; earlier turns are not affected")
    return NOT_ANSWERED


def _ask_question(chat: ChatSession, turn: NextQuestion, as_json: bool) -> int:
    continues, question = chat.is_waiting_for_reply(), turn.question
    chat.lost = question
    chat.cost.ended += 1
    answer = take_turn(chat.conversation, question, notes=turn.notes)
    chat.cost.ended -= 1
    chat.lost = ""
    chat.cost.add(answer.usage, continues=continues)
    chat.take(answer, question, chat.conversation.why(), turn.wording)
    if as_json:
        print_json_line(answer.to_dict())
    else:
        told = {item.answer.trust for item in chat.history[:-1]}
        show_answer(answer, brief=True, with_trust=answer.trust not in told)
    if turn.notes and answer.answered:  # it was asked again with a correction
        warn(offer_approval(turn.wording))
    return ANSWERED if answer.answered else NOT_ANSWERED


def _print_command_result(result: CommandResult) -> None:
    """Print the result of a command to standard error, because standard output is for answers."""
    console = Console(stderr=True)
    if isinstance(result, str) and not console.is_terminal:
        warn(result)
    elif isinstance(result, str):
        # A path that is longer than a line stays whole.
        console.print(Text(sanitize_text(result)), overflow="ignore", crop=False)
    else:
        console.print(result)


@contextmanager
def _open_input_lines(chat: ChatSession) -> Generator[Iterator[str]]:
    """Open the lines of input, from a terminal or a pipe."""
    if not sys.stdin.isatty() or not (sys.stdout.isatty() or sys.stderr.isatty()):
        yield _strip_lines_until_exit(line.encode("utf-8", "replace").decode() for line in sys.stdin)
        return
    from .prompt import buffer_typed_keys, read_lines

    with buffer_typed_keys():
        yield _strip_lines_until_exit(read_lines(chat))
    warn(chat.cost.summary)


def _strip_lines_until_exit(lines: Iterator[str]) -> Iterator[str]:
    for line in map(str.strip, lines):
        if line.lower() in LEAVE:
            return
        if line:
            yield line
