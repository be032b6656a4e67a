"""The loop: drafts, the gate, revisions, convergence, the cap, and which attempt is the answer."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import Answer, SQLAgent

from tests.support.scripted import ScriptedModel, rephrased, task_of, writes

GOOD = "SELECT name FROM customers WHERE city = 'Paris'"
BROKEN = "SELECT nme FROM customers"
EMPTY = "SELECT name FROM customers WHERE city = 'Nowhere'"


def asked(shop: Path, model: ScriptedModel, **settings: Any) -> Answer:
    with SQLAgent(shop, model=model, settings={"examples": "none", **settings}) as agent:
        return agent.ask("Who lives in Paris?")


def test_a_clean_draft_ends_at_the_gate(shop: Path) -> None:
    model = writes(GOOD)
    answer = asked(shop, model)
    assert (answer.status, answer.sql, answer.rows) == ("converged", GOOD, (("Ada",), ("Cy",)))
    assert len(answer.attempts) == 1
    assert "ran without an error" in answer.stopped
    assert answer.usage.llm_calls == 1, "one request understands and writes"


def test_an_error_is_fed_back_and_mended(shop: Path) -> None:
    model = writes(BROKEN, GOOD)
    answer = asked(shop, model)
    assert [attempt.error is None for attempt in answer.attempts] == [False, True]
    assert "nme" in answer.attempts[0].feedback
    assert "nme" in model.prompts[-1], "the revision is told what failed"
    assert (answer.status, answer.sql) == ("converged", GOOD)


def test_without_the_gate_the_loop_ends_when_the_sql_repeats(shop: Path) -> None:
    answer = asked(shop, writes(GOOD, "select NAME from customers where city='Paris';"), gate=False, converge="sql")
    assert answer.status == "converged"
    assert len(answer.attempts) == 2
    assert "the model gave the same SQL" in answer.stopped


def test_the_loop_ends_when_the_result_repeats(shop: Path) -> None:
    other = "SELECT name FROM customers WHERE id IN (1, 3)"
    answer = asked(shop, writes(GOOD, other), gate=False, converge="result")
    assert (answer.status, len(answer.attempts)) == ("converged", 2)


def test_going_back_and_forth_is_noticed(shop: Path) -> None:
    one, two = "SELECT id FROM customers", "SELECT city FROM customers"
    answer = asked(shop, writes(one, two, one, two, one), gate=False, converge="sql", max_attempts=10)
    assert len(answer.attempts) == 3
    assert answer.status == "capped", "there is no more to come, but nothing converged"
    assert "the same SQL as 2 queries before" in answer.stopped


def test_longer_cycles_are_noticed_by_their_results(shop: Path) -> None:
    columns = ["id", "city", "name"]
    statements = [f"SELECT {column} FROM customers" for column in columns] + ["SELECT id AS again FROM customers"]
    answer = asked(shop, writes(*statements), gate=False, converge="result", max_attempts=10)
    assert (answer.status, len(answer.attempts)) == ("capped", 4)
    assert "the same result as 3 queries before" in answer.stopped


def test_a_person_and_a_model_are_told_of_a_time_limit_in_their_own_words(shop: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    answer = asked(shop, writes(endless), query_seconds=0.5)
    assert (answer.status, answer.text) == ("failed", "This took more than 0.5 s. Try a shorter period or fewer rows.")
    assert "join on keys" in (answer.attempts[0].error or ""), "its advice is for who writes queries"


def test_the_cap_ends_what_does_not_converge(shop: Path) -> None:
    statements = [f"SELECT id + {n} FROM customers" for n in range(9)]
    answer = asked(shop, writes(*statements), gate=False, max_attempts=4)
    assert (answer.status, len(answer.attempts)) == ("capped", 4)
    assert answer.confidence_reason == "3 of 3 other queries give a different result"
    assert "converge" not in " ".join([answer.text, *answer.notes]), "its certainty says so, once"
    assert answer.stopped.startswith("4 queries")


@pytest.mark.parametrize("worse", [BROKEN, EMPTY, "no idea", "DROP TABLE customers"])
def test_a_worse_revision_never_replaces_the_draft(shop: Path, worse: str) -> None:
    answer = asked(shop, writes(GOOD, worse), gate=False)
    assert answer.sql == GOOD
    assert answer.rows == (("Ada",), ("Cy",))
    assert answer.answered


def test_a_revision_that_failed_is_told_by_its_error(shop: Path) -> None:
    answer = asked(shop, writes(GOOD, BROKEN), gate=False, max_attempts=2)
    assert (answer.sql, answer.status) == (GOOD, "capped")
    assert answer.confidence_reason.startswith("a later query failed (no such column: nme")


def test_nothing_that_runs_is_a_failure_and_says_why(shop: Path) -> None:
    answer = asked(shop, writes(BROKEN))
    assert (answer.status, answer.rows, answer.confidence) == ("failed", (), 0.0)
    assert "Ask in other words" in answer.text
    assert "nme" in (answer.attempts[0].error or "")
    assert answer.stopped


def test_writing_is_refused_by_the_engine(shop: Path) -> None:
    before = shop.read_bytes()
    answer = asked(shop, writes("DELETE FROM customers"))
    assert answer.status == "unanswerable"
    assert answer.attempts[0].error
    assert shop.read_bytes() == before


def test_an_empty_result_is_said(shop: Path) -> None:
    answer = asked(shop, writes(EMPTY))
    assert answer.row_count == 0
    assert answer.text == "No rows match: no row of customers has 'Nowhere' in city."
    assert answer.confidence < 0.75


def test_a_cut_result_is_said(shop: Path) -> None:
    answer = asked(shop, writes("SELECT id FROM orders"), rows=2)
    assert (answer.row_count, answer.truncated) == (2, True)
    assert "first 2 rows" in answer.text


def test_usage_adds_up_over_nodes(shop: Path) -> None:
    answer = asked(shop, writes(BROKEN, GOOD))
    assert answer.usage.llm_calls == sum(usage.llm_calls for usage in answer.usage_by_node.values()) == 2
    assert answer.usage.prompt_tokens == 20
    assert answer.usage_by_node["revise"].llm_calls == 1
    assert answer.usage_by_node["execute"].llm_calls == 0


def test_the_explanation_is_one_more_call_and_reaches_the_revision(shop: Path) -> None:
    model = writes(BROKEN, GOOD)
    answer = asked(shop, model, feedback_explanation=True)
    assert answer.usage_by_node["critique"].llm_calls == 1
    assert "It counts." in model.prompts[-1]


def test_a_broken_rephrasing_costs_nothing_but_itself(shop: Path) -> None:
    def script(prompt: str) -> str:
        return "I'd rather not." if task_of(prompt) == "rephrase" else GOOD

    answer = asked(shop, ScriptedModel(script=script), rephrase="always")
    assert answer.status == "converged"
    assert answer.rephrased == "Who lives in Paris?"
    assert any("used as asked" in note for note in answer.notes)


@pytest.mark.parametrize("at", ["rephrase", "sql"])
def test_a_model_out_of_reach_is_an_outcome(shop: Path, at: str) -> None:
    def script(prompt: str) -> str | Exception:
        return ConnectionError("no route") if task_of(prompt) == at else rephrased("Give me it.")

    answer = asked(shop, ScriptedModel(script=script), rephrase="always")
    assert answer.status == "failed"
    assert "no route" in answer.text


@pytest.mark.parametrize("preset", ["full", "credit", "craft", "track", "revision"])
def test_every_preset_answers(shop: Path, preset: str) -> None:
    def script(prompt: str) -> str:
        if task_of(prompt) == "rephrase":
            return rephrased("Give me the names of customers in Paris.")
        return f"```python\nresult = db_dict['customers']\n```\n```sql\n{GOOD}\n```"

    with SQLAgent(shop, model=ScriptedModel(script=script), preset=preset) as agent:
        answer = agent.ask("Who lives in Paris?")
    assert (answer.status, answer.sql) == ("converged", GOOD), answer.text


def test_calls_that_came_to_nothing_are_counted(shop: Path) -> None:
    answer = asked(shop, writes("I cannot help with that."))
    assert answer.status == "failed"
    assert answer.usage_by_node["generate"].llm_calls == 2, "the reply, and the one more try"


def test_credit_rephrases_by_worked_dialogues(shop: Path) -> None:
    model = writes(GOOD)
    with SQLAgent(shop, model=model, preset="credit") as agent:
        agent.ask("Who lives in Paris?")
    assert model.prompts[0].count("Give me") > 10


@pytest.mark.parametrize("same", ["PRAGMA table_info(customers)", "SELECT FROM WHERE"])
def test_what_cannot_be_parsed_converges_too(shop: Path, same: str) -> None:
    assert len(asked(shop, writes(same), max_attempts=20, effort="low").attempts) == 2


def test_half_a_character_does_no_harm(shop: Path) -> None:
    answer = asked(shop, writes("no \ud83d sorry"))
    assert answer.to_json().encode()


def test_code_is_not_insisted_on(shop: Path) -> None:
    with SQLAgent(shop, model=writes(GOOD), preset="craft") as agent:
        assert agent.ask("Who lives in Paris?").sql == GOOD
    with SQLAgent(shop, model="offline", preset="craft") as agent:
        assert agent.ask("How many customers are there?").rows == ((3,),)


def test_a_large_schema_is_shown_in_part_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "large.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for number in range(300):
            columns = ", ".join(f"field_{number}_{place} TEXT" for place in range(12))
            connection.execute(f"CREATE TABLE table_{number} ({columns})")
    model = writes("SELECT count(*) FROM table_271")
    with SQLAgent(path, model=model, settings={"examples": "none"}) as agent:
        answer = agent.ask("How many rows has table 271?")
    assert answer.rows == ((0,),)
    assert all("table_271" in prompt for prompt in model.prompts)
    assert all("Of the database's 300 tables only" in prompt for prompt in model.prompts)
    assert "[cut]" not in "".join(model.prompts)


GATED = "no check finds fault"


def test_what_the_checks_remark_is_a_note_and_no_reason_to_revise(shop: Path) -> None:
    repeated = "SELECT sum(customers.id) FROM customers JOIN orders ON orders.customer_id = customers.id"
    answer = asked(shop, writes(repeated, GOOD))
    assert (len(answer.attempts), answer.sql) == (1, repeated)


def test_merging_over_the_budget_ends_capped_with_the_best_draft(shop: Path) -> None:
    model = writes(GOOD, "SELECT max(id) FROM orders WHERE id < 0")
    answer = asked(shop, model, candidates=2, candidate_reasoning=False, turn_calls=2)
    assert len(model.prompts) == 2
    assert (answer.status, answer.sql) == ("capped", GOOD)
    assert "not combined" in answer.stopped
    assert "turn_calls" in answer.stopped


PARTS: dict[str, tuple[dict[str, Any], str]] = {
    "feedback_error": ({}, "no such column"),
    "feedback_names": ({}, "unknown_column"),
    "feedback_findings": ({}, "There is no column nme"),
    "feedback_explanation": ({}, "It counts."),
    "feedback_contents": ({}, "customers.city holds Paris"),
}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_the_feedback_reaches_the_prompt_where_it_is_on(shop: Path, part: str) -> None:
    others = dict.fromkeys((*PARTS, "feedback_result"), False)
    if part == "feedback_names":
        others["feedback_error"] = True
    more, said = PARTS[part]
    for switched in (True, False):
        model = writes(BROKEN, GOOD)
        asked(shop, model, values=0, **{**others, **more, part: switched})
        assert (said in model.prompts[-1]) == switched, part


def test_the_result_is_fed_back_within_bounds(shop: Path) -> None:
    model = writes("SELECT id, printf('%.500c', 'y') AS long FROM customers", GOOD)
    asked(shop, model, gate=False, max_attempts=2)
    assert "y" * 79 + "…" in model.prompts[-1]
    assert "y" * 80 not in model.prompts[-1]
    model = writes(GOOD, GOOD)
    asked(shop, model, gate=False, feedback_result=False)
    assert "name\nAda\nCy" not in model.prompts[-1]


@pytest.mark.parametrize("preset", ["craft", "revision"])
def test_the_papers_feed_back_what_they_say_and_no_more(shop: Path, preset: str) -> None:
    def script(prompt: str) -> str:
        if task_of(prompt) == "explain":
            return '{"meaning": "It lists.", "differences": "None."}'
        return f"```python\nresult = db_dict['customers']\n```\n```sql\n{next(statements)}\n```"

    statements = iter([BROKEN, GOOD, "SELECT 3", "SELECT 4", "SELECT 5"])
    model = ScriptedModel(script=script)
    with SQLAgent(shop, model=model, preset=preset, settings={"examples": "none", "simplify": False}) as agent:
        answer = agent.ask("Who lives in Paris?")
    assert [attempt.error is None for attempt in answer.attempts] == [False, True, True, True, True]
    assert "no such column: nme" in answer.attempts[0].feedback
    assert "unknown_column" not in answer.attempts[0].feedback
    assert "name\nAda\nCy\n" in answer.attempts[1].feedback, "the result"
    assert ("customers.city holds Paris" in answer.attempts[1].feedback) == (preset == "revision")
    assert ("It lists." in answer.attempts[1].feedback) == (preset == "revision")
    assert (answer.status, answer.sql) == ("capped", "SELECT 5"), "the last one"
