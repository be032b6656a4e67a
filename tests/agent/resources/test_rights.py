"""Who may read what: rules from arguments, files and contexts; what is kept is read under the rights of its making."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from tableturn.agent import SavedAnswer, SQLAgent, TableturnError, verbs
from tableturn.tools.database import Database, Identity, Permissions, PermissionsFile, Rights, Session
from tableturn.tools.errors import AuditError, DatabaseUnavailable, ExampleRefused, KnowledgeError, SettingsError
from tableturn.tools.examples import ExampleStore, example_id, make_example
from tableturn.tools.examples.store import make_record
from tableturn.tools.knowledge import Entry

from tests.support.command_line import tableturn
from tests.support.scripted import ScriptedModel, rephrased, task_of, writes

PARIS = "SELECT name FROM customers WHERE city = 'Paris'"
COUNT = "SELECT count(*) FROM orders"
NONE: dict[str, Any] = {"examples": "none"}


def rules(*, allow: tuple[str, ...] | None = None, deny: tuple[str, ...] = ()) -> Permissions:
    return Permissions.of(allow, deny)


@pytest.mark.parametrize(
    ("wide", "narrow", "covered"),
    [
        (rules(), rules(deny=("a",)), True),
        (rules(), rules(allow=()), True),
        (rules(allow=()), rules(allow=("a",)), False),
        (rules(deny=("a",)), rules(), False),
        (rules(deny=("a",)), rules(deny=("a",)), True),
        (rules(deny=("a",)), rules(deny=("a", "b")), True),
        (rules(deny=("a", "b")), rules(deny=("a",)), False),
        (rules(deny=("ab*",)), rules(deny=("a*",)), True),
        (rules(deny=("a*",)), rules(deny=("ab*",)), False),
        (rules(deny=("a.b",)), rules(deny=("a",)), False),  # `a.b` may be a table, too
        (rules(allow=("a",)), rules(), False),
        (rules(), rules(allow=("a",)), True),
        (rules(allow=("a", "b")), rules(allow=("a",)), True),
        (rules(allow=("a",)), rules(allow=("a", "b")), False),
        (rules(allow=("a*",)), rules(allow=("ab", "ac*")), True),
        (rules(allow=("a",), deny=("a.x",)), rules(allow=("a",)), False),
        (rules(allow=("a",)), rules(allow=("a",), deny=("a.x",)), True),
        (rules(deny=("a",)), rules(deny=("a",)).narrow(rules(allow=("b",))), True),
        (rules(deny=("a",)).narrow(rules(allow=("b",))), rules(deny=("a",)), False),
    ],
)
def test_rights_cover_what_they_surely_show(wide: Permissions, narrow: Permissions, covered: bool) -> None:
    assert wide.covers(narrow) is covered


def test_layers_only_narrow() -> None:
    names = [(table, column) for table in ("a", "b", "ab") for column in ("x", "y")]
    lists = [rules(), rules(deny=("a",)), rules(allow=("a*",)), rules(allow=("*.x",)), rules(deny=("b.y",))]
    for base in lists:
        for over in lists:
            both = base.narrow(over)
            assert [both.shows(*name) for name in names] == [base.shows(*name) and over.shows(*name) for name in names]
            assert base.covers(both)
            assert over.covers(both)
            assert bool(both) == (bool(base) or bool(over))
            assert both.narrow(base) == both, "what holds already is not laid over once more"


def test_rights_of_different_people_are_not_compared() -> None:
    ada, bo = Session(Identity("ada")), Session(Identity("bo"))
    assert ada.rights.cover(ada.rights)
    assert not ada.rights.cover(bo.rights)
    assert not Session().rights.cover(ada.rights)
    assert not ada.rights.cover(Session().rights)
    assert Rights().cover(None)
    assert not Session().narrow(rules(deny=("a",))).rights.cover(None)
    assert "token" not in repr(Session(Identity("ada", claims=(("key", "token"),))).rights)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_gives_each_person_rules_of_their_own(tmp_path: Path) -> None:
    text = '[default]\ndeny = ["Orders"]\n[users.ada]\nallow = ["customers"]\n[users."o\'brien"]\n'
    file = PermissionsFile.read(written(tmp_path / "p.toml", text))
    assert file.of("") == file.of("somebody") == rules(deny=("orders",))
    assert file.of("ada") == rules(allow=("customers",))
    assert not file.of("o'brien")


def test_an_empty_allow_list_shows_nothing(tmp_path: Path, shop: Path) -> None:
    file = PermissionsFile.read(written(tmp_path / "p.toml", "[users.ada]\nallow = []\n[users.bo]\n"))
    assert not file.of("ada").shows("customers", "name")
    assert file.of("bo").shows("customers", "name")
    with pytest.raises(DatabaseUnavailable, match="no tables that you may read"):
        Database.open(shop, allow=[])


def test_a_file_of_what_may_leave_hides_nothing(tmp_path: Path) -> None:
    file = PermissionsFile.read(written(tmp_path / "p.toml", '[egress.columns]\n"customers.name" = "none"'))
    assert not file.of("")
    assert not file.of("ada")
    assert file.egress.restricts_columns


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[default]\ndeni = []", "default.deni is not known; there are allow and deny"),
        ("[user.ada]\nallow = []", "user is not known"),
        ("[default]\ndeny = 'orders'", "default.deny"),
        ("[default]\ndeny = ['']", "default.deny.0"),
        ("[users]\nada = 3", "users.ada"),
        ("[default", "is not TOML"),
        ("[users.ada]", r"no \[default\], so name a user"),
        ("", r"no \[default\], so name a user"),
        ("[users.ada]\n[egress]\ndefault = 'none'", r"no \[default\], so name a user"),
    ],
)
def test_a_wrong_file_is_one_clear_line(shop: Path, tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path / "p.toml", text)
    with pytest.raises(SettingsError, match=said) as failed:
        SQLAgent(shop, model="offline", permissions=file)
    assert "\n" not in str(failed.value)
    assert str(file) in str(failed.value)


def test_unknown_people_and_tables_are_named(shop: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "p.toml", "[users.ada]\ndeny = ['wages']")
    with pytest.raises(SettingsError, match="user 'bo'"):
        SQLAgent(shop, model="offline", permissions=file, user="bo")
    with pytest.raises(SettingsError, match="'wages'"):
        SQLAgent(shop, model="offline", permissions=file, user="ada")
    with pytest.raises(SettingsError, match="'nothing'"):
        SQLAgent(shop, model="offline", deny=["nothing"])


def test_arguments_file_settings_and_a_database_of_ones_own_all_hold(shop: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "p.toml", "[default]\ndeny = ['customers.city']")
    settings = {"deny": ["orders.total"]}
    with (
        Database.open(shop, deny=["orders.placed"]) as database,
        SQLAgent(database, model="offline", permissions=file, deny=["customers.name"], settings=settings) as agent,
    ):
        shown = {(t.name, c.name) for t in agent.resources.database.schema().tables for c in t.columns}
    assert shown == {("customers", "id"), ("orders", "id"), ("orders", "customer_id")}


def test_a_run_can_narrow_and_never_widen(shop: Path) -> None:
    with SQLAgent(shop, model=writes(COUNT), settings=NONE, deny=["customers"]) as agent:
        assert agent.ask("How many?").rows == ((4,),)
        assert agent.ask("How many?", settings={"deny": ["orders.total"]}).rows == ((4,),)
        with pytest.raises(DatabaseUnavailable):
            agent.ask("How many?", settings={"deny": ["orders"]})
    with SQLAgent(shop, model=writes(PARIS), settings=NONE | {"deny": ["customers"]}) as agent:
        assert agent.ask("Who?", settings={"deny": []}).status == "failed"


def test_people_share_an_agent_and_not_their_rights(shop: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "p.toml", "[default]\n[users.bo]\ndeny = ['customers']")
    with SQLAgent(shop, model=(model := writes(PARIS)), settings=NONE, permissions=file) as agent:
        assert agent.ask("Who lives in Paris?", user=Identity("ada")).rows == (("Ada",), ("Cy",))
        before = len(model.prompts)
        answer = agent.ask("Who lives in Paris?", user="bo")
        assert answer.status == "failed"
        assert not [prompt for prompt in model.prompts[before:] if "'Lyon'" in prompt]
        assert agent.for_user("bo").resources is agent.for_user("bo").resources
        assert agent.ask("Who lives in Paris?").answered


def test_a_thread_opened_under_narrower_rights_leaves_out_what_is_wider(shop: Path) -> None:
    saver = InMemorySaver()
    with SQLAgent(shop, model=writes(PARIS), settings=NONE, checkpointer=saver) as agent:
        agent.conversation("t").ask("Who lives in Paris, secretly?")
    with SQLAgent(shop, model=(model := writes(COUNT)), settings=NONE, checkpointer=saver, deny=["customers"]) as agent:
        chat = agent.conversation("t")
        assert chat.last() is None
        answer = chat.ask("How many orders?")
        assert any("1 earlier turn was left out" in note for note in answer.notes)
        assert not [prompt for prompt in model.prompts if "secretly" in prompt or "Paris" in prompt or "Ada" in prompt]
        assert (last := chat.last()) is not None
        assert last.sql == COUNT
    with SQLAgent(shop, model=(model := writes(COUNT)), settings=NONE, checkpointer=saver) as agent:
        answer = agent.conversation("t").ask("And all of it?")
        assert not [note for note in answer.notes if "left out" in note]
        assert [prompt for prompt in model.prompts if "secretly" in prompt]
        assert [prompt for prompt in model.prompts if "How many orders?" in prompt]


def test_what_was_asked_back_under_wider_rights_is_not_gone_on_with(shop: Path) -> None:
    def script(prompt: str) -> str:
        if task_of(prompt) == "rephrase" and "vague" in prompt:
            return rephrased("?", "ambiguous", reply="Ada or Cy?", choices=["Ada", "Cy"])
        return rephrased("Give me what was asked.") if task_of(prompt) == "rephrase" else COUNT

    saver = InMemorySaver()
    model = ScriptedModel(script=script)
    with SQLAgent(shop, model=model, settings=NONE | {"rephrase": "always"}, checkpointer=saver) as agent:
        assert agent.conversation("t").ask("something vague").status == "needs_clarification"
    model.prompts.clear()
    with SQLAgent(shop, model=model, settings=NONE, checkpointer=saver, deny=["customers"]) as agent:
        answer = agent.conversation("t").ask("How many orders?")
        assert answer.question == "How many orders?"
        assert not [prompt for prompt in model.prompts if "Ada" in prompt]


def test_an_answer_is_not_approved_under_narrower_rights(shop: Path, tmp_path: Path) -> None:
    with SQLAgent(shop, model=writes(COUNT), settings=NONE) as agent:
        answer = agent.ask("How many orders?")
    narrow = SQLAgent(shop, model="offline", examples=tmp_path / "s", deny=["customers"])
    with narrow as agent, pytest.raises(ExampleRefused, match="other permissions"):
        agent.approve(answer, question="How many orders are there?")


def test_turns_without_a_record_count_as_made_under_all_rights(shop: Path) -> None:
    past = {"question": "who, secretly?", "rephrased": "", "sql": PARIS, "result": "Ada", "items": []}
    for deny, seen in (((), True), (("orders",), False)):
        with SQLAgent(shop, model=(model := writes(PARIS)), settings=NONE, deny=deny) as agent:
            config: Any = {"configurable": {"thread_id": "old"}}
            agent.graph.update_state(config, {"turns": [past]}, as_node="respond")
            agent.conversation("old").ask("And now?")
        assert any("secretly" in prompt for prompt in model.prompts) is seen


def test_examples_are_shown_to_those_who_may_read_what_they_read(shop: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with SQLAgent(shop, model=writes(PARIS), examples=store) as agent:
        agent.approve(agent.ask("Who lives in Paris?"), question="Who lives in the capital of France?")

    def prompts(**rights: Any) -> str:
        with SQLAgent(shop, model=(model := writes(COUNT)), examples=store, **rights) as agent:
            agent.ask("Who lives in the capital of Italy?")
        return "\n".join(model.prompts)

    assert "capital of France" in prompts()
    assert "capital of France" not in prompts(deny=["customers.city"])
    assert "capital of France" not in prompts(deny=["customers"])
    harmless = prompts(deny=["orders.total"])
    assert "capital of France" in harmless
    assert "capital of France" in prompts(user="ada")  # SQLite's rows are the same for everybody


def test_every_turn_is_written_down_before_its_answer(shop: Path, tmp_path: Path) -> None:
    trail = tmp_path / "trail.jsonl"
    model = writes("SELECT * FROM customers", COUNT)
    with SQLAgent(shop, model=model, settings=NONE, deny=["customers"], user="ada", audit=trail) as agent:
        agent.conversation("t").ask("How many orders?")
        agent.ask("How many orders?\n{}")
    assert stat.S_IMODE(trail.stat().st_mode) == 0o600
    first, second = map(json.loads, trail.read_text(encoding="utf-8").splitlines())
    assert (first["user"], first["thread"], first["sql"], first["rows"]) == ("ada", "t", COUNT, 1)
    assert first["queries"][:2] == ["SELECT * FROM customers", COUNT]
    assert any("MAX(" in query for query in first["queries"][2:]), "what the answer rests on was looked up"
    assert second["thread"] != first["thread"]
    assert second["question"] == "How many orders?\n{}"
    assert set(first) >= {"time", "user", "thread", "question", "sql", "rows", "status", "refused"}


def test_no_answer_without_its_record(shop: Path, tmp_path: Path) -> None:
    trail = tmp_path / "trail.jsonl"
    with SQLAgent(shop, model=writes(COUNT), settings=NONE, audit=trail) as agent:
        chat = agent.conversation("t")
        chat.ask("How many orders?")
        trail.unlink()
        trail.mkdir()
        with pytest.raises(AuditError, match="the answer is not given, because the audit trail"):
            chat.ask("And customers?")
        trail.rmdir()
        last = chat.last()
        assert last is not None
        assert last.question == "How many orders?"


def test_a_trail_is_never_begun_in_another_file(shop: Path, tmp_path: Path) -> None:
    before = shop.read_bytes()
    people = written(tmp_path / "people.json", '{"users": []}\n')
    for other in (shop, people):
        with pytest.raises(SettingsError, match="not an audit trail"):
            SQLAgent(shop, model="offline", audit=other)
    assert shop.read_bytes() == before
    assert people.read_text(encoding="utf-8") == '{"users": []}\n'


def test_the_command_line_reaches_all_of_it(shop: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "p.toml", "[default]\n[users.bo]\ndeny = ['customers']")
    trail = tmp_path / "trail.jsonl"
    base = ("ask", "How many customers are there?", "--db", str(shop), "--model", "offline", "--json")
    assert tableturn(*base, "--permissions", str(file), "--audit", str(trail)).returncode == 0
    hidden = tableturn(*base, "--permissions", str(file), "--user", "bo", "--audit", str(trail))
    assert "customers" not in json.loads(hidden.stdout)["text"] or hidden.returncode == 1
    assert [json.loads(line)["user"] for line in trail.read_text().splitlines()][1] == "bo"
    wrong = tableturn(*base, "--deny", "nothing")
    assert wrong.returncode == 2
    assert "'nothing'" in wrong.stderr
    linked = tableturn("link", "customers", "--db", str(shop), "--json", "--deny", "customers")
    assert "customers" not in {table["name"] for table in json.loads(linked.stdout)["tables"]}


@pytest.mark.parametrize("command", ["ask", "chat", "link", "annotate", "examples add", "examples search"])
def test_every_command_that_opens_a_database_takes_permissions(command: str) -> None:
    text = tableturn(*command.split(), "--help", COLUMNS="200").stdout
    assert all(option in text for option in ("--allow", "--deny", "--permissions", "--user"))


def test_a_name_of_nobody_is_no_error_of_ours(shop: Path) -> None:
    with SQLAgent(shop, model="offline") as agent, pytest.raises(TableturnError):
        agent.conversation("t").ask("")


STAFF = """
CREATE TABLE employees (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE salaries (id INTEGER PRIMARY KEY, employee_id INTEGER REFERENCES employees (id), amount REAL);
INSERT INTO employees VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy');
INSERT INTO salaries VALUES (1, 1, 100), (2, 2, 200);
"""
PAY, HEADS, NAMES = "SELECT sum(amount) FROM salaries", "SELECT count(*) FROM employees", "SELECT name FROM employees"
TEAM = "How big is the team?"


@pytest.fixture
def staff(tmp_path: Path) -> Iterator[SQLAgent]:
    """An agent for ada, who may read everything, for bo and cy, who may not read salaries, and for dan."""
    path = tmp_path / "staff.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(STAFF)
    hidden = "deny = ['salaries']"
    people = (
        f"[users.ada]\n[users.bo]\n{hidden}\n[users.cy]\n{hidden}\n[users.dan]\ndeny = ['salaries.id']\n[users.'']\n"
    )
    file = written(tmp_path / "p.toml", people)
    with SQLAgent(path, model=writes("SELECT 1"), permissions=file, examples=tmp_path / "store") as agent:
        yield agent


def approved(staff: SQLAgent, user: str, sql: str, question: str = TEAM) -> SavedAnswer:
    agent = staff.for_user(user)
    return agent.correct(agent.ask("How many?", settings={"verified": False}), sql, question=question).saved


def told(staff: SQLAgent, user: str, question: str = TEAM) -> str | None:
    return staff.for_user(user).ask(question).sql


def test_a_narrower_person_neither_replaces_nor_notices_a_wider_ones_query(staff: SQLAgent) -> None:
    alone = approved(staff, "bo", HEADS, "Alone?")
    assert approved(staff, "ada", PAY).replaced == 0
    assert told(staff, "bo") == "SELECT 1"
    saved = approved(staff, "bo", HEADS)
    assert (saved.new, saved.replaced) == (alone.new, alone.replaced) == (True, 0)
    assert (told(staff, "ada"), told(staff, "bo"), told(staff, "cy")) == (PAY, HEADS, HEADS)
    assert not [note for note in staff.for_user("bo").ask(TEAM).notes if "ada" in note]
    with pytest.raises(KnowledgeError, match="no saved answer or definition"):
        staff.for_user("bo").forget("What is paid?")
    assert staff.for_user("bo").forget(TEAM)
    assert told(staff, "bo") == "SELECT 1"
    assert told(staff, "ada") == PAY


def test_a_narrower_persons_wording_of_a_question_does_not_answer_a_wider_person(staff: SQLAgent) -> None:
    approved(staff, "ada", PAY)
    reworded = "Please tell me how big is the team"
    approved(staff, "bo", HEADS, reworded)
    assert (told(staff, "ada", reworded), told(staff, "bo", reworded)) == (PAY, HEADS)
    assert told(staff, "cy") == HEADS


def test_any_number_of_narrower_answers_does_not_crowd_out_a_wider_persons(staff: SQLAgent) -> None:
    approved(staff, "ada", PAY)
    wordings = [f"How big is the team{'?' * number}" for number in range(2, 15)]
    for number, wording in enumerate(wordings):
        approved(staff, "bo", f"{HEADS} WHERE id > -{number}", wording)
    assert told(staff, "ada") == PAY
    assert told(staff, "ada", wordings[3]) == PAY
    assert told(staff, "bo", wordings[3]) == f"{HEADS} WHERE id > -3"


def test_what_another_worker_approved_instead_answers_here(staff: SQLAgent, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    with SQLAgent(
        tmp_path / "staff.db", model=writes("SELECT 1"), permissions=file, examples=tmp_path / "store"
    ) as worker:
        for sql in (HEADS, PAY):
            approved(worker, "ada", sql)
            assert told(staff, "ada") == sql


def test_a_repeated_answer_does_not_hide_the_wider_persons_own(staff: SQLAgent) -> None:
    for _ in range(2):  # of several that read the same, any might be met first
        approved(staff, "ada", HEADS)
        approved(staff, "bo", HEADS)
        approved(staff, "dan", NAMES)
        assert told(staff, "ada") == HEADS
        staff.for_user("ada").forget(TEAM)


def test_a_narrower_person_can_read_a_wider_ones_query_and_not_replace_it(staff: SQLAgent) -> None:
    assert approved(staff, "ada", HEADS).new
    assert told(staff, "bo") == HEADS
    with pytest.raises(KnowledgeError, match="may read more"):
        staff.for_user("bo").forget(TEAM)
    saved = approved(staff, "bo", NAMES)
    assert saved.replaced == 0
    assert (told(staff, "ada"), told(staff, "bo")) == (HEADS, NAMES)
    assert approved(staff, "cy", HEADS).replaced == 1, "cy has the same rights as bo"
    assert approved(staff, "cy", HEADS).new is False


def test_a_wider_person_replaces_a_narrower_ones_query_only_where_it_is_not_missed(staff: SQLAgent) -> None:
    approved(staff, "bo", HEADS)
    assert told(staff, "ada") == HEADS
    assert approved(staff, "ada", PAY).replaced == 0, "bo would notice that his is gone"
    assert (told(staff, "ada"), told(staff, "bo")) == (PAY, HEADS)
    assert approved(staff, "ada", NAMES).replaced == 2
    assert (told(staff, "ada"), told(staff, "bo")) == (NAMES, NAMES)


def test_the_same_query_of_a_wider_person_is_not_told_by_a_reply(staff: SQLAgent) -> None:
    approved(staff, "ada", HEADS)
    saved = approved(staff, "bo", HEADS)
    assert (saved.new, saved.replaced) == (True, 0)
    assert saved.id == example_id(saved.example)
    assert (told(staff, "ada"), told(staff, "bo")) == (HEADS, HEADS)


def test_a_query_that_a_wider_person_shared_is_not_told(staff: SQLAgent) -> None:
    ada = staff.for_user("ada")
    answer = ada.correct(ada.ask("How many?"), PAY, question="What is paid?").answer
    ada.approve(answer, question=TEAM, shared=True)
    with pytest.raises(KnowledgeError, match="no saved answer or definition"):
        staff.for_user("bo").forget(TEAM)
    assert ada.forget(TEAM)


def test_any_number_of_hidden_examples_hides_no_other(staff: SQLAgent) -> None:
    for number in range(14):
        approved(staff, "ada", f"{PAY} WHERE id > {number}", f"How big is the team {number}?")
    before = approved(staff, "bo", HEADS, "How big is our great team here at work?")
    assert before.new
    tools = staff.for_user("bo").resources.tools
    for selector in ("skeleton", "question", "draft", "voted", "random"):
        found = tools.find_examples.call(question=TEAM, selector=selector)
        assert HEADS in [example.sql for example in found], selector
        assert not [example for example in found if "salaries" in example.sql], selector


def test_a_store_of_before_keeps_its_identifiers_and_counts_as_made_under_all_rights(
    staff: SQLAgent, tmp_path: Path
) -> None:
    database = staff.for_user("ada").resources.database
    old = replace(make_example(database, TEAM, HEADS), rights="")
    with ExampleStore.open(tmp_path / "store") as store:
        assert store.add([old]).added == 1
    assert told(staff, "bo") == "SELECT 1"
    assert approved(staff, "bo", NAMES).replaced == 0
    assert (told(staff, "ada"), told(staff, "bo")) == (HEADS, NAMES)
    assert approved(staff, "ada", HEADS).id == example_id(old)


def test_a_record_of_other_rights_under_an_identifier_of_before_is_written_anew(
    staff: SQLAgent, tmp_path: Path
) -> None:
    bo, ada = (staff.for_user(name).resources.database for name in ("bo", "ada"))
    old = make_example(bo, TEAM, HEADS)
    before = replace(old, rights="")
    with ExampleStore.open(tmp_path / "store") as store:
        store.add([before])
        *_, pair = make_record(replace(old, added=next(store.list()).example.added)).rows
        store._backend.put(
            (before.owner, "pairs"), {example_id(before): pair[-1]}, store.embedding([TEAM]), overwrite=True
        )
    assert told(staff, "ada") == HEADS
    assert approved(staff, "ada", HEADS).new is False
    approved(staff, "bo", NAMES)
    assert (told(staff, "ada"), told(staff, "bo")) == (HEADS, NAMES)
    assert ada.rights.key == ""


def test_notes_are_kept_apart_as_queries_are(staff: SQLAgent, tmp_path: Path) -> None:
    ada, bo, cy = map(staff.for_user, ("ada", "bo", "cy"))

    def means(agent: SQLAgent) -> str | None:
        known = agent.resources.knowledge and agent.resources.knowledge.read()
        return next((entry.sql for entry in known.entries if entry.name == "cost"), None) if known else None

    ada.note("cost = SUM(salaries.amount)")
    assert bo.note("cost = COUNT(employees.id)").source == bo.note("other = COUNT(employees.id)").source
    assert means(ada) == "SUM(salaries.amount)"
    assert means(bo) == means(cy) == "COUNT(employees.id)"
    assert bo.forget("cost")
    assert means(bo) is None
    assert means(ada)
    bo.note("size = COUNT(employees.id)")
    ada.note("size = SUM(salaries.id)")
    assert bo.forget("size"), "his own did not vanish"
    ada.note("heads = COUNT(employees.id)")
    with pytest.raises(KnowledgeError, match="other permissions"):
        bo.forget("heads")
    ada.note("bonus pool = SUM(salaries.amount)")
    for hidden_or_unknown in ("bonus pool", "severance pool"):
        bo.note(f"rule: {hidden_or_unknown}")
        assert bo.forget(hidden_or_unknown), "that ada defined one of them is not told"
    known = ada.resources.knowledge and ada.resources.knowledge.read()
    assert known
    assert "bonus pool" in [entry.name for entry in known.entries]
    pool = next(one.id for one in ada.list_lessons() if one.name == "bonus pool")
    assert "bonus pool" not in [one.name for one in bo.list_lessons()]
    for change in (lambda: bo.edit_lesson(pool, "COUNT(employees.id)"), lambda: bo.forget(pool)):
        with pytest.raises(KnowledgeError, match="no saved answer or definition"):
            change()
    assert "pay" in ada.note("pay means salaries").name
    assert bo.note("salaries means what ada says")
    known = bo.resources.knowledge and bo.resources.knowledge.read()
    assert known
    assert "what ada says" in [entry.text for entry in known.entries], "that ada explains salaries is not told"


def test_an_edited_rule_still_concerns_what_it_did(staff: SQLAgent) -> None:
    ada, bo = map(staff.for_user, ("ada", "bo"))
    verbs.save_knowledge_entry(
        Entry("convention", "wages are in cents", "wages are in cents", about=(("salaries", ""),)), ada.resources
    )
    (rule,) = ada.list_lessons()
    ada.edit_lesson(rule.id, "wages are in euros")
    assert [one.meaning for one in ada.list_lessons()] == ["wages are in euros"]
    assert bo.list_lessons() == ()


def test_the_order_of_notes_tells_nothing_of_hidden_ones(staff: SQLAgent) -> None:
    ada, bo = map(staff.for_user, ("ada", "bo"))
    ada.note("cost = SUM(salaries.amount)")
    for note in ("cost means effort", "name means surname", "zeal means effort"):
        bo.note(note)
    known = bo.resources.knowledge and bo.resources.knowledge.read()
    assert known
    assert [entry.name for entry in known.entries] == ["cost", "name", "zeal"]


def test_what_a_file_says_twice_of_what_is_hidden_is_not_told(staff: SQLAgent, tmp_path: Path) -> None:
    written(
        tmp_path / "staff.knowledge.yaml",
        "metrics: {Cost: {expression: SUM(salaries.amount)}, cost: {expression: SUM(salaries.id)}}",
    )
    told = {user: staff.for_user(user).resources.knowledge for user in ("ada", "bo")}
    problems = {user: known and (now := known.read()) and now.problems for user, known in told.items()}
    assert problems["ada"]
    assert problems["bo"] == ()


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Employees with pay ≥ 10", "Employees with pay ≤ 10"),
        ("What is pay - costs per head?", "What is pay + costs per head?"),
        ("Employees of grade A-", "Employees of grade A"),
        ("Employees not in team (A or B) and C", "Employees not in team A or (B and C)"),
        ("How many employees want a raise?", "How many employees need a raise?"),
        ("Share of ½ day", "Share of ¼ day"),
        ("Employees: A & B", "Employees: A | B"),
    ],
)
def test_a_question_of_other_signs_is_another_one(staff: SQLAgent, question: str, other: str) -> None:
    approved(staff, "ada", HEADS, question)
    assert (told(staff, "ada", question.rstrip("?") + "!"), told(staff, "ada", other)) == (HEADS, "SELECT 1")


def test_signs_and_names_keep_questions_apart(staff: SQLAgent) -> None:
    above, below, us, every = (f"SELECT {number}" for number in range(2, 6))
    approved(staff, "ada", above, "Employees with pay > 10")
    approved(staff, "ada", below, "Employees with pay < 10")
    approved(staff, "ada", us, "How many US employees?")
    approved(staff, "ada", every, "How many employees?")
    asked = (
        "Employees with pay > 10",
        "Employees with pay < 10",
        "How many US employees?",
        "Please, how many employees?",
    )
    assert [told(staff, "ada", question) for question in asked] == [above, below, us, every]
