"""Inputs for prompt tests: a small business, a conversation about it, and every task in every form."""

from __future__ import annotations

from typing import Any, get_args

from tableturn.prompts.annotate import AnnotateColumnsTask, AnnotateTablesTask
from tableturn.prompts.explain import ExplainTask
from tableturn.prompts.generate import DialogueExample, DialogueQueryTask, GenerateSQLTask, PromptStyle
from tableturn.prompts.judge import JudgedQuery, JudgeTask
from tableturn.prompts.reason import PandasCodeTask, SQLFromCodeTask
from tableturn.prompts.rephrase import RephraseTask, SimplifyTask
from tableturn.prompts.reply_types import Rephrasing
from tableturn.prompts.revise import MergeProposal, MergeProposalsTask, ReviseSQLTask
from tableturn.prompts.task import Task
from tableturn.tools.database.rendering.render import SchemaStyle
from tableturn.tools.database.schema import ColumnSchema, ForeignKey, Schema, TableSchema
from tableturn.tools.examples.example import Example
from tableturn.tools.examples.seeds import DialogueTurn, SeedDialogue, SeedProgram
from tableturn.tools.linking.linked import PastTurn
from tableturn.tools.values.match import ValueMatch

SCHEMA = Schema(
    "shop",
    (
        TableSchema(
            "customer",
            (
                ColumnSchema("id", "INTEGER", "number", 1),
                ColumnSchema("name", "TEXT", samples=("Ann O'Neil", "Bo")),
                ColumnSchema("city", "TEXT", samples=("Lyon", "Paris")),
            ),
            row_count=2,
        ),
        TableSchema(
            "order",
            (
                ColumnSchema("id", "INTEGER", "number", 1),
                ColumnSchema("customer id", "INTEGER", "number"),
                ColumnSchema("total", "REAL", "number", samples=(12.5,)),
            ),
            row_count=9,
        ),
    ),
    (ForeignKey("order", ("customer id",), "customer", ("id",)),),
    total_tables=7,
)
HISTORY = (
    PastTurn("how many customers?", "Give me the number of customers.", "SELECT count(*) FROM customer", "1 row: 2"),
    PastTurn("list them", "Give me the names of all customers.", "SELECT name FROM customer", "2 rows"),
)
EXAMPLES = (
    Example("How many dogs are there?", "SELECT count(*) FROM dog", "kennel", "dog(id* number, name text)"),
    Example("Which dogs are old?", "SELECT name FROM dog WHERE age > 9", "kennel", "dog(id* number, age number)"),
)
APPROVED = Example(
    "Give me the orders of the customer Bo.",
    'SELECT "order".id FROM "order" JOIN customer ON "order"."customer id" = customer.id WHERE customer.name = \'Bo\'',
    "shop",
    source="approved",
    shared=False,
    owner="shop@0123456789abcdef",
)
VALUES = (ValueMatch("customer", "name", "Ann O'Neil", "ann oneil", 10, 19, 0.9, "typo"),)
DIALOGUES = (
    SeedDialogue(
        "kennel",
        "dog(id* number, name text)",
        (
            DialogueTurn("dogs?", "Give me the names of all dogs."),
            DialogueTurn("how many?", "Give me the number of dogs."),
        ),
    ),
)
PROGRAMS = (
    SeedProgram(
        "kennel",
        "How many dogs are there?",
        "The answer is one number.",
        'result = pd.DataFrame({"n": [len(db_dict["dog"])]})',
        "SELECT count(*) FROM dog",
    ),
)
REPHRASING = Rephrasing("Give me the orders of the customer Ann O'Neil.", "Give me what Ann O'Neil ordered.")
SCHEMA_STYLES: dict[PromptStyle, SchemaStyle] = {
    "full": "compact",
    "credit": "credit",
    "craft": "craft",
    "track": "track",
    "revision": "ddl",
}


def generate(style: PromptStyle = "full", **changes: Any) -> GenerateSQLTask:
    """The question in the form of one preset."""
    inputs: dict[str, Any] = {
        "question": "what did ann oneil order",
        "rephrasing": REPHRASING,
        "schema": SCHEMA,
        "history": HISTORY,
        "base": HISTORY[-1],
        "values": VALUES,
        "examples": EXAMPLES,
        "style": style,
        "schema_style": SCHEMA_STYLES[style],
        "marked": frozenset({("customer", "name")}),
        "evidence": "orders are never empty",
        "engine": "SQLite",
    }
    return GenerateSQLTask(**inputs | changes)


