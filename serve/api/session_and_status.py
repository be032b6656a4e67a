"""The schema, sessions, and the server's status."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.encoders import jsonable_encoder
from starlette.responses import JSONResponse, Response

from ...agent import verbs
from ...agent.evidence.confidence import FAIRLY_SURE, SURE
from ...tools.database.table import convert_cell
from ...tools.formats import ColumnFormat, find_number_marks
from ...tools.labels import ACCEPTED, choose_locale, list_labels
from ...tools.measures import drop_unit
from ..server import AskerHere, ServerHere
from ..sign_in import COOKIE, Unauthorized
from .bodies import SignInBody

router = APIRouter(tags=["looking"])


@router.get("/schema", response_model=dict[str, Any])
async def get_schema(asker: AskerHere) -> Response:
    """Return the tables and columns that this person may see, with samples and file notices."""
    people = asker.server.sign_in
    await people.prepare_indexes(asker.agent)

    def make_schema_response() -> JSONResponse:
        schema = asdict(verbs.tables(asker.agent.resources))
        schema["notices"] = list(map(asdict, verbs.notices(asker.agent.resources)))
        for table in schema["tables"]:
            names = [column["name"] for column in table["columns"]]
            for column in table["columns"]:
                column["samples"] = [convert_cell(sample) for sample in column["samples"]]
                column["words"] = drop_unit(column["name"], names)
        return JSONResponse(jsonable_encoder(schema))

    return await people.run_in_thread(make_schema_response)


@router.get("/me")
async def get_me(asker: AskerHere) -> dict[str, Any]:
    """Return the signed-in user, the database and the model."""
    agent = asker.agent
    translator = agent.resources.translator(agent.settings)
    labels = list_labels(agent.settings.locale, ACCEPTED.get())
    form = ColumnFormat("number", locale=choose_locale("", agent.settings.locale))
    _, thousands, decimal, _ = find_number_marks(form)
    if translator.name == "offline":  # which reads English alone, so the questions that the page proposes are English
        labels |= {key: label for key, label in list_labels("en").items() if key.startswith("page_try_")}
    return {
        "user": asker.identity.name,
        "database": agent.resources.database.name,
        "dialect": agent.resources.database.dialect,
        "model": translator.model,
        "translator": translator.name,
        "session": asker.server.settings.token is not None,
        "labels": labels,
        "marks": (decimal, thousands),
        "sureness": {"sure": SURE, "fairly_sure": FAIRLY_SURE},
        "dollars_left": min((await asker.server.turns.budget.get_dollars_left(asker.owner)).values(), default=None),
    }


@router.post("/session", status_code=204)
async def begin_session(body: SignInBody, request: Request, server: ServerHere) -> Response:
    """Start a browser session if the token is right; scripts cannot read the session cookie."""
    if not server.sign_in.is_server_token(body.token):
        raise Unauthorized("wrong token")
    reply = Response(status_code=204)
    # Behind a proxy only the browser knows the address: the page's scheme is in `Origin`, which a client could only
    # misstate for itself, and without a path the cookie is for the folder of /session, below whichever prefix.
    secure = "https" in (request.url.scheme, request.headers.get("origin", "").partition(":")[0])
    reply.set_cookie(COOKIE, server.sign_in.make_cookie(), httponly=True, samesite="strict", secure=secure, path=None)
    return reply


@router.delete("/session", status_code=204)
async def end_session(request: Request, server: ServerHere) -> Response:
    """End the browser session and delete the session cookie."""
    if (session := server.sign_in.read_browser_session(request)) is not None:
        await server.store.run(server.store.end_session, session.id, session.until)
    reply = Response(status_code=204)
    reply.set_cookie(COOKIE, max_age=0, path=None)  # as it was set: without a path
    return reply


@router.get("/health")
async def get_health() -> dict[str, str]:
    """Report that the worker is alive."""
    return {"status": "ok"}


@router.get("/ready")
async def check_ready(server: ServerHere) -> dict[str, str]:
    """Check that the database answers and that conversations can be stored."""
    await asyncio.to_thread(server.agent.resources.database.execute, "SELECT 1")
    await server.check_storage()
    return {"status": "ready"}


@router.get("/metrics")
async def get_metrics(asker: AskerHere) -> Response:
    """Return the server's counters in Prometheus's text format."""
    text = await asyncio.to_thread(asker.server.metrics.render)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
