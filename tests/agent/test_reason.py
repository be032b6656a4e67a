"""Program of thought: code beside SQL, compared, fed back, and counted into the confidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import Answer, SQLAgent
from tableturn.tools.errors import SettingsError
from tableturn.tools.sandbox import SandboxLimits, sandbox_available

from tests.support.scripted import ScriptedModel, rephrased, task_of

RIGHT = "SELECT city, count(*) AS n FROM customers GROUP BY city"
WRONG = "SELECT city, count(*) + 1 AS n FROM customers GROUP BY city"
CODE = "result = db_dict['customers'].groupby('city').size()"
WHY_NOT = sandbox_available()

pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))


def asked(shop: Path, *statements: str, code: str = CODE, **settings: Any) -> tuple[Answer, list[str]]:
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
    assert answer.usage.llm_calls == 2, "code and SQL come in one reply"
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


def test_code_blocks_take_one_call_more(shop: Path) -> None:
    answer, prompts = asked(shop, RIGHT, reason="code_blocks")
    assert answer.usage.llm_calls == 3
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
