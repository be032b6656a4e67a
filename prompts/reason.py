"""The tasks that compute in pandas before or beside SQL (SQL-CRAFT 2 and A.4)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Literal

from ..tools.errors import ReplyError
from ..tools.examples.seeds import SeedProgram
from .cut_to_budget import Prompt
from .generate import GenerateSQLTask
from .reply_text import find_blocks, remove_reasoning_tags
from .reply_types import CodeDraft, SQLDraft
from .task import Task

_HINT = "Reply with one fenced block that starts with ```python and leaves the answer in the variable `result`."


@dataclass(frozen=True)
class PandasCodeTask(Task[CodeDraft]):
    """A task that asks for pandas code that computes the answer."""

    name: ClassVar[str] = "reason"

    generate: GenerateSQLTask
    mode: Literal["pot", "code_blocks"] = "pot"  # code and SQL in one reply, or the code alone
    programs: tuple[SeedProgram, ...] = ()  # most useful first

    def render(self, budget: int) -> Prompt:
        if self.generate.style == "craft":
            return self.generate.render_template("reason_craft", budget, self.programs, mode=self.mode)
        programs = tuple(program.in_dialect(self.generate.schema.dialect) for program in self.programs)
        return self.generate.render_template("reason", budget, programs, mode=self.mode)

    def parse(self, text: str) -> CodeDraft:
        """Parse the Python code of a reply and, in mode `pot`, its SQL; one of the two is enough.

        Raises:
            ReplyError: If there is neither, or for `code_blocks` no Python block.
        """
        reply = remove_reasoning_tags(text)
        blocks = [fence.content for fence in find_blocks(reply) if fence.language in {"python", "py", "python3"}]
        code = "\n".join(block for block in blocks if block)
        if self.mode == "code_blocks":
            return CodeDraft(code) if code else self._parse_refusal(reply)
        try:
            draft = self.generate.parse(reply)
        except ReplyError:
            if code:
                return CodeDraft(code)
            raise
        return CodeDraft(code, draft.sql, None if self.generate.reply == "sql" else draft)

    def _parse_refusal(self, reply: str) -> CodeDraft:
        """Return an empty code draft if the reply asks back or declines; otherwise raise an error."""
        with suppress(ReplyError):
            draft = self.generate.parse(reply)
            if draft.declines:
                return CodeDraft("", draft=draft)
        raise ReplyError("the model's reply contains no Python code", "malformed", _HINT)


@dataclass(frozen=True)
class SQLFromCodeTask(Task[SQLDraft]):
    """A task that asks for SQL equivalent to pandas code."""

    name: ClassVar[str] = "sql_from_code"

    generate: GenerateSQLTask
    code: str  # the pandas code of the first step
    code_result: str = ""  # what it gave when it ran, as CSV or as an error

    def render(self, budget: int) -> Prompt:
        return self.generate.render_template("sql_from_code", budget, code=self.code, code_result=self.code_result)

    def parse(self, text: str) -> SQLDraft:
        return self.generate.parse(text, "sql")
