"""A LangGraph supervisor that sends questions about data to tableturn, and others to a model.

    python examples/supervisor.py                                      # a stand-in for the model, which needs no key
    OPENAI_API_KEY=... python examples/supervisor.py "Which store has the most orders?" "Why is the sky blue?"

CHAT_MODEL names the one that decides and talks, OPENAI_BASE_URL a server of your own.
"""

import asyncio
import os
import sys
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from tableturn import SQLAgent
from tableturn.agent import build_graph
from tableturn.tools.sample import build_sample

Model = Runnable[Any, AIMessage]


class State(MessagesState):
    """The messages, and the last answer from the database."""

    answer: dict[str, Any] | None


def supervisor(agent: SQLAgent, model: Model) -> Any:
    """A graph of two: `data` answers from the database, `talk` without it; the model decides which, and talks."""
    about = ", ".join(table.name for table in agent.resources.database.schema().tables)

    async def route(state: State) -> Literal["data", "talk"]:
        asked = state["messages"][-1].text
        words = f"Can this be answered from a database with the tables {about}? Say yes or no.\n{asked}"
        reply = await model.ainvoke([HumanMessage(words)])
        return "data" if reply.text.strip().lower().startswith("yes") else "talk"

    async def talk(state: State) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(State)
    graph.add_node("data", build_graph(agent.resources))
    graph.add_node("talk", talk)
    graph.add_conditional_edges(START, route)
    graph.add_edge("data", END)
    graph.add_edge("talk", END)
    return graph.compile()


def stand_in(messages: list[BaseMessage]) -> AIMessage:
    """What is said where there is no model: yes to what speaks of a store, and little else."""
    said = messages[-1].text
    if "Say yes or no" in said:
        return AIMessage("yes" if "store" in said.splitlines()[-1] else "no")
    return AIMessage("I stand in for a model, and cannot talk.")


async def main(questions: list[str]) -> None:
    """Asks each question on its own, and prints what the graph's last message says."""
    name = os.environ.get("CHAT_MODEL", "gpt-5-mini")
    model: Model = ChatOpenAI(model=name) if "OPENAI_API_KEY" in os.environ else RunnableLambda(stand_in)
    with SQLAgent(os.environ.get("TABLETURN_DB") or build_sample("build/kestrel.sqlite")) as agent:
        graph = supervisor(agent, model)
        for question in questions:
            state = await graph.ainvoke({"messages": [HumanMessage(question)]})
            print(f"> {question}\n{state['messages'][-1].text}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["Which store has the most orders?", "Good morning!"]))
