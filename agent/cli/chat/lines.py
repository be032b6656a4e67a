"""Telling commands from questions."""

from __future__ import annotations


def is_command(line: str) -> bool:
    """Whether a line is a command: a slash and a word. SQL may start with a comment, which has none."""
    return line[:1] == "/" and line[1:2].isalpha()
