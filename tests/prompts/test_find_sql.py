"""Finding SQL in replies as models really write them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tableturn.prompts.find_sql import find_sql
from tableturn.tools.errors import ReplyError

from tests.support.steps import grows_in_proportion
from tests.tools.sql.test_literals import CHANGING

Q = "SELECT name FROM singer WHERE age > 20"

FOUND = {
    "bare": (Q, Q),
    "semicolon": (f"{Q};", Q),
    "fence": (f"```sql\n{Q};\n```", Q),
    "fence of no language": (f"```\n{Q}\n```", Q),
    "fence of a dialect": (f"```sqlite\n{Q}\n```", Q),
    "fence in capitals": (f"```SQL\n{Q}\n```", Q),
    "tilde fence": (f"~~~sql\n{Q}\n~~~", Q),
    "indented fence": (f"  ```sql\n  {Q}\n  ```", Q),
    "quoted fence": (f"> ```sql\n{Q}\n> ```", Q),
    "fence on one line": (f"```sql {Q} ```", Q),
    "fence not closed": (f"Here it is:\n```sql\n{Q}", Q),
    "prose before and after": (f"Sure! This gives the names:\n\n{Q}\n\nThis query filters by age.", Q),
    "prose on the next line": (f"{Q}\nThis query filters by age.", Q),
    "sqlquery label": (f"SQLQuery: {Q}", Q),
    "langchain's labels": (f"Question: names?\nSQLQuery: {Q}\nSQLResult: 3\nAnswer: three", Q),
    "sql label": (f"SQL: {Q}", Q),
    "bold label": (f"**SQL Query:** {Q}", Q),
    "bold label, colon after": (f"**Final SQL**: {Q}", Q),
    "label and a line break": (f"The SQL query is:\n{Q}", Q),
    "label and ticks": (f"SQL: `{Q}`", Q),
    "goes on with the next question": (f"{Q}\n\nQ: How many?\nSQL: SELECT count(*) FROM t", Q),
    "label and goes on": (f"SQL: {Q}\nQ: How many?\nSQL: SELECT count(*) FROM t", Q),
    "inline code": (f"You want `{Q}` here.", Q),
    "json": (f'{{"sql": "{Q}"}}', Q),
    "json in a fence": (f'```json\n{{"thought": "easy", "sql": "{Q};"}}\n```', Q),
    "json with a fence inside": (f'{{"query": "```sql\\n{Q}\\n```"}}', Q),
    "json with a trailing comma": (f'{{"SQL": "{Q}",}}', Q),
    "tags": (f"Fine.\n<sql>\n{Q};\n</sql>\nDone.", Q),
    "answer tags": (f"<answer>{Q}</answer>", Q),
    "fence in tags": (f"<sql>\n```sql\n{Q}\n```\n</sql>", Q),
    "fence of an odd name": (f"```text\n{Q}\n```", Q),
    "think tags": (f"<think>maybe SELECT 1?</think>\n{Q}", Q),
    "think tags, opening swallowed": (f"hmm SELECT 1 maybe\n</think>\n```sql\n{Q}\n```", Q),
    "steps, then the answer": (f"The old one was\n```sql\nSELECT 1\n```\nAdd a filter:\n```sql\n{Q}\n```", Q),
    "answer, then an alternative": (f"```sql\n{Q}\n```\nAlternatively:\n```sql\nSELECT 2\n```", Q),
    "code, then SQL": (f"```python\nresult = df\n```\n```sql\n{Q}\n```", Q),
    "explain": (f"EXPLAIN QUERY PLAN {Q}", Q),
    "with": ("WITH t AS (SELECT 1 AS a) SELECT a FROM t", "WITH t AS (SELECT 1 AS a) SELECT a FROM t"),
    "comment first": (f"-- the names\n{Q}", f"-- the names\n{Q}"),
    "semicolon in a string": ("SELECT ';' FROM t; x", "SELECT ';' FROM t"),
    "semicolon in a comment": ("SELECT 1 -- a; b\nFROM t", "SELECT 1 -- a; b\nFROM t"),
    "empty line inside": ("SELECT a\nFROM t\n\nWHERE b = 1", "SELECT a\nFROM t\n\nWHERE b = 1"),
    "empty line inside, lower case": ("select a\nfrom t\n\nwhere b = 1", "select a\nfrom t\n\nwhere b = 1"),
    "wrong in small letters": ("select a from t where b ! = 1", "select a from t where b ! = 1"),
    "wrong in capitals": ("SELECT a FROM t WHERE b ! = 1", "SELECT a FROM t WHERE b ! = 1"),
    "title case": ("SELECT a\nFrom t\nWhere b = 1", "SELECT a\nFrom t\nWhere b = 1"),
    "empty line in brackets": ("SELECT a FROM (\n\nselect 1 AS a\n\n)", "SELECT a FROM (\n\nselect 1 AS a\n\n)"),
    "ticks as quotes": ("SELECT `a b` FROM `t`", "SELECT `a b` FROM `t`"),
    "several lines": ("```sql\nSELECT a,\n       b\nFROM t\n```", "SELECT a,\n       b\nFROM t"),
    "lower case": ("select a from t", "select a from t"),
    "in a sentence with a semicolon": (
        "Sure! The query you want is SELECT COUNT(*) FROM Track; it counts rows.",
        "SELECT COUNT(*) FROM Track",
    ),
    "in a sentence": ("Use SELECT count(*) FROM singer. It counts.", "SELECT count(*) FROM singer"),
    "a write is passed on to be rejected": ("```sql\nDROP TABLE singer\n```", "DROP TABLE singer"),
    "string not closed": ("SELECT 'a FROM t;", "SELECT 'a FROM t"),
    "windows line ends": ("```sql\r\nSELECT a\r\nFROM t\r\n```\r\n", "SELECT a\r\nFROM t"),
    "set operation": ("(SELECT a FROM t) UNION SELECT b FROM u", "(SELECT a FROM t) UNION SELECT b FROM u"),
    "no break before the fence": (f"Here:```sql\n{Q}\n```", Q),
}


@pytest.mark.parametrize(("reply", "sql"), FOUND.values(), ids=FOUND.keys())
def test_finds_the_query(reply: str, sql: str) -> None:
    assert find_sql(reply).sql == sql


@pytest.mark.parametrize("begin", ["BEGIN;", "begin transaction;\n", "START TRANSACTION; "])
def test_of_a_transaction_the_first_statement_counts(begin: str) -> None:
    for reply in (f"{begin} DELETE FROM hires; COMMIT", f"```sql\n{begin} DELETE FROM hires;\nCOMMIT;\n```\nSure: 90"):
        assert find_sql(reply).sql == "DELETE FROM hires"


@pytest.mark.parametrize("sql", CHANGING)
def test_statements_that_change_something_are_passed_on_to_be_rejected(sql: str) -> None:
    for reply in (sql, f"```sql\n{sql}\n```", f"```sql\n{sql.lower()}\n```", f"This does it:\n\n{sql}"):
        assert find_sql(reply, "postgres").sql.lower() == sql.lower()


@pytest.mark.parametrize(
    "sql", ["PIVOT a ON b USING count(*)", "UNPIVOT (SELECT a, b FROM t)\nON a, b INTO NAME n VALUE v"]
)
def test_a_pivot_is_passed_on_to_be_rejected(sql: str) -> None:
    for reply in (sql, f"```sql\n{sql}\n```", f"This does it:\n\n{sql}"):
        assert find_sql(reply, "duckdb").sql == sql
    assert find_sql(f"```sql\n{sql.lower()}\n```", "duckdb").sql == sql.lower()
    assert find_sql("```sql\nsummarize a\n```", "duckdb").sql == "summarize a"
    assert find_sql(f"Pivot (by month) on the date:\n\n{Q}").sql == Q


@pytest.mark.parametrize("gap", [" ", "\n"])
@pytest.mark.parametrize("case", [str.upper, str.lower])
def test_a_query_that_begins_with_from_is_taken_whole(gap: str, case: Callable[[str], str]) -> None:
    sql = case(f"FROM a JOIN b ON a.id = b.id{gap}SELECT count(*) AS n")
    for reply in (sql, f"```sql\n{sql}\n```", f"```\n{sql}\n```", f"This does it:\n\n{sql}", f"SQL: {sql}"):
        assert find_sql(reply, "duckdb").sql == sql
    assert find_sql(f"From the schema I see:\n\n{Q}").sql == Q
    with pytest.raises(ReplyError):
        find_sql(f"The answer is {sql}".replace("\n", " "), "duckdb")


def test_what_stands_beside_a_query_is_left_out() -> None:
    assert find_sql("```sql\nEXPLAIN ANALYZE DELETE FROM t\n```").sql == "DELETE FROM t"
    assert find_sql(f"```sql\nSET search_path = public;\n{Q};\n```", "postgres").sql == Q


NOT_FOUND = {
    "empty": ("", "empty"),
    "blank": (" \n ", "empty"),
    "only reasoning": ("<think>SELECT 1</think>", "empty"),
    "reasoning not closed": ("<think>SELECT 1", "empty"),
    "refusal": ("I'm sorry, but I can't help with that.", "refused"),
    "cannot": ("The schema has no ages, so this cannot be answered.", "refused"),
    "prose": ("The singers over twenty are listed in the table.", "malformed"),
    "prose that starts like SQL": ("With this schema, you look at singers.", "malformed"),
    "prose that starts with select": ("Select the rows that matter, then count them.", "malformed"),
    **{
        f"prose that starts with {text.split()[0].lower()}": (text, "malformed")
        for text in (
            "Call the singers over twenty.",
            "Do the singers have ages?",
            "Set the age to twenty, and count again.",
            "set it to five rows",
            "Comment: the ages come from the table singer.",
            "Comment on the ages in singer.",
            "Grant them access to the table.",
            "Copy the rows from singer to a sheet.",
            "Analyze the ages first.",
            "lock the table, then count",
        )
    },
    "prose that would parse": ("Select everything", "malformed"),
    "json without sql": ('{"sql": null}', "malformed"),
    "json of prose": ('{"query": "all singers"}', "malformed"),
    "python": ("```python\nresult = 1\n```", "malformed"),
}


@pytest.mark.parametrize(("reply", "kind"), NOT_FOUND.values(), ids=NOT_FOUND.keys())
def test_says_why_there_is_none(reply: str, kind: str) -> None:
    with pytest.raises(ReplyError) as caught:
        find_sql(reply)
    assert caught.value.kind == kind
    assert caught.value.hint


def test_notes_further_statements() -> None:
    found = find_sql("SELECT 1; SELECT 2;")
    assert found.sql == "SELECT 1"
    assert found.notes


def test_notes_further_queries() -> None:
    assert find_sql("```sql\nSELECT 1\n```\nbut rather\n```sql\nSELECT 2\n```").notes


HOSTILE = (
    "```",
    "```\n",
    "`",
    "{",
    '{"sql": ',
    "(",
    "SELECT ",
    "<think>",
    "</think>",
    "SQL: ",
    "\n\n",
    ";",
    "-- ",
    "/*",
    "'",
    "SELECT 1;\n\n",
    "(\n\n",
    "--\n",
    "select x\n",
    "SQL:\n",
    "SELECT\n/*\n",
    "<sql>",
    "<sql>SELECT ",
    "<a>",
)


@pytest.mark.whole
@pytest.mark.parametrize("piece", HOSTILE)
def test_takes_linear_work(piece: str) -> None:
    def find(length: int) -> None:
        with contextlib.suppress(ReplyError):
            find_sql("SELECT a " + piece * (length // len(piece)))

    find(90_000)
    assert grows_in_proportion(find, 3_000)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from((*HOSTILE, "a", " FROM t", "\n", '"', "```sql\n", "}", "WITH t AS", "This is")), max_size=30
    )
)
def test_any_reply_gives_one_statement_or_a_reply_error(pieces: list[str]) -> None:
    with contextlib.suppress(ReplyError):
        assert find_sql("".join(pieces)).sql.strip()


FORMS = (
    "{}",
    "{};",
    "```sql\n{};\n```",
    "SQLQuery: {}\nSQLResult: 3",
    "Here is the query:\n\n{}\n\nIt counts.",
    "Here is the query:\n{}\nThis query counts.",
    "<sql>{}</sql>",
    "{}\n\nQ: And now?\nSQL: SELECT 9",
)


@pytest.mark.data
@pytest.mark.parametrize("form", FORMS)
def test_queries_of_people_come_back_as_they_are(form: str, data_dir: Path) -> None:
    records = json.loads((data_dir / "spider" / "train_spider.json").read_text(encoding="utf-8"))
    queries = [record["query"].strip().rstrip(";").strip() for record in records[::40]]
    assert len(queries) > 100
    assert [find_sql(form.replace("{}", query)).sql for query in queries] == queries
