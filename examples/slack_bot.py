"""A Slack bot with Slack's Bolt: each thread is a conversation, each person has the rights of people.toml.

    python examples/slack_bot.py "How many customers are there?"      # at the terminal: what the bot would say
    pip install tableturn slack_bolt
    SLACK_BOT_TOKEN=xoxb-... SLACK_APP_TOKEN=xapp-... python examples/slack_bot.py

In Slack the app needs Socket Mode, the event app_mention and the scopes app_mentions:read and chat:write.
TABLETURN_DB chooses a database, TABLETURN_MODEL or OPENAI_API_KEY a model.
"""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tableturn import SQLAgent, TableturnError
from tableturn.tools.sample import build_sample

ROWS = 10


def escaped(text: object) -> str:
    """Text as Slack shows it: without this, a name in the database could mention a channel or hide a link."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("```", "'''")


def reply_to(agent: SQLAgent, event: dict[str, Any]) -> str:
    """What is said to a message; Slack's own word on who wrote it decides what that person may read."""
    question = re.sub(r"<@[^>]+>", "", event.get("text", "")).strip()
    thread = f"slack {event['channel']} {event.get('thread_ts') or event['ts']}"
    try:
        answer = agent.conversation(thread, user=event["user"]).ask(question)
    except TableturnError as error:
        return escaped(error)
    parts = [escaped(answer.text), *(f"{n}. {escaped(choice)}" for n, choice in enumerate(answer.choices, 1))]
    if answer.sql:
        parts.append(f"```{escaped(answer.sql)}```")
    if answer.row_count > 1:
        lines = [" | ".join(map(str, row)) for row in (answer.headings, *answer.rows[:ROWS])]
        parts.append(f"```{escaped(chr(10).join(lines))}```")
    return "\n".join(parts)


def on_mention(agent: SQLAgent) -> Callable[..., None]:
    """A listener for `app_mention`."""

    def answer(event: dict[str, Any], say: Callable[..., Any]) -> None:
        say(text=reply_to(agent, event), thread_ts=event.get("thread_ts") or event["ts"])

    return answer


def main(agent: SQLAgent, questions: list[str]) -> None:
    """Listens until it is stopped; without Slack's tokens, shows what it would say."""
    if "SLACK_BOT_TOKEN" not in os.environ:
        for number, question in enumerate(questions or ["How many stores are there?"]):
            print(reply_to(agent, {"text": question, "channel": "terminal", "ts": str(number), "user": "ada"}))
        return
    from slack_bolt import App
    from slack_bolt.adapter.socket_mode import SocketModeHandler

    app = App(token=os.environ["SLACK_BOT_TOKEN"])
    app.event("app_mention")(on_mention(agent))
    SocketModeHandler(app, os.environ["SLACK_APP_TOKEN"]).start()


if __name__ == "__main__":
    database = os.environ.get("TABLETURN_DB") or build_sample("build/kestrel.sqlite")
    with SQLAgent(database, permissions=Path(__file__).with_name("people.toml")) as agent:
        main(agent, sys.argv[1:])
