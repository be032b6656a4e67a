"""What every path needs to know: the server, and who asks."""

from __future__ import annotations

import asyncio
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
    people = server.people
    identity = people.identify(request)
    agent = people.agent if identity == people.nobody else await asyncio.to_thread(people.agent_of, identity)
    return Asker(identity, people.owner(identity), agent, server)


AskerHere = Annotated[Asker, Depends(asker_of)]
