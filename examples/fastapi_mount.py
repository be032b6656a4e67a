"""tableturn inside a FastAPI app of your own, under the app's own users: each sees what the permissions give that name.

    pip install 'tableturn[serve]'
    python examples/fastapi_mount.py            # or: uvicorn --app-dir examples fastapi_mount:app

Then open http://127.0.0.1:8000/data/ as ada, with the password lovelace, or as bo, with diddley; or ask by
curl -u bo:diddley -G 127.0.0.1:8000/ask --data-urlencode "question=How many customers are there?"
TABLETURN_DB chooses a database, TABLETURN_MODEL or OPENAI_API_KEY a model.
"""

import base64
import os
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from tableturn import SQLAgent
from tableturn.serve import ServeSettings, create_app
from tableturn.tools.sample import build_sample

USERS = {"ada": "lovelace", "bo": "diddley"}  # your own sign-in stands here
HEADER = "x-signed-in"

agent = SQLAgent(
    os.environ.get("TABLETURN_DB") or build_sample("build/kestrel.sqlite"),
    permissions=Path(__file__).with_name("people.toml"),
)
# The app is its own proxy: SignIn sets the header on every request, wherever that comes from.
data = create_app(agent, settings=ServeSettings(user_header=HEADER, proxies=("0.0.0.0/0", "::/0")))


class SignIn:
    """Says in a header who asks, by HTTP Basic; what a client says of itself there is dropped."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.app
        if scope["type"] == "http":
            given = Headers(scope=scope).get("authorization", "").partition(" ")[2]
            pairs = {name: base64.b64encode(f"{name}:{word}".encode()) for name, word in USERS.items()}
            name = next((name for name, pair in pairs.items() if secrets.compare_digest(pair, given.encode())), None)
            others = [header for header in scope["headers"] if header[0] != HEADER.encode()]
            scope = {**scope, "headers": [*others, (HEADER.encode(), (name or "").encode())]}
            if name is None:
                app = PlainTextResponse("Say who you are.", 401, {"www-authenticate": 'Basic realm="shop"'})
        await app(scope, receive, send)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    """A mounted app has no life of its own: it opens and ends with this one."""
    async with data.router.lifespan_context(data):
        yield
    agent.close()


app = FastAPI(lifespan=lifespan)
app.add_middleware(SignIn)


@app.get("/ask")
async def ask(question: str, request: Request) -> dict[str, object]:
    """A path of your own that asks under the rights of whoever is signed in."""
    answer = await agent.aask(question, user=request.headers[HEADER])
    return {"text": answer.text, "rows": answer.rows, "sql": answer.sql}


app.mount("/data", data)

if __name__ == "__main__":
    uvicorn.run(app)
