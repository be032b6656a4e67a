"""A chat at a terminal as a picture for the documentation, as `make pictures` takes it:

    python -m tests.support.chat_picture docs

The command line runs at a terminal, is typed to, and what its screen shows is written as SVG, in its own colours.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from tableturn.tools.sample import build_sample

from .terminal import PROMPT, Screen

SAID = ("How many orders are there?", "And in 2023?", "/explain")
_COLUMNS, _ROWS = 92, 80
_COMMAND = "tableturn chat --db kestrel.sqlite"
_FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""Rich would have the picture's fonts fetched from elsewhere."""

_LIGHT = [(23, 32, 33), (163, 32, 13), (26, 99, 52), (138, 90, 0), (10, 87, 150), (122, 47, 160), (11, 107, 99)]
_DARK = [
    (56, 66, 74),
    (255, 156, 138),
    (143, 214, 163),
    (232, 190, 110),
    (140, 196, 245),
    (211, 166, 242),
    (94, 214, 198),
]
THEMES = {
    "light": TerminalTheme((255, 255, 255), (23, 32, 33), [*_LIGHT, (82, 96, 95)]),
    "dark": TerminalTheme((20, 23, 26), (231, 236, 238), [*_DARK, (165, 178, 184)]),
}


def held(database: Path) -> list[Text]:
    """The screen after a conversation, line by line."""
    with Screen(["chat", "--db", str(database), "--model", "offline"], size=(_COLUMNS, _ROWS)) as screen:
        screen.wait_for(PROMPT)
        screen.settled()
        for line in SAID:
            screen.say(line)
        return screen.styled


def picture(lines: Sequence[Text], theme: str) -> str:
    """The screen as SVG."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in lines:
        console.print(line, no_wrap=True)
    drawn = console.export_svg(title=_COMMAND, theme=THEMES[theme], unique_id="chat")
    # The lines of tables meet at this size.
    return _FONTS.sub("", drawn).replace("Fira Code", "ui-monospace").replace("font-size: 20px", "font-size: 21px")


def main(folder: Path) -> None:
    """Writes `chat-light.svg` and `chat-dark.svg`."""
    with tempfile.TemporaryDirectory() as own:
        lines = held(build_sample(Path(own, "kestrel.sqlite")))
    for theme in THEMES:
        (folder / f"chat-{theme}.svg").write_text(picture(lines, theme), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
