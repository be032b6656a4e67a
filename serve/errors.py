"""Errors over HTTP: a status and a JSON body, below /v1 in OpenAI's form."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from ..tools.errors import TableturnError
from ..tools.labels import ACCEPTED, IN_ENGLISH, Labels, choose_locale
from ..tools.validation import describe_fault

_log = logging.getLogger(__name__)

_STATUS = {
    "NotThere": 404,
    "Busy": 409,
    "TurnCancelled": 409,
    "Unauthorized": 401,
    "Forbidden": 403,
    "TooMany": 429,
    "ModelError": 502,
    "NothingReadable": 403,
    "DatabaseUnavailable": 503,
    "TableLocked": 503,
    "ExampleStoreError": 503,
    "StoreError": 503,
    "AuditError": 503,
    "Internal": 500,
}
"""By the error's class; 422 otherwise: what was asked cannot be done."""

_KINDS = {404: "NotThere", 405: "NotAllowed", 408: "TooSlow", 413: "TooLarge", 415: "BadRequest"}
"""Of what the framework refuses."""

_PLAIN = {
    "Not Found": "there is nothing at this address",
    "There was an error parsing the body": "the body is not valid JSON in UTF-8",
    "Method Not Allowed": "this address does not take requests of this method",
}
"""What the framework's words mean."""


def find_http_status(kind: str) -> int:
    """Return the HTTP status for the class name of an error."""
    return _STATUS.get(kind, 422)


def make_error(kind: str, message: str) -> dict[str, Any]:
    """Return the JSON body of an error reply, in plain words of the browser's language."""
    return {"error": {"kind": kind, "message": Labels(choose_locale("")).say_error(message)}}


def log_internal_error(error: BaseException) -> str:
    """Log an unexpected error; return a message with the reference of the log entry."""
    reference = uuid.uuid4().hex[:8]
    _log.error("internal error %s", reference, exc_info=error)
    return f"this is an error in tableturn, not in your question: find it in the server's log under {reference}"


def make_openai_error(kind: str, message: str) -> dict[str, Any]:
    """Return the JSON body of an error as OpenAI's clients read it."""
    return {"error": {"message": IN_ENGLISH.say_error(message), "type": kind, "param": None, "code": None}}


def make_error_reply(request: Request, error: Exception) -> JSONResponse:
    """Return the HTTP reply for an error of ours, of the framework, or of any other kind."""
    ACCEPTED.set(request.headers.get("accept-language", ""))  # some are met before a route reads it
    kind, headers = type(error).__name__, getattr(error, "headers", None)
    if isinstance(error, TableturnError):
        message, status = str(error), find_http_status(kind)
        headers = {"www-authenticate": "Bearer"} if kind == "Unauthorized" else None
    elif isinstance(error, RequestValidationError):
        fault: Any = error.errors()[0]
        names = () if fault["type"] == "json_invalid" else fault["loc"][1:]  # without where: body, query or path
        fault["loc"] = [str(name).rstrip("_") for name in names] or ["the body"]
        kind, message, status = "BadRequest", describe_fault(fault), 422
        if isinstance(fault["input"], bytes):  # a body that is not declared as JSON is not read
            message = "the body must be JSON: send the header Content-Type: application/json"
    elif isinstance(error, HTTPException):
        kind, message, status = _KINDS.get(error.status_code, "BadRequest"), str(error.detail), error.status_code
        message = _PLAIN.get(message, message)
    else:
        kind, message, status = "InternalError", log_internal_error(error), 500
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    make = make_openai_error if path.startswith("/v1/") else make_error
    return JSONResponse(make(kind, message), status, headers)


_ERRORS = TableturnError, RequestValidationError, HTTPException, Exception
ERROR_HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Any]] = dict.fromkeys(_ERRORS, make_error_reply)
