"""What every path needs to know: the server, and who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, Request

from ..server import Asker, Server

if TYPE_CHECKING:
    from ..server import House


async def server_of(request: Request) -> Server:
    """The server that a request is for."""
    return await cast("House", request.app.state.house).server()


ServerHere = Annotated[Server, Depends(server_of)]


async def asker_of(request: Request, server: ServerHere) -> Asker:
    """Who asks.

    Raises:
        Unauthorized: Nobody says.
        Forbidden: The permissions say nothing of that person.
    """
    return await server.asker(request)


AskerHere = Annotated[Asker, Depends(asker_of)]
