"""The node that fetches few-shot examples, before the draft and before revisions."""

from __future__ import annotations

from dataclasses import replace

from ...tools.errors import ExampleStoreError
from ...tools.examples import Example, ExampleQuery, database_identity, regularize_example
from ...tools.sql.contradictions import find_contradiction
from ...tools.words import format_count
from ..advice import call_with_fallback
from ..context.task_inputs import get_previous_question, select_history, select_prompt_schema
from ..effects import Body, wait_for
from ..resources import Run
from ..settings import Settings
from ..state import AgentState, Update, get_attempts, load_turn, make_update


def choose_few_shot_examples(state: AgentState, run: Run) -> Body[Update]:
    """Choose few-shot examples for the turn; none if the translator cannot use examples.

    Revision chain 3.1, SQL-CRAFT 3 or CREDIT-SQL 3.3, by settings. Once there is a query, `draft` also compares its
    skeleton, as DAIL-SQL does, without a request of its own.
    """
    settings, turn, attempts = run.settings, load_turn(state), get_attempts(state)
    draft = attempts[-1].sql if attempts else ""
    then = "revise" if draft else "generate" if settings.reason == "off" else "reason"
    if settings.examples == "none" or not run.translator.reads_examples:
        return make_update(then, replace(turn, examples=()))
    schema = yield from select_prompt_schema(state, run)
    identity = database_identity(run.resources.database)
    # A later turn's words alone have no form to go by: with those of the turn before they may.
    text = " ".join(filter(None, [get_previous_question(turn, select_history(state, run)), turn.rephrasing.rephrased]))
    query = ExampleQuery(
        question=text,
        simplified=turn.rephrasing.simplified,
        schema=schema,
        values=(*turn.values, *turn.carried),
        draft_sql=draft,
        database=identity,
    )

    def choose_sound_examples() -> tuple[Example, ...]:
        matches = run.resources.tools.find_examples.call(
            question=text,
            selector=settings.examples,
            query=query,
            numbers=get_selector_parameters(settings),
            own=settings.own_examples,
        )
        sound = (
            # Those of this database may have been stored with a table's schema as a part of its name.
            replace(example, sql=run.spell(example.sql)) if example.owner == identity else example
            for example in matches
            if not find_contradiction(example.question, example.sql)
        )
        return tuple(
            regularize_example(example, schema.dialect) if settings.regular_examples else example for example in sound
        )

    def choose_examples_or_note() -> tuple[tuple[Example, ...], list[str]]:
        # A store that cannot be opened at all is an error of whoever set it up.
        run.resources.examples.open_store_for_search()
        try:
            return call_with_fallback("examples", choose_sound_examples, ()), []
        except ExampleStoreError as error:
            return (), [f"answered without examples: {error}"]

    examples, notes = yield from wait_for(choose_examples_or_note)
    own_count = sum(example.owner == identity for example in examples)
    run.emit({"event": "retrieved", "examples": len(examples), "own": own_count})
    if own_count:
        approved = format_count(own_count, "approved example", "approved examples")
        notes.append(f"the model was shown {approved} of this database")
    return make_update(then, replace(turn, examples=examples), notes)


def get_selector_parameters(settings: Settings) -> dict[str, int | float | str]:
    """Return the parameters of the chosen example selector."""
    numbers: dict[str, dict[str, int | float | str]] = {
        "skeleton": {
            "k1": settings.k_question_skeleton,
            "k2": settings.k_simplified_skeleton,
            "least": settings.example_likeness,
            "pool": settings.skeleton_pool,
            "form": settings.skeleton_form,
            "simplified": settings.simplify,
        },
        "draft": {"k": settings.k_question_skeleton + settings.k_simplified_skeleton},
        "voted": {
            "n": settings.n_voted,
            "m": settings.m_votes,
            "method": settings.clustering,
            "seed": settings.example_seed,
        },
        "random": {"k": settings.n_voted, "seed": settings.example_seed},
    }
    return numbers.get(settings.examples, {"k": settings.k_question})
