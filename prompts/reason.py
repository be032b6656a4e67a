"""Thinking in pandas before or beside SQL (SQL-CRAFT 2, Python enhanced reasoning; A.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..tools.errors import ReplyError
from ..tools.examples.seeds import SeedProgram
from .generate import GenerateTask
from .parts import Prompt
from .replies import CodeDraft, Draft
from .reply_text import clean_reply, find_fences
from .task import Task

_HINT = "Reply with one fenced block that starts with ```python and leaves the answer in the variable `result`."


@dataclass(frozen=True)
class ReasonTask(Task[CodeDraft]):
    """Asks for pandas code that computes the answer; in the form `craft` in the order of SQL-CRAFT's A.4.

    Attributes:
        generate: The question and what is known about it.
        mode: `pot` asks for code and SQL in one reply, `code_blocks` for the code alone.
        programs: Questions worked out, most useful first.
    """

    name: ClassVar[str] = "reason"

    generate: GenerateTask
    mode: Literal["pot", "code_blocks"] = "pot"
    programs: tuple[SeedProgram, ...] = ()

    def render(self, budget: int) -> Prompt:
        """See `Task.render`."""
        if self.generate.style == "craft":
            return self.generate.render_as("reason_craft", budget, self.programs, mode=self.mode)
        programs = tuple(program.in_dialect(self.generate.schema.dialect) for program in self.programs)
        return self.generate.render_as("reason", budget, programs, mode=self.mode)

    def parse(self, text: str) -> CodeDraft:
        """The Python blocks joined in order, and for `pot` the SQL; either counts without the other.

        Raises:
            ReplyError: If there is neither, or for `code_blocks` no Python block.
        """
        reply = clean_reply(text)
        blocks = [fence.content for fence in find_fences(reply) if fence.language in {"python", "py", "python3"}]
        code = "\n".join(block for block in blocks if block)
        if self.mode == "code_blocks":
            return CodeDraft(code) if code else self._declined(reply)
        try:
            draft = self.generate.parse(reply)
            return CodeDraft(code, draft.sql, None if self.generate.reply == "sql" else draft)
        except ReplyError:
            if code:
                return CodeDraft(code)
            raise

    def _declined(self, reply: str) -> CodeDraft:
        """A reply without code, where it may ask back or decline."""
        try:
            draft = self.generate.parse(reply)
        except ReplyError:
            draft = None
        if draft is None or not draft.declines:
            raise ReplyError("the model's reply holds no Python code", "malformed", _HINT)
        return CodeDraft("", draft=draft)


@dataclass(frozen=True)
class SQLFromCodeTask(Task[Draft]):
    """Asks for the SQL that does what the code does: the second step of code blocks.

    Attributes:
        generate: The question and what is known about it.
        code: The pandas code of the first step.
        code_result: What it gave when it ran, as CSV or as an error; empty if it did not run.
    """

    name: ClassVar[str] = "sql_from_code"

    generate: GenerateTask
    code: str
    code_result: str = ""

    def render(self, budget: int) -> Prompt:
        """See `Task.render`."""
        return self.generate.render_as("sql_from_code", budget, code=self.code, code_result=self.code_result)

    def parse(self, text: str) -> Draft:
        """The statement; see `find_sql`."""
        return self.generate.statement(text)
