"""The agent inside something larger: a parent graph, a tool-calling agent, its tools alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command
from tableturn.agent import SQLAgent, build_graph
from tableturn.tools import as_tools
from tableturn.tools.errors import QueryRejected

from tests.support.scripted import ScriptedModel, instead_of_sql, writes

PARIS = "SELECT name FROM customers WHERE city = 'Paris'"


class Desk(MessagesState):
    """A parent's state: messages are shared with the agent, the rest is its own."""

    question: str
    notes: list[str]
    answer: Any


def desk(agent: SQLAgent) -> Any:
    builder = StateGraph(Desk)
    builder.add_node("data", build_graph(agent.resources))
    builder.add_node("sign", lambda state: {"messages": [AIMessage("Yours, the desk")]})
    builder.add_edge(START, "data")
    builder.add_edge("data", "sign")
    builder.add_edge("sign", END)
    return builder.compile(checkpointer=InMemorySaver())


def test_the_graph_is_a_node_of_a_parent(shop: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS)) as agent:
        out = desk(agent).invoke(
            {"messages": [HumanMessage("Who lives in Paris?")], "question": "kept", "notes": ["kept"]},
            {"configurable": {"thread_id": "1"}},
        )
    assert [message.text for message in out["messages"]] == [
        "Who lives in Paris?", "Name: Ada, Cy.", "Yours, the desk",
    ]  # fmt: skip
    assert (out["question"], out["notes"]) == ("kept", ["kept"]), "a parent's own keys stay its own"
    assert out["answer"]["rows"] == [["Ada"], ["Cy"]]


def test_a_question_may_come_without_messages(shop: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS)) as agent:
        out = build_graph(agent.resources).invoke({"question": "Who lives in Paris?"})
    assert [message.type for message in out["messages"]] == ["human", "ai"]


def test_asking_back_interrupts_the_parent(shop: Path) -> None:
    def script(prompt: str) -> str:
        return PARIS if "in Paris" in prompt else instead_of_sql("ambiguous", "Which?")

    with SQLAgent(shop, model=ScriptedModel(script=script)) as agent:
        graph, config = desk(agent), {"configurable": {"thread_id": "1"}}
        out = graph.invoke({"messages": [HumanMessage("Show them")]}, config)
        assert out["__interrupt__"][0].value["question"] == "Which?"
        out = graph.invoke(Command(resume="those in Paris"), config)
    assert out["answer"]["rows"] == [["Ada"], ["Cy"]]


async def test_the_agent_is_a_tool_of_another_agent(shop: Path) -> None:
    """A tool-calling loop as LangGraph builds it, with a scripted caller."""
    with SQLAgent(shop, model=writes(PARIS)) as agent:
        tool = agent.as_tool()

        def caller(state: MessagesState) -> dict[str, Any]:
            last = state["messages"][-1]
            if last.type == "tool":
                return {"messages": [AIMessage(f"They are: {last.text.splitlines()[0]}")]}
            call = {"name": tool.name, "args": {"question": "Who lives in Paris?"}, "id": "1", "type": "tool_call"}
            return {"messages": [AIMessage("", tool_calls=[call])]}

        builder = StateGraph(MessagesState)
        builder.add_node("caller", caller)
        builder.add_node("tools", ToolNode([tool]))
        builder.add_edge(START, "caller")
        builder.add_conditional_edges("caller", tools_condition)
        builder.add_edge("tools", "caller")
        out = await builder.compile().ainvoke({"messages": [HumanMessage("Ask who lives in Paris")]})
    assert out["messages"][-1].text == "They are: Name: Ada, Cy."
    assert out["messages"][-2].artifact.rows == (("Ada",), ("Cy",))
    assert PARIS in out["messages"][-2].text


def call(tool: Any, **args: Any) -> Any:
    return tool.invoke({"name": tool.name, "args": args, "id": "1", "type": "tool_call"})


@pytest.fixture
def tools(shop: Path) -> dict[str, Any]:
    return {tool.name: tool for tool in as_tools(str(shop))}


def test_the_tools_serve_alone(tools: dict[str, Any]) -> None:
    ran = call(tools["run_sql"], sql=PARIS)
    assert ran.artifact.rows == (("Ada",), ("Cy",))
    assert ran.text == "name\nAda\nCy"
    assert "customers" in call(tools["describe_schema"]).text
    assert "orders" not in call(tools["describe_schema"], tables=["CUSTOMERS"]).text
    assert call(tools["find_values"], text="Who lives in paris?").artifact[0].value == "Paris"
    assert call(tools["find_examples"], question="How many customers are there?").artifact


def test_what_no_model_read_says_so(shop: Path) -> None:
    with SQLAgent(shop, model="offline") as agent:
        said = call(agent.as_tool(), question="How many customers are there?")
    assert "SELECT COUNT(*) FROM customers" in said.text
    assert said.text.endswith("Answered without a model, by the offline translator.")


def test_a_failing_query_is_told_to_the_caller(tools: dict[str, Any]) -> None:
    refused = call(tools["run_sql"], sql="DELETE FROM customers")
    assert isinstance(refused.artifact, QueryRejected)
    assert refused.text.startswith("The query failed (rejected)")


def test_a_model_sees_only_what_is_its_to_choose(tools: dict[str, Any]) -> None:
    assert list(tools["run_sql"].tool_call_schema.model_json_schema()["properties"]) == ["sql"]
    assert list(tools["find_examples"].tool_call_schema.model_json_schema()["properties"]) == ["question"]


def test_pandas_runs_in_the_sandbox(tools: dict[str, Any]) -> None:
    from tableturn.tools.sandbox import find_sandbox_problem

    why_not = find_sandbox_problem()
    if why_not:
        pytest.skip(why_not)
    code = "result = db_dict['customers'].groupby('city').size().reset_index(name='n')"
    assert set(call(tools["run_pandas"], code=code).artifact.result.table.rows) == {("Lyon", 1), ("Paris", 2)}


def test_a_parent_holds_a_conversation(shop: Path) -> None:
    """A parent keeps only messages: the turns travel with them."""
    model = writes(PARIS)
    with SQLAgent(shop, model=model) as agent:
        graph, config = desk(agent), {"configurable": {"thread_id": "1"}}
        graph.invoke({"messages": [HumanMessage("Who lives in Paris?")]}, config)
        graph.invoke({"messages": [HumanMessage("Only those called Ada")]}, config)
    assert "Who lives in Paris?" in model.prompts[-1]
    assert PARIS in model.prompts[-1]


def test_a_host_agent_is_told_where_pandas_cannot_run(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tableturn.tools.sandbox.run.landlock_version", lambda: 0)
    tools = {tool.name: tool for tool in as_tools(str(shop))}
    assert "reasoning with code is off" in call(tools["run_pandas"], code="result = 1").content


def test_a_host_agent_is_told_why_a_sandbox_does_not_start(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tableturn.tools.sandbox.parent import PARENT

    PARENT.close()
    monkeypatch.setattr("sys.executable", "")
    tools = {tool.name: tool for tool in as_tools(str(shop))}
    assert "reasoning with code is off" in call(tools["run_pandas"], code="result = 1").content
