"""A node of a larger LangGraph graph: the answer's rows go on to a node of yours, once a person has let the query run.

    python examples/graph_node.py
    OPENAI_API_KEY=... python examples/graph_node.py "How much was paid, by method of payment?"

The parent graph and tableturn share the keys `messages` and `answer`, nothing else. With `approve` on, each query waits
as an interrupt of the parent graph, which shows it and goes on with what the person says.
"""

import os
import sys
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command
from tableturn import SQLAgent
from tableturn.agent import build_graph
from tableturn.tools.sample import build_sample


class State(MessagesState):
    """The messages, the answer from the database, and what this graph makes of it."""

    answer: dict[str, Any] | None
    brief: str


def write(state: State) -> dict[str, str]:
    """A node of your own, by plain code: each row's share of the whole."""
    answer = state["answer"]
    if not answer or answer["status"] not in ("converged", "capped"):
        return {"brief": answer["text"] if answer else "no answer"}
    figures = [row for row in answer["rows"] if isinstance(row[-1], int | float)]
    total = sum(row[-1] for row in figures) or 1
    return {"brief": "\n".join(f"{100 * row[-1] / total:5.1f} %  {row[0]}" for row in figures) or answer["text"]}


def brief_writer(agent: SQLAgent) -> Any:
    """A graph of two nodes: `data` asks the database, `write` makes a text of the rows."""
    graph = StateGraph(State)
    graph.add_node("data", build_graph(agent.resources))
    graph.add_node("write", write)
    graph.add_edge(START, "data")
    graph.add_edge("data", "write")
    graph.add_edge("write", END)
    return graph.compile(checkpointer=InMemorySaver())


if __name__ == "__main__":
    database = os.environ.get("TABLETURN_DB") or build_sample("build/kestrel.sqlite")
    question = sys.argv[1] if len(sys.argv) > 1 else "What is the total amount of payments by method?"
    with SQLAgent(database, settings={"approve": True}) as agent:
        graph, thread = brief_writer(agent), {"configurable": {"thread_id": "1"}}
        state = graph.invoke({"messages": [HumanMessage(question)]}, thread)
        while waits := state.get("__interrupt__"):
            print(waits[0].value["question"], waits[0].value.get("sql", ""), sep="\n")
            reply = input("approve, reject, or another query: ") if sys.stdin.isatty() else "approve"
            state = graph.invoke(Command(resume=reply or "approve"), thread)
        print(state["brief"])
