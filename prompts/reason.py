"""Thinking in pandas before or beside SQL (SQL-CRAFT 2, Python enhanced reasoning; A.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from ..tools.errors import ReplyError
from ..tools.examples.seeds import SeedProgram
from .generate import GenerateTask
from .material import Material, fit
from .replies import CodeDraft, Draft
from .reply_text import clean_reply, find_fences
from .sql_reply import find_sql
from .task import Message, Prompt, Task
from .templating import render_messages

_HINT = "Reply with one fenced block that starts with ```python and leaves the answer in the variable `result`."


@dataclass(frozen=True)
class ReasonTask(Task[CodeDraft]):
    """Asks for pandas code that computes the answer.

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
        return fit(budget, replace(self.generate.material(), programs=self.programs), self._messages)

    def _messages(self, shown: Material, left_out: tuple[str, ...]) -> tuple[Message, ...]:
        return render_messages(
            "reason",
            task=self.generate,
            mode=self.mode,
            shown=shown,
            schema_text=self.generate.schema_text(shown),
            left_out=left_out,
        )

    def parse(self, text: str) -> CodeDraft:
        """The Python blocks joined in order, and for `pot` the SQL; either counts without the other.

        Raises:
            ReplyError: If there is neither, or for `code_blocks` no Python block.
        """
        reply = clean_reply(text)
        blocks = [fence.content for fence in find_fences(reply) if fence.language in {"python", "py", "python3"}]
        code = "\n".join(block for block in blocks if block)
        if not code and self.mode == "code_blocks":
            raise ReplyError("the model's reply holds no Python code", "malformed", _HINT)
        if self.mode == "code_blocks":
            return CodeDraft(code)
        try:
            return CodeDraft(code, find_sql(reply).sql)
        except ReplyError:
            if code:
                return CodeDraft(code)
            raise


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
        return fit(budget, self.generate.material(), self._messages)

    def _messages(self, shown: Material, left_out: tuple[str, ...]) -> tuple[Message, ...]:
        return render_messages(
            "sql_from_code",
            task=self.generate,
            code=self.code,
            code_result=self.code_result,
            shown=shown,
            schema_text=self.generate.schema_text(shown),
            left_out=left_out,
        )

    def parse(self, text: str) -> Draft:
        """The statement; see `find_sql`."""
        return self.generate.parse(text)
