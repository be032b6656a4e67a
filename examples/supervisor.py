"""A LangGraph supervisor that sends questions about data to tableturn, and others to a model."""

from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from tableturn import SQLAgent
from tableturn.agent import build_graph


class State(MessagesState):
    """The messages, and the last answer from the database."""

    answer: dict[str, Any] | None


def supervisor(agent: SQLAgent, model: BaseChatModel) -> Any:
    """A graph of two: `data` answers from the database, `talk` without it.

    Args:
        agent: Over the database.
        model: Decides who answers, and talks.
    """
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
