"""Program of thought: code beside SQL, compared, fed back, and counted into the confidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import Answer, SQLAgent
from tableturn.tools.errors import ExportError, SettingsError
from tableturn.tools.sandbox import SandboxLimits, find_sandbox_problem

from tests.support.scripted import ScriptedModel, rephrased, task_of

RIGHT = "SELECT city, count(*) AS n FROM customers GROUP BY city"
WRONG = "SELECT city, count(*) + 1 AS n FROM customers GROUP BY city"
CODE = "result = db_dict['customers'].groupby('city').size()"
WHY_NOT = find_sandbox_problem()

pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))


def asked(shop: Path, *statements: str, code: str = CODE, **settings: Any) -> tuple[Answer, Sequence[str]]:
    left = list(statements)

    def script(prompt: str) -> str:
        if task_of(prompt) == "rephrase":
            return rephrased("Give me the number of customers of each city.")
        statement = left.pop(0) if len(left) > 1 else left[0]
        return f"```python\n{code}\n```\n```sql\n{statement}\n```"

    model = ScriptedModel(script=script)
    with SQLAgent(shop, model=model, settings={"examples": "none", "reason": "pot", **settings}) as agent:
        return agent.ask("How many customers in each city?"), model.prompts


def test_agreement_ends_the_turn_with_more_confidence(shop: Path) -> None:
    answer, _ = asked(shop, RIGHT)
    assert (answer.status, len(answer.attempts)) == ("converged", 1)
    assert answer.usage.llm_calls == 1, "code and SQL come in one reply"
    assert answer.confidence > asked(shop, RIGHT, reason="off")[0].confidence


def test_disagreement_shows_both_results(shop: Path) -> None:
    answer, prompts = asked(shop, WRONG, RIGHT)
    assert answer.sql == RIGHT
    assert "other values" in answer.attempts[0].feedback
    assert "Paris,2" in prompts[-1]
    assert "Paris,3" in prompts[-1]


def test_code_that_fails_costs_the_turn_nothing(shop: Path) -> None:
    answer, _ = asked(shop, RIGHT, code="result = open('/etc/passwd').read()")
    assert (answer.status, answer.sql) == ("converged", RIGHT)


def test_an_answer_may_come_from_code_alone_and_says_so(shop: Path) -> None:
    answer, _ = asked(shop, "SELECT nothing FROM nowhere", max_attempts=2)
    assert answer.status == "capped"
    assert sorted(answer.rows, key=str) == [("Lyon", 1), ("Paris", 2)]
    assert "pandas code" in answer.text
    assert answer.sql is None
    assert answer.confidence > 0


def test_where_the_last_attempt_is_the_answer_it_is_never_the_codes(shop: Path) -> None:
    ways: list[dict[str, Any]] = [{"final": "last"}, {"preset": "craft", "feedback_code": True}]
    for settings in ways:
        answer, _ = asked(shop, "SELECT nothing FROM nowhere", max_attempts=2, **settings)
        assert (answer.status, answer.rows) == ("failed", ())


def test_code_blocks_take_one_call_more(shop: Path) -> None:
    answer, prompts = asked(shop, RIGHT, reason="code_blocks")
    assert answer.usage.llm_calls == 2
    assert "Paris,2" in prompts[-1], "the code's result is shown to the writer of the SQL"


def test_the_boundary_is_for_who_runs_the_machine_to_say_and_not_for_a_turn(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text("n\n7\n", encoding="utf-8")
    broken, reading = "SELECT nothing FROM nowhere", f"result = getattr(pd, 'read_' + 'csv')({str(outside)!r})"
    assert asked(shop, broken, code=reading, max_attempts=1)[0].rows == ()
    with pytest.raises(SettingsError, match="sandbox"):
        asked(shop, broken, code=reading, sandbox="none_i_trust_this_code")
    monkeypatch.setenv("TABLETURN_SANDBOX", "none_i_trust_this_code")
    assert asked(shop, broken, code=reading, max_attempts=1)[0].rows == ((7,),)
    monkeypatch.setenv("TABLETURN_SANDBOX", "off")
    wrong, _ = asked(shop, RIGHT)
    assert "choose one of kernel, without_landlock, none_i_trust_this_code" in " ".join(wrong.notes)


def test_limits_of_the_sandbox_are_the_embedders(shop: Path) -> None:
    def script(prompt: str) -> str:
        if task_of(prompt) == "rephrase":
            return rephrased("Give me the number of customers of each city.")
        return f"```python\n{CODE}\n```\n```sql\nSELECT nothing FROM nowhere\n```"

    settings = {"examples": "none", "reason": "pot", "max_attempts": 1}
    few = SandboxLimits(rows=1)
    with SQLAgent(shop, model=ScriptedModel(script=script), settings=settings, sandbox=few) as agent:
        assert len(agent.ask("How many customers in each city?").rows) == 1


def test_rows_of_code_are_exported_to_no_file_of_the_database(shop: Path, tmp_path: Path) -> None:
    model = ScriptedModel(script=lambda _: f"```python\n{CODE}\n```\n```sql\nSELECT nothing FROM nowhere\n```")
    settings = {"examples": "none", "reason": "pot", "max_attempts": 1}
    content = shop.read_bytes()
    with SQLAgent(shop, model=model, settings=settings) as agent:
        answer = agent.ask("How many customers in each city?")
        assert (answer.answered, answer.sql) == (True, None)
        with pytest.raises(ExportError, match="is the database itself"):
            agent.export(answer, shop, form="csv")
        assert agent.export(answer, tmp_path / "one.csv", rows=1).rows == 1
    assert shop.read_bytes() == content


def scripted(*reasoned: str, generated: str = "", sql_from_code: str = "") -> ScriptedModel:
    """Replies to `reason` in order, and to the other ways of asking for SQL with a fixed text."""
    left = list(reasoned)

    def script(prompt: str) -> str:
        if task_of(prompt) == "rephrase":
            return rephrased("Give me the number of customers of each city.")
        if "thinking in pandas" in prompt:
            return left.pop(0) if len(left) > 1 else left[0]
        return sql_from_code if "translate pandas code" in prompt else generated

    return ScriptedModel(script=script)


def python(code: str) -> str:
    return f"```python\n{code}\n```"


BY_CITY = [("Lyon", 1), ("Paris", 2)]


def ask_with(shop: Path, model: ScriptedModel, **settings: Any) -> Answer:
    with SQLAgent(shop, model=model, settings={"examples": "none", "reason": "pot", **settings}) as agent:
        return agent.ask("How many customers in each city?")


def test_code_without_sql_still_runs_and_is_compared(shop: Path) -> None:
    model = scripted(python(CODE), generated=f"```sql\n{RIGHT}\n```")
    answer = ask_with(shop, model)
    assert answer.sql == RIGHT
    assert answer.confidence > ask_with(shop, scripted(f"```sql\n{RIGHT}\n```")).confidence
    assert "holds code and no SQL" in " ".join(answer.notes)


@pytest.mark.parametrize("mode", ["pot", "code_blocks"])
def test_the_codes_answer_survives_a_model_that_writes_no_sql(shop: Path, mode: str) -> None:
    refusal = "I cannot say that in SQL."
    answer = ask_with(shop, scripted(python(CODE), generated=refusal, sql_from_code=refusal), reason=mode)
    assert (answer.status, answer.sql) == ("capped", None)
    assert sorted(answer.rows, key=str) == BY_CITY
    assert "pandas code alone" in answer.text


def test_code_that_fails_is_said(shop: Path) -> None:
    answer = ask_with(shop, scripted(python("result = 1 / 0") + f"\n```sql\n{RIGHT}\n```"))
    assert answer.status == "converged"
    assert "ZeroDivisionError" in " ".join(answer.notes)


def test_disagreement_that_is_left_is_said(shop: Path) -> None:
    answer = ask_with(shop, scripted(python(CODE) + f"\n```sql\n{WRONG}\n```"), max_attempts=1)
    assert answer.sql == WRONG
    assert any(note.startswith("the pandas code gives a different result") for note in answer.notes)


def test_a_sample_is_said_wherever_its_result_is(shop: Path) -> None:
    broken = "```sql\nSELECT nothing FROM nowhere\n```"
    model = scripted(python(CODE) + "\n" + broken, generated=broken)
    settings = {"examples": "none", "reason": "pot", "max_attempts": 2}
    with SQLAgent(shop, model=model, settings=settings, sandbox=SandboxLimits(frame_rows=2)) as agent:
        answer = agent.ask("How many customers in each city?")
    assert "saw only a sample of customers" in answer.text
    assert "sample of the rows of customers" in model.prompts[-1]


def test_an_answer_from_code_keeps_to_the_answers_rows(shop: Path) -> None:
    broken = "```sql\nSELECT nothing FROM nowhere\n```"
    answer = ask_with(shop, scripted(python(CODE) + "\n" + broken, generated=broken), max_attempts=1, rows=1)
    assert (len(answer.rows), answer.truncated) == (1, True)


def test_nobody_is_asked_for_code_that_cannot_run(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tableturn.tools.sandbox.run.landlock_version", lambda: 0)
    model = scripted(generated=f"```sql\n{RIGHT}\n```")
    answer = ask_with(shop, model, reason="code_blocks")
    assert (answer.sql, answer.usage.llm_calls) == (RIGHT, 1)
    assert sum("reasoning with code is off" in note for note in answer.notes) == 1


def test_code_is_asked_for_with_the_tables_as_frames_in_our_own_form(shop: Path) -> None:
    model = scripted(python(CODE) + f"\n```sql\n{RIGHT}\n```")
    ask_with(shop, model, schema_style="compact")
    assert any('`db_dict["orders"]`' in prompt and "customers(" in prompt for prompt in model.prompts)


def test_values_under_labels_may_be_one_row(shop: Path) -> None:
    query = "SELECT max(total) AS most, min(total) AS least FROM orders"
    code = "result = {'most': db_dict['orders'].total.max(), 'least': db_dict['orders'].total.min()}"
    answer = ask_with(shop, scripted(python(code) + f"\n```sql\n{query}\n```"), max_attempts=1)
    assert not any(note.startswith("the pandas code gives a different result") for note in answer.notes)
