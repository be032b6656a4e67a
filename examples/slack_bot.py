"""A Slack bot that answers from a database, with Slack's Bolt: a conversation a thread, each person with their rights.

SLACK_BOT_TOKEN=... SLACK_APP_TOKEN=... SHOP_DB=shop.db python slack_bot.py
"""

import os
import re
from collections.abc import Callable
from typing import Any

from tableturn import SQLAgent
from tableturn.tools.errors import TableturnError

ROWS = 10


def reply_to(agent: SQLAgent, event: dict[str, Any]) -> str:
    """What is said to a message; Slack's own word on who wrote it decides what that person may read."""
    question = re.sub(r"<@[^>]+>", "", event.get("text", "")).strip()
    thread = f"slack {event['channel']} {event.get('thread_ts') or event['ts']}"
    try:
        answer = agent.conversation(thread, user=event["user"]).ask(question)
    except TableturnError as error:
        return str(error)
    parts = [answer.text]
    if answer.sql:
        parts.append(f"```{answer.sql}```")
    if answer.row_count > 1:
        lines = [" | ".join(map(str, row)) for row in answer.rows[:ROWS]]
        parts.append("```" + "\n".join([" | ".join(answer.headings), *lines]) + "```")
    return "\n".join(parts)


def on_mention(agent: SQLAgent) -> Callable[..., None]:
    """A listener for `app_mention`."""

    def answer(event: dict[str, Any], say: Callable[..., Any]) -> None:
        say(text=reply_to(agent, event), thread_ts=event.get("thread_ts") or event["ts"])

    return answer


def main() -> None:
    """Listens until it is stopped."""
    from slack_bolt import App
    from slack_bolt.adapter.socket_mode import SocketModeHandler

    with SQLAgent(os.environ["SHOP_DB"], permissions=os.environ.get("SHOP_PERMISSIONS")) as agent:
        app = App(token=os.environ["SLACK_BOT_TOKEN"])
        app.event("app_mention")(on_mention(agent))
        SocketModeHandler(app, os.environ["SLACK_APP_TOKEN"]).start()


if __name__ == "__main__":
    main()
