"""A model of your own: any LangChain chat model, a server by its address, or a wrapper around either.

    python examples/own_model.py                                       # a stand-in that needs no key
    OPENAI_API_KEY=... python examples/own_model.py gpt-5-mini
    python examples/own_model.py qwen3 http://127.0.0.1:11434/v1       # Ollama, vLLM, llama.cpp

The wrapper counts requests, says what each took, and stops after a few; it could as well cache or route. Without a
wrapper, a name is enough: `SQLAgent(..., model="openai:qwen3", base_url=...)`.
"""

import os
import sys
import time
from typing import Any

from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI
from tableturn import SQLAgent, TableturnError
from tableturn.tools.sample import build_sample

QUESTION = "Which five customers have the most orders?"
STAND_IN = """```sql
SELECT customers.first_name, customers.last_name, COUNT(*) AS orders
FROM customers JOIN orders ON orders.customer_id = customers.customer_id
GROUP BY customers.customer_id ORDER BY COUNT(*) DESC LIMIT 5
```"""


class Metered(BaseChatModel):
    """Any chat model, with a limit on requests and a line for each."""

    inner: BaseChatModel
    most: int = 20
    asked: int = 0

    @property
    def _llm_type(self) -> str:
        return "metered"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **more: Any
    ) -> ChatResult:
        if self.asked == self.most:
            raise RuntimeError(f"no more than {self.most} requests")
        self.asked += 1
        begun = time.perf_counter()
        reply = self.inner.invoke(messages, stop=stop, **more)
        tokens = reply.usage_metadata["total_tokens"] if reply.usage_metadata else "unknown"
        print(f"request {self.asked}: {time.perf_counter() - begun:.2f} s, tokens: {tokens}", file=sys.stderr)
        return ChatResult(generations=[ChatGeneration(message=reply)])


def chosen(name: str = "", base_url: str | None = None) -> BaseChatModel:
    """A model by name; without one, a stand-in that gives the same reply to everything."""
    if not name:
        return FakeListChatModel(responses=[STAND_IN])
    key = os.environ.get("OPENAI_API_KEY", "none")  # servers of one's own mostly want none
    return ChatOpenAI(model=name, base_url=base_url, api_key=lambda: key)


if __name__ == "__main__":
    database = os.environ.get("TABLETURN_DB") or build_sample("build/kestrel.sqlite")
    with SQLAgent(database, model=Metered(inner=chosen(*sys.argv[1:3]))) as agent:
        try:
            answer = agent.ask(QUESTION)
        except TableturnError as error:
            sys.exit(str(error))
        if not answer.answered:
            sys.exit(answer.text)
        print(answer.sql, answer.to_dataframe(), sep="\n")
