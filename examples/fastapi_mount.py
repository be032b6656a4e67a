"""tableturn inside a FastAPI app of your own: `uvicorn fastapi_mount:app`.

The people who may ask are your app's: here every request to /data needs one of its users.
"""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from tableturn import SQLAgent
from tableturn.serve import create_app

agent = SQLAgent(os.environ["SHOP_DB"], model=os.environ.get("SHOP_MODEL"))
data = create_app(agent)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    """A mounted app has no life of its own: it opens and ends with this one."""
    async with data.router.lifespan_context(data):
        yield
    agent.close()


app = FastAPI(lifespan=lifespan)
app.mount("/data", data)


@app.get("/customers/count")
async def count_customers() -> dict[str, object]:
    """A path of your own that asks in words."""
    answer = await agent.aask("How many customers are there?")
    return {"count": answer.rows[0][0] if answer.answered else None, "sql": answer.sql}
