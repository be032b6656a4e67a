"""The runner of console blocks finds what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .console import Command, agrees, commands, read, run
from .pages import blocks

BLOCK = """\
$ tableturn chat --db shop.db    # a comment
> How many?
1,600 customers.
converged, 0.44 s, offline
$ KEY=... tableturn ask --db shop.db --json "a | b" | head -2
"""


def test_a_block_is_commands_with_what_is_typed_and_printed() -> None:
    chat, ask = commands(BLOCK)
    assert (chat.typed, chat.shown) == ("How many?", "1,600 customers.\nconverged, 0.44 s, offline")
    assert chat.stages == [["tableturn", "chat", "--db", "shop.db"]]
    assert ask.stages == [["tableturn", "ask", "--db", "shop.db", "--json", "a | b"], ["head", "-2"]]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("tableturn ask --dbb shop.db", "No such option"),
        ("tableturn knowledge chek", "no command"),
        ("python -m tableturn.evals.lab bench nothing", "no benchmark"),
        ("pip install 'tableturn[nothing]'", "no extra"),
        ("make nothing", "Makefile"),
        ("tableturn ask --db shop.db x | tableturn ask --nothing", "No such option"),
    ],
)
def test_a_command_that_names_what_is_not_there_is_found(line: str, said: str) -> None:
    with pytest.raises(Exception, match=said):
        read(Command(line, "", ""))


def test_what_is_shown_is_held_against_what_is_printed(tmp_path: Path) -> None:
    written = f"Wrote {tmp_path / 'shop.db'}. Try: tableturn ask"
    run(Command(f"tableturn sample {tmp_path / 'shop.db'}", "", written), shortened=False)
    with pytest.raises(AssertionError, match="the page shows"):
        run(Command(f"tableturn sample {tmp_path / 'again.db'}", "", written), shortened=False)
    with pytest.raises(AssertionError, match="exit code 2"):
        run(Command("tableturn ask --db nothing.db x", "", ""), shortened=False)


@pytest.mark.parametrize(
    ("shown", "shortened", "right"),
    [
        ("one two\nthree, 9.99 s", False, True),
        ("one\nthree", False, False),
        ("one\nthree", True, True),
        ("three\none", True, False),
        ("one ... 1.00 s", False, True),
        ("one ... 1.00", False, False),
    ],
)
def test_seconds_wrapping_and_what_is_left_out_are_allowed(shown: str, shortened: bool, right: bool) -> None:
    assert agrees(shown, "one  two\n  three, 0.44 s\n", shortened) is right


def test_blocks_know_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "text\n\n<!-- not run: needs a key -->\n```python\na = 1\n```\n\n(shortened; more there)\n\n"
        '    ```toml title="people.toml"\n    [default]\n    ```\n'
    )
    python, toml = blocks(page)
    assert (python.line, python.text, python.not_run, python.shortened) == (4, "a = 1\n", "needs a key", True)
    assert (toml.language, toml.text, toml.title, toml.not_run) == ("toml", "[default]\n", "people.toml", "")