def revise(style: PromptStyle, **changes: Any) -> ReviseSQLTask:
    """A query that failed, with all feedback there can be."""
    inputs: dict[str, Any] = {
        "generate": generate(style),
        "sql": "SELECT total FROM orders",
        "feedback": "no such table: orders",
        "error_kind": "unknown_table",
        "explanation": "It shows all totals; the question wants those of one customer.",
        "result_csv": "total\n12.5",
        "contents": "order.total: 12.5",
        "code_result": "total\n12.5",
    }
    return ReviseSQLTask(**inputs | changes)


PROPOSALS = (
    MergeProposal('SELECT total FROM "order"', 3, "total\n12.5"),
    MergeProposal('SELECT id, total FROM "order"', 1, feedback="The query also returns id."),
)
"""A majority and one that differs."""


def every_task() -> dict[str, Task[Any]]:
    """Each task in each of its forms, by a name for snapshots."""
    asked = ("Which order?", "the last one")
    tasks: dict[str, Task[Any]] = {
        "rephrase_full": RephraseTask("and ann's?", HISTORY, SCHEMA, dialogues=DIALOGUES),
        "rephrase_full_clarified": RephraseTask("and ann's?", HISTORY, SCHEMA, asked, simplify=False),
        "rephrase_credit": RephraseTask("and ann's?", HISTORY, SCHEMA, style="credit", dialogues=DIALOGUES),
        "rephrase_credit_clarified": RephraseTask("and ann's?", HISTORY, SCHEMA, asked, style="credit"),
        "dialogues": DialogueQueryTask(
            "and ann's?",
            "Table order, columns = [*, id, total]",
            HISTORY,
            (DialogueExample("Table dog, columns = [*, id]", HISTORY[:1]),),
        ),
        "merge": MergeProposalsTask(generate(), PROPOSALS),
        "annotate_columns": AnnotateColumnsTask(
            tuple((table, column) for table in SCHEMA.tables for column in table.columns)
        ),
        "annotate_tables": AnnotateTablesTask(SCHEMA.tables),
        "judge": JudgeTask(
            "and ann's?",
            HISTORY,
            SCHEMA,
            JudgedQuery('SELECT total FROM "order"', "total\n12.5", 1),
            JudgedQuery('SELECT totl FROM "order"', "no such column: totl", None),
            evidence="totals are in euros",
            data=(("order", "id,total\n1,12.5"),),
        ),
        "simplify": SimplifyTask("Enumerate the appellations of all clients."),
        "explain": ExplainTask("and ann's?", REPHRASING.rephrased, 'SELECT total FROM "order"', SCHEMA),
        "reason_pot": PandasCodeTask(generate("full", schema_style="frames"), "pot", PROGRAMS),
        "reason_code_blocks": PandasCodeTask(generate("full", schema_style="frames"), "code_blocks", PROGRAMS),
        "reason_craft_pot": PandasCodeTask(generate("craft", schema_style="frames"), "pot", PROGRAMS),
        "reason_craft_code_blocks": PandasCodeTask(generate("craft", schema_style="frames"), "code_blocks", PROGRAMS),
        "sql_from_code": SQLFromCodeTask(generate("craft"), 'result = db_dict["order"]', "id,total\n1,12.5"),
        "generate_full_approved": generate(examples=(APPROVED, *EXAMPLES), database=APPROVED.owner),
        "generate_full_first_turn": generate(history=(), base=None, marked=frozenset(), evidence="", values=()),
        "generate_full_any": generate(
            reply="any", rephrasing=Rephrasing("", ""), conventions="people", today="2026-01-31"
        ),
        "generate_full_settle": generate(reply="settle", rephrasing=Rephrasing("", ""), clarified=(asked,)),
        "generate_full_benchmark": generate(reply="answer", conventions="benchmark"),
        "revise_full_ran": revise("full", error_kind=None, feedback="", explanation="", contents="", code_result=""),
        "revise_revision_ran": revise("revision", error_kind=None, feedback="", contents="", explanation=""),
    }
    for style in get_args(PromptStyle):
        tasks[f"generate_{style}"] = generate(style)
        tasks[f"revise_{style}"] = revise(style)
    return tasks
