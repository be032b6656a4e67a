"""One run in the forked worker, from request to reply; its reply is not trusted."""

from __future__ import annotations

import ast
import base64
import io
import json
import os
import sys
import traceback
import warnings
from typing import Any

import numpy as np
import pandas as pd

from .answer import AnswerTooLarge, CodeAnswer, convert_value_to_answer
from .protocol import CODE_NAME, ERROR_CHARS, Request, format_omission, read_request
from .wire import decode_frame

_LAST_VALUE = "__last_value__"
_NAME_CHARS = 100
_NO_ANSWER = "the code leaves no answer: assign it to `result`"


class PrintedText(io.TextIOBase):
    """Standard output that keeps the first characters and counts the rest."""

    def __init__(self, limit: int) -> None:
        self._parts: list[str] = []
        self._room = limit  # below zero by what was dropped

    def write(self, text: str, /) -> int:
        if self._room > 0:
            self._parts.append(text[: self._room])
        self._room -= len(text)
        return len(text)

    def text(self) -> str:
        return "".join(self._parts) + (format_omission(-self._room) if self._room < 0 else "")


def answer_request(request_fd: int, reply_fd: int) -> None:
    """Read a request, run the code in this confined process and write the reply."""
    request = read_request(request_fd)
    output = PrintedText(request.output_chars)
    sys.stdout = sys.stderr = output
    warnings.simplefilter("ignore")
    try:
        text = _encode_reply(_run_requested_code(request), output, request)
    except AnswerTooLarge as error:
        text = _encode_error_reply(str(error), output, request)
    except MemoryError:
        text = _encode_error_reply("MemoryError: the code needs more memory than it may have", output, request)
    except BaseException as error:  # noqa: BLE001 - a model's code raises what it likes, SystemExit too
        text = _encode_error_reply(_describe_code_error(error), output, request)
    view = memoryview(text)
    while view:
        view = view[os.write(reply_fd, view) :]
    # The caller has all it needs; it need not wait until this process is taken down.
    os.close(reply_fd)


def _encode_reply(reply: dict[str, Any], output: PrintedText, request: Request) -> bytes:
    """Encode a reply with the printed text as JSON; raise `AnswerTooLarge` if too long."""
    problem = f"the result has more than {request.result_bytes:,} bytes: select or aggregate more"
    # Values are measured before they are written, which takes several times their memory.
    free_bytes = request.result_bytes
    for row in (reply.get("columns", ()), *reply.get("rows", ())):
        free_bytes -= sum(len(cell) for cell in row if isinstance(cell, str | bytes))
        if free_bytes < 0:
            raise AnswerTooLarge(problem)
    message = reply | {"output": output.text()}
    text = json.dumps(message, default=lambda cell: {"b64": base64.b64encode(cell).decode()}).encode()
    if len(text) > request.result_bytes:
        raise AnswerTooLarge(problem)
    return text


def _encode_error_reply(error: str, output: PrintedText, request: Request) -> bytes:
    """Encode a reply with an error, and with the printed text if it fits."""
    try:
        return _encode_reply({"error": error}, output, request)
    except AnswerTooLarge:
        return json.dumps({"error": error}).encode()


def _run_requested_code(request: Request) -> dict[str, Any]:
    frames = {name: frame for names, stream in request.frames for frame in [decode_frame(stream)] for name in names}
    names: dict[str, Any] = {"__name__": "__main__", "db_dict": frames, "pd": pd, "np": np}
    tree, fallback = _capture_last_value(ast.parse(request.code, CODE_NAME))
    exec(compile(tree, CODE_NAME, "exec"), names)  # noqa: S102 - running code is what this process is for
    for name in ("result", _LAST_VALUE, fallback):
        if names.get(name) is not None:
            return vars(convert_value_to_answer(names[name], request.rows))
    if "result" not in names:
        return {"error": _NO_ANSWER}
    # `result = None` is one NULL, as an aggregate over nothing gives in SQL.
    return vars(CodeAnswer(["result"], [[None]], False, 0))


def _capture_last_value(tree: ast.Module) -> tuple[ast.Module, str]:
    """Return the code, changed to store its last value, and the last assigned variable."""
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name):
        return tree, last.targets[0].id
    if not isinstance(last, ast.Expr):
        return tree, ""
    value = last.value
    match value:
        # A last `print(x)` counts as the expression `x`, still printed.
        case ast.Call(func=ast.Name(id="print"), args=[argument], keywords=[]) if not isinstance(argument, ast.Starred):
            value.args = [ast.NamedExpr(ast.Name(_LAST_VALUE, ast.Store()), argument)]
        case _:
            last.value = ast.NamedExpr(ast.Name(_LAST_VALUE, ast.Store()), value)
    return ast.fix_missing_locations(tree), ""


def _describe_code_error(error: BaseException) -> str:
    """Describe an error in one line, with the line number in the code."""
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg} (line {error.lineno})"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == CODE_NAME]
    location = f" (line {lines[-1]})" if lines else ""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - `__str__` is the code's own, too
        text = "no message"
    return f"{type(error).__name__[:_NAME_CHARS]}: {text[: ERROR_CHARS - 2 * _NAME_CHARS]}{location}"
