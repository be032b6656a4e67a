"""An agent that knows what words mean: told the model, compiled in, named in the answer, learnt from a person."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import SQLAgent, verbs
from tableturn.tools.database import Cancellation
from tableturn.tools.errors import ExampleRefused, KnowledgeError, QueryError, QueryTimeout, SettingsError
from tableturn.tools.examples import ExampleStore

from tests.support.scripted import ScriptedModel, writes

KNOWN = """
# What our words mean.
terms:
  regular:
    means: ordered twice or more
    sql: customers.id IN (SELECT customer_id FROM orders GROUP BY 1 HAVING count(*) > 1)
metrics:
  revenue: {expression: SUM(orders.total), means: what was paid}
tables:
  customers: {columns: {city: where the customer lives}}
"""


@pytest.fixture
def known(shop: Path) -> Path:
    path = shop.with_name("shop.knowledge.yaml")
    path.write_text(KNOWN)
    return path


def test_a_file_beside_the_database_is_told_and_a_metric_compiled_in(shop: Path, known: Path) -> None:
    model = writes(
        "SELECT METRIC('revenue') FROM orders o JOIN customers ON customers.id = o.customer_id WHERE TERM('regular')"
    )
    with SQLAgent(shop, model=model) as agent:
        answer = agent.ask("What is the revenue of our regular customers?")
    assert "metric \"revenue\": what was paid. SQL: METRIC('revenue') = SUM(orders.total)" in model.prompts[0]
    assert answer.rows == ((30.5,),)
    assert answer.sql is not None
    assert "SUM(o.total)" in answer.sql
    assert [(used.kind, used.name) for used in answer.used_knowledge] == [("term", "regular"), ("metric", "revenue")]
    assert answer.to_dict()["used_knowledge"][1]["sql"] == "SUM(orders.total)"
    keys = list(answer.to_dict())
    assert keys.index("used_knowledge") == keys.index("basis") + 1


def test_without_a_file_nothing_is_different(shop: Path, known: Path) -> None:
    text = known.read_text()
    known.unlink()
    without = prompts(shop, None)
    known.write_text(text)
    assert prompts(shop, "off") == without
    assert prompts(shop, None) != without


def prompts(shop: Path, knowledge: str | None) -> Sequence[str]:
    model = writes("SELECT count(*) FROM customers")
    with SQLAgent(shop, model=model, knowledge=knowledge) as agent:
        agent.ask("How many regular customers?")
    return model.prompts


def test_a_definition_that_the_model_made_up_is_asked_for_once_more(shop: Path, known: Path) -> None:
    replies = iter(["SELECT METRIC('profit') FROM orders", "SELECT METRIC('revenue') FROM orders"])
    model = ScriptedModel(script=lambda prompt: f"```sql\n{next(replies)}\n```")
    with SQLAgent(shop, model=model) as agent:
        assert agent.ask("What is the revenue?").rows == ((35.5,),)
    assert "there is no metric 'profit'" in model.prompts[1]


def test_what_is_hidden_is_not_described(shop: Path, known: Path) -> None:
    model = writes("SELECT count(*) FROM customers")
    with SQLAgent(shop, model=model, deny=["customers.city"]) as agent:
        agent.ask("In which city do customers live?")
    assert "where the customer lives" not in model.prompts[0]


def test_notes_stay_apart_from_the_question(shop: Path) -> None:
    model = writes("SELECT count(*) FROM customers WHERE city = 'Lyon'")
    with SQLAgent(shop, model=model) as agent:
        conversation = agent.conversation()
        answer = conversation.ask("How many are near?", notes="near means in Paris")
        conversation.ask("And all?")
        (past,) = conversation._graph.get_state(conversation._make_run_config()).values["turns"][:1]
    assert "<knowledge>\nnear means in Paris\n</knowledge>" in model.prompts[0]
    assert "<values>" not in model.prompts[0], "no value is looked for in notes"
    assert "near means" not in model.prompts[1], "notes are of one question"
    assert answer.question == "How many are near?"
    assert past["question"] == "How many are near?"


def test_a_word_that_nothing_explains_is_asked_about_and_can_be_kept(shop: Path, known: Path) -> None:
    model = writes("SELECT count(*) FROM customers")
    with SQLAgent(shop, model=model) as agent:
        conversation = agent.conversation()
        asked = conversation.ask("How many XQR customers are there?")
        assert asked.status == "needs_clarification"
        assert "“XQR”" in asked.text
        assert model.prompts == []
        answer = conversation.ask("those of the last quarter")
        assert answer.answered
        assert "those of the last quarter" in model.prompts[0]
        (proposal,) = answer.proposals
        assert "/note XQR means those of the last quarter" in " ".join(answer.notes)
        assert "XQR" not in known.read_text(), "nothing is learnt unasked"
        agent.remember(proposal)
        agent.ask("How many XQR customers?")
    assert 'term "XQR": those of the last quarter' in model.prompts[-1]
    text = known.read_text()
    assert text.startswith("# What our words mean."), "comments stay"
    assert "added:" in text


def test_notes_of_people_are_checked_and_carry_author_and_time(shop: Path, known: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT 1"), user="ann") as agent:
        entry = agent.note("big order = orders.total > 15")
        assert (entry.kind, entry.name, entry.sql, entry.author) == ("term", "big order", "orders.total > 15", "ann")
        assert agent.note("turnover = SUM(orders.total)").kind == "metric"
        with pytest.raises(KnowledgeError, match="does not say which word it defines"):
            agent.note("Money is never rounded.")
        assert agent.note("rule: Money is never rounded.").kind == "convention"
        with pytest.raises(KnowledgeError, match="contradicts"):
            agent.note("Revenue means something else")
        assert agent.forget("big order") == "the definition of 'big order'"
        with pytest.raises(KnowledgeError, match="no saved answer or definition"):
            agent.forget("big order")
    assert "big order" not in known.read_text()


@pytest.mark.parametrize(
    ("meaning", "why"),
    [
        ("SELECT nope FROM orders", "no such column: nope"),
        ("select total from ordrs", "there is no table 'ordrs'; did you mean orders?"),
        ("WITH o AS (SELECT nope FROM orders) SELECT * FROM o", "no such column: nope"),
        ("SUM(orders.nope)", "orders has no column 'nope'"),
        ("SUM(orders.total", "is not an SQL expression"),
        ("orders.total - orders.nope", "orders has no column 'nope'"),
        ("NOSUCH(orders.total) + 1", "no such function"),
        ("nope = 1", "there is no column 'nope'"),
        ("orders.total > (SELECT AVG(nope) FROM orders)", "no such column: nope"),
        ("json_extract(customers.city, '$.a') = 1", "malformed JSON"),
        ("DELETE FROM orders", "would change the database"),
        ("update orders set total = 1", "would change the database"),
        ("WHERE order_totl > 3", "there is no column 'order_totl'"),
        ("where totl > 3", "there is no column 'totl'; did you mean total?"),
        ("orders.total > 3 AND", "is not an SQL expression"),
        ("city = 'Paris", "is not an SQL expression"),
        ("GROUP BY city", "is not an SQL expression"),
        ("sum(order_total", "is not an SQL expression"),
        ("customers.name LIKE 'A%", "is not an SQL expression"),
        ("name like 'A%", "is not an SQL expression (it is incomplete)"),
        ("total >", "is not an SQL expression (it is incomplete)"),
        ("(total > 400", "is not an SQL expression (it is incomplete)"),
        ("total > 400 and city =", "is not an SQL expression (it is incomplete)"),
        ("city = 'Paris' and", "is not an SQL expression (it is incomplete)"),
        ("total between 3", "is not an SQL expression (it is incomplete)"),
        ("SELEC broken", "there is no column"),
        ("1/0", "names no column"),
        ("(SELECT 1)", "names no column"),
        ("city = Paris", "there is no column 'Paris'"),
    ],
)
def test_sql_of_a_definition_is_run_wherever_it_is_written(shop: Path, known: Path, meaning: str, why: str) -> None:
    text = known.read_text()
    with SQLAgent(shop, model=writes("SELECT 1")) as agent:
        with pytest.raises(KnowledgeError, match=f"not saved: .*{re.escape(why)}"):
            agent.note(f"XQR means {meaning}")
        with pytest.raises(KnowledgeError, match="not saved: "):
            agent.edit_lesson("regular", meaning)
    assert known.read_text() == text
    if "JSON" not in why:  # what fails for some row alone shows only when it runs
        known.write_text(json.dumps({"terms": {"XQR": {"means": meaning}}}))
        with SQLAgent(shop, model=writes("SELECT 1")) as agent:
            known_now = agent.resources.knowledge.read()
        assert known_now is not None
        assert [problem.entry.name for problem in known_now.problems] == ["XQR"]


@pytest.mark.parametrize(
    "meaning",
    [
        "SELECT customer_id FROM orders WHERE total > 10",
        "orders.total - 1",
        "e.g. totals of orders",
        "year (fiscal)",
        "refund(s)",
        "shop.example.com",
        "paid and not returned",
        "sales / members",
        "orders.total minus the discount",
        "status is open",
        "where the customer lives",
        "insert into the cart",
        "drop in sales",
        "WHERE total > 3",
        "total > 400 euros each",
        "total = what the customer paid, without tips",
        "customers.id IN (SELECT customer_id FROM orders WHERE total > 3)",
    ],
)
def test_sql_that_runs_and_words_that_look_like_it_are_saved(shop: Path, known: Path, meaning: str) -> None:
    with SQLAgent(shop, model=writes("SELECT 1")) as agent:
        assert agent.note(f"XQR means {meaning}").text == meaning
    assert "XQR" in known.read_text()


def test_sql_of_a_definition_runs_as_a_query_of_the_person(shop: Path, known: Path, tmp_path: Path) -> None:
    text, trail = known.read_text(), tmp_path / "trail.jsonl"
    with SQLAgent(shop, model=writes("SELECT 1"), settings={"estimated_rows": 1}, audit=trail) as agent:
        cancelled = Cancellation()
        cancelled.cancel()
        with pytest.raises(QueryTimeout):
            verbs.note("big = orders.total > 8", agent.resources, cancelled)
        assert known.read_text() == text
        entry = agent.note("big = orders.total > 8")
        assert entry.unchecked, "a question may ask for a part of a large table"
        (big,) = [lesson for lesson in agent.list_lessons() if lesson.name == "big"]
        assert "; its SQL could not be checked: This would read more rows than" in big.lines
        assert "estimated_rows" in entry.unchecked, "the file keeps the reason for whoever can change it"
        with pytest.raises(KnowledgeError, match="did you mean"):
            agent.edit_lesson(big.id, "orders.totl > 9")
    lines = map(json.loads, trail.read_text().splitlines())
    assert [(line["status"], "orders.total > 8" in line["queries"][0]) for line in lines] == [("error", True)] * 2
    with SQLAgent(shop, model=writes("SELECT 1")) as agent:
        agent.edit_lesson(big.id, "orders.total > 9")
        assert {lesson.unchecked for lesson in agent.list_lessons()} == {""}


def test_a_proposed_word_is_one_that_the_changed_condition_has(shop: Path, tmp_path: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT count(*) FROM customers"), examples=tmp_path / "store") as agent:
        answer = agent.ask("How many customers by placed are in Paris?")
        joined = "SELECT count(*) FROM customers JOIN orders ON customer_id = customers.id"
        right = f"{joined} WHERE city = 'Paris' AND placed < '2024-03-01'"
        assert agent.correct(answer, right).proposals == (), "neither Paris nor the column's own name"
        paid = joined.replace("count(*)", "sum(total)") + " WHERE city = 'Paris'"
        (metric,) = agent.correct(agent.ask("In Paris, what is the turnover?"), paid).proposals
        assert (metric.kind, metric.name) == ("metric", "turnover")


def test_what_is_listed_is_named_by_its_id_or_its_word(shop: Path, known: Path, tmp_path: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT count(*) FROM customers"), examples=tmp_path / "store") as agent:
        agent.approve(agent.ask("How many customers?"))
        agent.note("big order = orders.total > 15")
        ids = {lesson.name: lesson.id for lesson in agent.list_lessons()}
        agent.edit_lesson(ids["big order"], "orders.total > 16")
        agent.edit_lesson("Regular", "customers.id > 1")
        assert {"orders.total > 16", "customers.id > 1"} <= {lesson.meaning for lesson in agent.list_lessons()}
        with pytest.raises(KnowledgeError, match="no saved answer or definition"):
            agent.edit_lesson("1", "orders.total > 1")
        with pytest.raises(KnowledgeError, match="no saved answer or definition"):
            agent.forget("1")
        assert agent.forget(ids["big order"]) == "the definition of 'big order'"
        assert agent.forget(ids["How many customers?"]) == "the answer to 'How many customers?'"


def test_the_first_note_makes_a_file_in_the_data_folder(shop: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT 1")) as agent:
        agent.note("active means ordered this year")
    assert not shop.with_name("shop.knowledge.yaml").exists()
    model = writes("SELECT 1")
    with SQLAgent(shop, model=model) as agent:
        agent.ask("Who is active?")
    assert "ordered this year" in model.prompts[0]


def test_a_correction_runs_is_kept_and_says_what_it_could_teach(shop: Path, tmp_path: Path) -> None:
    model = writes("SELECT count(*) FROM orders")
    with SQLAgent(shop, model=model, examples=tmp_path / "store", user="bo") as agent:
        answer = agent.ask("How many placed orders are there?")
        with pytest.raises(QueryError):
            agent.correct(answer, "SELECT nope FROM orders")
        right = "SELECT count(*) FROM orders WHERE placed < '2024-03-01'"
        found = agent.correct(answer, right)
        assert found.answer.rows == ((2,),)
        assert (found.saved.example.sql, found.saved.example.author) == (right, "bo")
        assert [(entry.kind, entry.name) for entry in found.proposals] == [("term", "placed orders")]
        asked = len(model.prompts)
        again = agent.ask("How many placed orders are there?")
        assert again.rows == ((2,),)
        assert len(model.prompts) == asked, "no request: a person has said what is right"
        agent.remember(found.proposals[0])
        assert "answer to" in agent.forget("How many placed orders are there?")
        agent.ask("How many placed orders are there?")
        assert 'term "placed orders"' in model.prompts[-1]
    with SQLAgent(shop, model=model) as agent, pytest.raises(SettingsError):
        agent.correct(agent.ask("How many?"), right)


def test_an_answer_is_corrected_in_words_and_saved_to_its_own_question(shop: Path, tmp_path: Path) -> None:
    count, paris = "SELECT count(*) FROM customers", "SELECT count(*) FROM customers WHERE city = 'Paris'"
    model = writes(count, paris, count)
    with SQLAgent(shop, model=model, examples=tmp_path / "s", user="ann") as agent:
        chat = agent.conversation()
        answer = chat.ask("How many customers are there?")
        turn = agent.word_correction(answer, "only those of Paris count")
        right = chat.ask(turn.question, notes=turn.notes)
        assert count in model.prompts[-1].partition("<knowledge>")[2], "what was wrong is told"
        saved = agent.approve(right, question=turn.wording)
        assert (saved.example.question, saved.example.sql) == ("How many customers are there?", paris)
        assert agent.ask("How many customers are there?").sql == paris
        later = chat.ask("And all of them?")
        with pytest.raises(ExampleRefused, match="can be understood alone"):
            agent.approve(later)
        assert agent.approve(later, question="All customers").example.question == "All customers"
        with pytest.raises(SettingsError):
            agent.word_correction(answer, " ")
    with SQLAgent(shop, model=model, examples=tmp_path / "s", egress={"columns": {"customers.city": "none"}}) as agent:
        told = agent.word_correction(right, "no")
        assert "Paris" not in told.notes, "what must not leave stays"


def test_a_definition_that_fails_as_it_runs_is_not_kept(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE orders AS SELECT 1 AS id, 'many' AS total")
    (tmp_path / "k.yaml").write_text("")
    with (
        SQLAgent(tmp_path / "shop.duckdb", model=writes("SELECT 1"), knowledge=tmp_path / "k.yaml") as agent,
        pytest.raises(KnowledgeError, match="its SQL does not run"),
    ):
        agent.note("big = CAST(orders.total AS INTEGER) > 5")


def test_a_verified_question_answers_the_same_of_other_values(shop: Path, tmp_path: Path) -> None:
    with SQLAgent(
        shop, model=writes("SELECT name FROM customers WHERE city = 'Paris'"), examples=tmp_path / "s"
    ) as agent:
        agent.approve(agent.ask("Who lives in Paris?"))
    model = writes("SELECT 1")
    with SQLAgent(shop, model=model, examples=tmp_path / "s") as agent:
        answer = agent.ask("Please tell me who lives in Lyon")
        assert answer.rows == (("Bo",),)
        assert "'Lyon' in place of 'Paris'" in " ".join(answer.notes)
        assert model.prompts == []
        assert agent.ask("Who lives in Paris?", settings={"verified": False}).sql == "SELECT 1"
        assert agent.ask("Who lived in Paris?").sql == "SELECT 1"
        for other in ("Who lives in Atlantis?", "Who does not live in Paris?", "Who lives in Paris or Lyon?"):
            assert agent.ask(other).sql == "SELECT 1", other
        with SQLAgent(shop, model=model, examples=tmp_path / "s", deny=["customers.city"]) as narrow:
            assert narrow.ask("Who lives in Paris?").sql == "SELECT 1"


def test_a_missing_file_is_an_error(shop: Path) -> None:
    with pytest.raises(KnowledgeError, match="there is no knowledge file"):
        SQLAgent(shop, model=writes("SELECT 1"), knowledge=shop.with_name("none.yaml"))


def test_a_refused_answer_is_not_corrected(shop: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    copy = other / "shop.db"
    copy.write_bytes(shop.read_bytes())
    with SQLAgent(copy, model=writes("SELECT 1"), examples=tmp_path / "s") as agent:
        answer = agent.ask("Anything?")
    with ExampleStore.open(tmp_path / "s") as store:
        assert store.count() == 0
    assert answer.answered
    with SQLAgent(shop, model=writes("SELECT 1")) as agent, pytest.raises((ExampleRefused, SettingsError)):
        agent.correct(answer, "SELECT 2")


def test_what_a_person_may_not_see_that_person_neither_replaces_nor_notices_nor_takes_out(
    shop: Path, known: Path
) -> None:
    text = known.read_text()
    with SQLAgent(shop, model=writes("SELECT 1"), deny=["orders.total"], user="mallory") as agent:
        with pytest.raises(KnowledgeError, match="no saved answer or definition"):
            agent.forget("revenue")
        assert agent.note("revenue = COUNT(orders.id)").author == "mallory"
        assert agent.forget("revenue"), "her own"
        assert agent.note("revenues means whatever I like").author == "mallory"
        assert agent.note("big spender means Ann").author == "mallory"
        assert agent.forget("big spender")
    assert known.read_text().strip() == text.strip()


def test_notes_with_an_equals_sign_are_sql_or_not_kept(shop: Path, known: Path) -> None:
    text = known.read_text()
    with SQLAgent(shop, model=writes("SELECT 1")) as agent:
        for wrong in ("big = orders.totl > 5", "net = orders.total - 1", "sum = SUM(orders.total", "a = many orders"):
            with pytest.raises(KnowledgeError, match="write a meaning in words as"):
                agent.note(wrong)
        with pytest.raises(KnowledgeError, match="split it"):
            agent.note("long means " + "very " * 400)
        assert known.read_text().strip() == text.strip()
        assert agent.note('"ratio: x" means\x07 orders.total - 1').name == "ratio: x"
        assert agent.note("mean order = ROUND(AVG(orders.total), 1)").kind == "metric"


def test_a_condition_that_does_not_resolve_is_not_kept_as_words(shop: Path, known: Path) -> None:
    text = known.read_text()
    with SQLAgent(shop, model=writes("SELECT 1")) as agent:
        for wrong, name in (
            ("vip means nope_col > 5", "no column 'nope_col'"),
            ("vip means orders.totl >= 5;", "orders has no column 'totl'"),
            ("vip: nope.city = 'Paris'", "no table 'nope'"),
            ("vip: orders.total >", "'orders.total >' is not an SQL expression"),
        ):
            with pytest.raises(KnowledgeError, match=f"{name}.*write a meaning in words as a sentence"):
                agent.note(wrong)
        assert known.read_text().strip() == text.strip()
        for words in (
            "more than 5 of nope_col",
            "nope_col",
            "pays > 5 euros",
            "spent > 5",
            "who has paid_up > 5 times",
        ):
            assert agent.note(f"vip means {words}").text == words
        assert agent.note("rule: nope_col > 5").kind == "convention"


def test_a_note_names_a_word_by_which_it_is_found(shop: Path, known: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT 1")) as agent:
        for wrong in ("Please remember: some do not count", "Note: some are wrong", "is: was"):
            with pytest.raises(KnowledgeError, match="does not say which word it defines"):
                agent.note(wrong)
        for wrong in ("the means customers", "a means b", "is = orders.total > 5"):
            with pytest.raises(KnowledgeError, match="is too common to be defined"):
                agent.note(wrong)
        assert agent.note("important means pays in time").kind == "term"
        assert agent.note("important: orders.total > 5").sql
        assert agent.note("on time: paid within a week").kind == "term"
        assert agent.note("Règle : some do not count").kind == "convention"


def test_a_change_in_a_file_underneath_is_seen_at_once(shop: Path, known: Path) -> None:
    notes = known.with_name("notes.md")
    notes.write_text("- **loyal**: ordered twice\n")
    known.write_text("extends: [notes.md]\n")
    model = writes("SELECT count(*) FROM customers")
    with SQLAgent(shop, model=model) as agent:
        agent.ask("How many loyal customers?")
        notes.write_text("- **loyal**: ordered three times\n")
        agent.ask("How many loyal customers?")
    assert "ordered twice" in model.prompts[0]
    assert "ordered three times" in model.prompts[1]


def test_the_offline_translator_says_which_definitions_it_does_not_read(shop: Path, known: Path) -> None:
    with SQLAgent(shop, model="offline") as agent:
        assert any("“regular”" in note for note in agent.ask("How many regular customers are there?").notes)
        agent.note("city means the place of the order")
        answer = agent.ask("How many customers are there by city?")
        assert answer.sql, "it reads the column of that name"
        assert any("definitions not used" in note and "“city”" in note for note in answer.notes)
        assert not any("definitions not used" in note for note in agent.ask("How many customers are there?").notes)


@pytest.mark.parametrize(
    ("note", "name"),
    [
        ("Umsatz heißt Summe der Bestellungen", "Umsatz"),
        ("guter Kunde bedeutet: zahlt schnell", "guter Kunde"),
        ("Stammkunde ist wer oft bestellt", "Stammkunde"),
        ("chiffre signifie la somme des ventes", "chiffre"),
        ("bon client veut dire paie vite", "bon client"),
        ("cliente fiel significa compra a menudo", "cliente fiel"),
        ("Neukunde: wer neu ist", "Neukunde"),
    ],
)
def test_a_word_is_defined_in_other_languages(shop: Path, known: Path, note: str, name: str) -> None:
    with SQLAgent(shop, model=writes("SELECT 1")) as agent:
        entry = agent.note(note)
        assert (entry.name, entry.text[0].isalpha()) == (name, True)
        with pytest.raises(KnowledgeError, match="does not say which word it defines"):
            agent.note("Das ist falsch")


def test_a_definition_that_is_neither_sql_nor_words_tells_the_form(shop: Path, known: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT 1")) as agent, pytest.raises(KnowledgeError) as told:
        agent.note("sold orders means total = 0 in orders")
    assert "write a condition as TABLE.COLUMN = VALUE, or the meaning as a sentence" in str(told.value)


def test_an_edited_lesson_keeps_its_author_and_takes_no_others_place(shop: Path, known: Path, tmp_path: Path) -> None:
    sources: dict[str, Any] = {"model": writes("SELECT count(*) FROM customers"), "examples": tmp_path / "store"}
    with SQLAgent(shop, user="ada", **sources) as agent:
        agent.approve(agent.ask("How many customers?"))
        agent.note("big order = orders.total > 15")
        agent.note("rule: totals are in euros")
        agent.note("rule: dates are in UTC")
    with SQLAgent(shop, user="bo", **sources) as agent:
        ids = {lesson.name: lesson.id for lesson in agent.list_lessons()}
        agent.edit_lesson(ids["How many customers?"], "How many customers are there?")
        agent.edit_lesson("big order", "orders.total > 16")
        with pytest.raises(KnowledgeError, match="there is a convention 'dates are in UTC' already"):
            agent.edit_lesson(ids["totals are in euros"], "dates are in UTC")
        told = {lesson.name: lesson.author for lesson in agent.list_lessons()}
        names = ("How many customers are there?", "big order", "totals are in euros", "dates are in UTC")
        assert [told[name] for name in names] == ["ada"] * 4
        assert agent.note("big order = orders.total > 17").author == "bo", "another definition is its writer's"
