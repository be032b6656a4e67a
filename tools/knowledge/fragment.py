"""SQL of definitions: parsed, checked against the schema, and put into queries."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from ..database.egress import has_match
from ..database.schema import ColumnSchema, ForeignKey, Schema, TableSchema
from ..errors import (
    KnowledgeError,
    QueryError,
    QueryTimeout,
    QueryTooCostly,
    SQLParseError,
    TableLocked,
    TableturnError,
)
from ..sql import Query, write_exact_table_names
from ..sql.dialects import KEYWORDS, get_dialect_rules
from ..sql.query import qualify_column, read_query
from ..sql.scope import Reference, Scope, restrict_aggregates, split_at_and, write_without_tables
from ..sql.texts import begins_write_statement, is_surely_sql, read_statement, strip_where
from ..words import find_nearest_names, format_did_you_mean, join_words, stems
from .entry import Entry, Item
from .read import DATABASE

if TYPE_CHECKING:
    from ..database import Database

# What looks like the name of a table or column in a text.
_NAMES = re.compile(r"`([^`]+)`|\b([A-Za-z]\w*\.[A-Za-z]\w*|[A-Za-z]+(?:_\w+)+)\b")
_CALL = re.compile(r"\b(?:METRIC|TERM)\s*\(\s*'", re.IGNORECASE)
_LONGEST = 20_000  # characters of a query in which definitions are looked for
_CONTRADICTS = "it contradicts"
_INCOMPLETE = re.compile(r"Required keyword|Expecting \)|Error tokenizing")


@dataclass(frozen=True)
class SQLFragment:
    """An SQL condition or expression with qualified columns."""

    sql: str
    tree: exp.Expr
    tables: tuple[str, ...]  # those that must stand in FROM, in the order in which it names them
    inner: tuple[str, ...]  # those that its sub-queries read
    columns: tuple[Item, ...]  # what it reads of them


def _read_fragment(sql: str, dialect: str, schema: Schema | None = None) -> tuple[Query, exp.Expr]:
    """Return the analysis of `SELECT fragment`, and the fragment's syntax tree in it."""
    try:
        query = Query.of(f"SELECT {sql}", dialect, schema)
    except SQLParseError as error:
        reason = "it is incomplete" if _INCOMPLETE.search(str(error)) else str(error).rstrip(".")
        raise KnowledgeError(f"{sql!r} is not an SQL expression ({reason})") from None
    tree = query.tree
    parts = {name for name, part in tree.args.items() if part}
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or parts != {"expressions"}:
        raise KnowledgeError(f"{sql!r} is more than one expression: give a condition, or what is computed")
    return query, tree.expressions[0].unalias()


def parse_fragment(sql: str, dialect: str) -> exp.Expr:
    """Parse an SQL condition or expression; raise `KnowledgeError` if it is neither."""
    return _read_fragment(sql, dialect)[1].copy()


def classify_fragment(tree: exp.Expr) -> Literal["metric", "term"] | None:
    """Return `metric` for an aggregate over rows, `term` for a condition, else None."""
    if any(node.find_ancestor(exp.Select) is None for node in tree.find_all(exp.AggFunc)):
        return "metric"
    inner = tree.unnest()
    value = isinstance(inner, exp.Literal | exp.Neg | exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.DPipe)
    return None if value else "term"


def resolve_sql_fragment(sql: str, schema: Schema, about: Sequence[str] = ()) -> SQLFragment:
    """Parse an SQL fragment and spell its names as the schema does.

    Columns without a table are looked for in the tables `about` first, which are those read where it names none. What
    is no fragment, or names what the schema lacks, raises a `KnowledgeError` that has the nearest name.
    """
    exact = write_exact_table_names(f"SELECT {strip_where(sql)}", schema).removeprefix("SELECT ")
    query, expression = _read_fragment(exact, schema.dialect, schema)
    edit, columns = query.edit(), list[Item]()
    for reference in query.resolve_among(tuple(about)):
        columns.append(_get_item(reference, schema))
        qualify_column(edit.of(reference.node), columns[-1], schema)
    tree = edit.of(expression).pop()
    inner = tuple(_find_table_or_column(schema, node.name, qualifier=node.db)[0] for node in tree.find_all(exp.Table))
    if not columns and not (about and classify_fragment(tree) == "metric"):
        raise KnowledgeError(
            f"{sql!r} names no column: qualify columns by their tables, as in orders.total; "
            "name the table of COUNT(*) with `about`"
        )
    # Names are quoted only where they must be: models copy what they see.
    naming = get_dialect_rules(schema.dialect).naming
    for identifier in tree.find_all(exp.Identifier):
        name = str(identifier.this)
        identifier.set("quoted", name.lower() in KEYWORDS or not naming.can_be_unquoted(name))
    tables = tuple(dict.fromkeys(table for table, _ in columns) or dict.fromkeys(about))
    return SQLFragment(tree.sql(dialect=schema.dialect), tree, tables, inner, tuple(dict.fromkeys(columns)))


def parse_definition(
    name: str, meaning: str, schema: Schema, *, only_sql: bool = False, about: Sequence[Item] = ()
) -> Entry:
    """Return a definition as a term or metric: as SQL if it can be parsed, else in words.

    What it is `about` says which table `COUNT(*)` counts.
    """
    try:
        fragment = resolve_sql_fragment(meaning, schema, [table for table, _ in about])
        kind = classify_fragment(fragment.tree)
        if kind is None:
            raise KnowledgeError(f"{meaning!r} is neither a condition nor an aggregate")
    except KnowledgeError as error:
        if only_sql:
            raise KnowledgeError(f"not saved: {error}; write a meaning in words as {name} means ...") from None
        return Entry("term", name, meaning, about=tuple(about))
    items = () if fragment.columns else tuple((table, "") for table in fragment.tables)
    return Entry(kind, name, "" if kind == "metric" else meaning, fragment.sql, about=items)


def _get_item(reference: Reference, schema: Schema) -> Item:
    """Return the table and column of a fragment's column; raise `KnowledgeError` if unclear."""
    column, source = reference.node, reference.source
    if reference.kind == "ambiguous":
        tables = [candidate.table.name for candidate in reference.candidates if candidate.table is not None]
        raise KnowledgeError(f"{column.name!r} is a column of {join_words(tables, 'or')}: qualify it by its table")
    if source is None or source.table is None:
        if column.table:
            return _find_table_or_column(schema, column.table, column.name, column.db)
        columns = (part for table in schema.tables for part in table.columns)
        raise KnowledgeError(f"there is no column {column.name!r}{_suggest_similar_names(column.name, columns)}")
    return _find_table_or_column(schema, source.table.name, reference.column)


def _find_table_or_column(schema: Schema, table: str, column: str = "", qualifier: str = "") -> Item:
    """Return a table or column as the schema spells it; raise `KnowledgeError` if missing."""
    home = schema.table(f"{qualifier}.{table}") or schema.table(table)
    if home is None:
        if holders := [owner.name for owner in schema.tables if owner.column(table)]:
            raise KnowledgeError(f"{table!r} is a column of {join_words(holders, 'or')}: qualify it by its table")
        raise KnowledgeError(f"there is no table {table!r}{_suggest_similar_names(table, schema.tables)}")
    if not column:
        return home.name, ""
    if (column_schema := home.column(column)) is None:
        raise KnowledgeError(f"{home.name} has no column {column!r}{_suggest_similar_names(column, home.columns)}")
    return home.name, column_schema.name


def _suggest_similar_names(name: str, choices: Iterable[TableSchema | ColumnSchema]) -> str:
    near = format_did_you_mean(find_nearest_names(name, (item.name for item in choices), 2))
    return f"; {near}" if near else ""


@dataclass(frozen=True)
class EntryProblem:
    """A knowledge entry that is left out, and the reason."""

    entry: Entry
    why: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.entry.source, self.entry.key, self.why)))


def check_entries(layers: Sequence[Sequence[Entry]], database: Database) -> tuple[list[Entry], list[EntryProblem]]:
    """Return the entries that fit the database, and the problems of the other entries.

    Of two layers that define the same the later one counts. Where whoever opened the database may not see all of it,
    what names something that is not visible is left out without a word: why would tell that it is there.
    """
    schema = database.schema()
    problems: list[EntryProblem] = []
    fitting: list[Entry] = []
    hidden: set[str] = set()
    items = [(table.name, "", table.comment) for table in schema.tables]
    items += [(table.name, column.name, column.comment) for table in schema.tables for column in table.columns]
    comments = [Entry.make_item_description(*item, source=DATABASE) for item in items if item[2]]
    full_layers = [comments if [entry.source for entry in layer] == [DATABASE] else layer for layer in layers]
    for entry in _take_topmost_entries(full_layers, problems):
        try:
            fitting.append(_adapt_entry_to_schema(entry, schema, database))
        except TableturnError as error:
            problems.append(EntryProblem(entry, str(error)))
            hidden |= {part.lower() for item in entry.about for part in item if part}
    if key := database.rights.key:
        problems.clear()
        visible = {item.name.lower() for table in schema.tables for item in (table, *table.columns)}
        layers_of_rights = database.session.policy.permissions.list_permission_layers()
        denials = [entry for layer in layers_of_rights for entry in layer.deny]
        hidden |= {part for entry in denials for part in (entry, *entry.split(".")) if part.strip("*")}
        hidden = (hidden | getattr(database.engine, "hidden_names", frozenset[str]())) - visible
        visible |= {f"{table.name}.{column.name}".lower() for table in schema.tables for column in table.columns}
        # What is written under these rights tells nothing that is hidden from them.
        fitting = [entry for entry in fitting if entry.rights == key or not _may_reveal_hidden(entry, visible, hidden)]
        # In which file an entry stands, and where, tells whether there is a hidden one of its name.
        fitting.sort(key=lambda entry: (entry.added, entry.key))
    if ruled_tables := getattr(database.engine, "ruled_tables", frozenset[str]()):
        # Literals of others' definitions may be cells of rows that this person may not see.
        others = [entry for entry in fitting if entry.rights not in ("", key) and _has_literal(entry, schema.dialect)]
        quoting = {entry.key for entry in others if not ruled_tables.isdisjoint(_write_entry_query(entry, schema)[1])}
        fitting = [entry for entry in fitting if entry.key not in quoting]
    levels = database.leaving().column_levels
    withheld = [entry for entry in fitting if entry.kind != "join" and any(item in levels for item in entry.about)]
    for entry in withheld:  # it may be shown to a model where it has no values
        if entry.values or _has_literal(entry, schema.dialect):
            fitting.remove(entry)
    return _drop_conflicting_entries(fitting, problems), problems


def _has_literal(entry: Entry, dialect: str) -> bool:
    tree = parse_fragment(entry.sql, dialect) if entry.sql else read_statement(entry.text, dialect)
    return tree is not None and tree.find(exp.Literal) is not None


def _take_topmost_entries(layers: Sequence[Sequence[Entry]], problems: list[EntryProblem]) -> list[Entry]:
    """Return one entry per key, as the topmost layer with that key defines it."""
    topmost: dict[str, Entry] = {}
    for layer in layers:
        layer_entries: dict[str, Entry] = {}
        for entry in layer:
            key = f"{entry.kind} {' '.join(entry.name.lower().split())}"
            if key in layer_entries and layer_entries[key].line != entry.line:
                problems.append(EntryProblem(entry, f"{_CONTRADICTS} another entry of the same file: keep one of them"))
            layer_entries.setdefault(key, entry)
        topmost |= layer_entries
    return list(topmost.values())


def _adapt_entry_to_schema(entry: Entry, schema: Schema, database: Database) -> Entry:
    """Return an entry with names as the schema has them; raise `KnowledgeError` if impossible."""
    if entry.fault:
        raise KnowledgeError(entry.fault)
    about = tuple(_resolve_entry_item(item, schema) for item in entry.about)
    if entry.kind == "join":
        key = parse_join_entry(entry, schema)
        ends = (key.table, key.columns), (key.ref_table, key.ref_columns)
        return replace(entry, about=tuple((table, column) for table, columns in ends for column in columns))
    if entry.kind not in ("term", "metric") or not entry.sql:
        _compile_query(replace(entry, about=about), schema, database)
        return replace(entry, about=about)
    expression, _, condition = entry.sql.partition("\n")
    if condition:
        tree, where = parse_fragment(expression, schema.dialect), parse_fragment(condition, schema.dialect)
        if not restrict_aggregates(tree, where):
            raise KnowledgeError(f"{expression!r} has no aggregate that `where` can filter: add the condition to it")
        expression = tree.sql(dialect=schema.dialect)
    fragment = resolve_sql_fragment(expression, schema, [table for table, _ in about])
    if classify_fragment(fragment.tree) != entry.kind:
        metric_form = "a metric's expression computes over rows: SUM, COUNT, AVG and the like"
        condition = "a term's SQL is a condition on a row, not an aggregate or a value"
        raise KnowledgeError(metric_form if entry.kind == "metric" else condition)
    fitting = replace(entry, sql=fragment.sql, about=tuple(dict.fromkeys((*fragment.columns, *about))))
    _compile_query(fitting, schema, database)
    return fitting


def _compile_query(entry: Entry, schema: Schema, database: Database) -> None:
    """Check that the database can compile the SQL of a term or metric, if it has SQL."""
    query, names = _write_entry_query(entry, schema)
    failure = query and database.compile_check(query, [table for table in schema.tables if table.name in names])
    if failure:
        form = "write a condition as TABLE.COLUMN = VALUE, or the meaning as a sentence"
        raise KnowledgeError(f"its SQL does not compile: {failure}; {form}")


def _resolve_entry_item(item: Item, schema: Schema) -> Item:
    """Return a table or column as the schema spells it; table names may contain a dot."""
    if (table := schema.table(".".join(filter(None, item)))) is not None:
        return table.name, ""
    bare = [name[1:-1] if name[:1] + name[1:][-1:] in ('""', "``", "[]") else name for name in item]
    return _find_table_or_column(schema, *bare)


def _write_entry_query(entry: Entry, schema: Schema) -> tuple[str, tuple[str, ...]]:
    """Return a query that runs an entry's SQL, and the tables that it reads; '' without SQL.

    A text that is SQL counts: what does not fit the schema raises a `KnowledgeError`.
    """
    sql = entry.sql or (entry.text if is_surely_sql(entry.text, schema) else "")
    if entry.kind not in ("term", "metric") or not sql:
        return "", ()
    if begins_write_statement(sql):
        raise KnowledgeError(f"{sql!r} would change the database: give a condition, or what is computed")
    try:
        if entry.sql or (statement := read_statement(sql, schema.dialect)) is None:
            fragment = resolve_sql_fragment(sql, schema, [table for table, _ in entry.about])
            return _write_fragment_query(fragment, schema), (*fragment.tables, *fragment.inner)
        ctes = {cte.alias for cte in statement.find_all(exp.CTE)}
        tables = [table for table in statement.find_all(exp.Table) if table.name not in ctes]
        return sql, tuple(_find_table_or_column(schema, table.name, qualifier=table.db)[0] for table in tables)
    except KnowledgeError as error:
        words = "" if entry.sql else "; write a meaning in words as a sentence, and a rule as rule: TEXT"
        raise KnowledgeError(f"{error}{words}") from None


def _write_fragment_query(fragment: SQLFragment, schema: Schema) -> str:
    """Write a query that computes a fragment over its tables."""
    first, *others = (exp.table_(*schema.path(name)[::-1], quoted=True) for name in fragment.tables)
    condition = classify_fragment(fragment.tree) == "term"
    query = (exp.select("1").where(fragment.tree) if condition else exp.select(fragment.tree)).from_(first)
    for table in others:
        query = query.join(table, join_type="CROSS")
    return query.sql(dialect=schema.dialect)


def run_entry_sql(entry: Entry, schema: Schema, run: Callable[[str], object]) -> str:
    """Run the SQL of a term or metric; return why it took too long or was blocked, or ''.

    SQL that fails raises `KnowledgeError`.
    """
    query, _ = _write_entry_query(entry, schema)
    try:
        if query:
            run(query)
    except (QueryTimeout, QueryTooCostly, TableLocked) as error:
        return str(error)  # it compiles, and a question may ask for a part of a large table
    except QueryError as error:
        raise KnowledgeError(f"its SQL does not run: {error}") from None
    return ""


def parse_join_entry(entry: Entry, schema: Schema) -> ForeignKey:
    """Return a join entry as a foreign key; raise `KnowledgeError` if it is invalid."""
    ends: list[tuple[Item, Item]] = []
    query, condition = _read_fragment(entry.sql, schema.dialect, schema)
    references = {id(reference.node): reference for reference in query.resolve_among()}
    for pair in split_at_and(condition):
        sides = [side for side in (pair.this, pair.args.get("expression")) if isinstance(side, exp.Column)]
        if not isinstance(pair, exp.EQ) or len(sides) != 2:
            raise KnowledgeError("a join is written as visits.customer_ref = customers.id, further pairs after AND")
        if not all(side.table for side in sides):
            raise KnowledgeError(f"{pair.sql()!r} lacks a table: write visits.customer_ref = customers.id")
        ends.append((_get_item(references[id(sides[0])], schema), _get_item(references[id(sides[1])], schema)))
    if len({(left[0], right[0]) for left, right in ends}) != 1:
        raise KnowledgeError("a join is of two tables: write each pair in the same order")
    left, right = zip(*ends, strict=True)
    return ForeignKey(left[0][0], tuple(item[1] for item in left), right[0][0], tuple(item[1] for item in right))


def _may_reveal_hidden(entry: Entry, visible: set[str], hidden: set[str]) -> bool:
    """Whether an entry's words may reveal names that the user may not see."""
    # They do where they hold the name of something that entries of the same files describe and that is not visible, or
    # anything that looks like a name and is none that is.
    text = " ".join((entry.name, entry.text, *entry.also, *(meaning for _, meaning in entry.values)))
    words = set(re.findall(r"\w+", text.lower())) - visible
    if has_match(hidden, words) or any(" " in name and name in text.lower() for name in hidden):
        return True
    return any((in_quotes or plain).lower() not in visible for in_quotes, plain in _NAMES.findall(text))


def _drop_conflicting_entries(entries: Sequence[Entry], problems: list[EntryProblem]) -> list[Entry]:
    """Return the entries without terms and metrics that share a name with another."""
    named = [entry for entry in entries if entry.kind in ("term", "metric")]
    by_phrase: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
    for entry in named:
        for phrase in entry.phrases:
            by_phrase[phrase].append(entry)
    conflicts: set[str] = set()
    for entry in named:
        if others := [other.key for phrase in entry.phrases for other in by_phrase[phrase] if other.key != entry.key]:
            why = f"{_CONTRADICTS} {others[0]!r}, which has the same name: keep one, or rename one"
            problems.append(EntryProblem(entry, why))
            conflicts.add(entry.key)
    return [entry for entry in entries if entry.key not in conflicts]


def expand_named_definitions(sql: str, entries: Sequence[Entry], dialect: str) -> str:
    """Replace `METRIC('name')` and `TERM('name')` in a query by the SQL of that entry.

    A model that writes `METRIC('net revenue')` gets the expression as the file has it, not as it would write it again;
    a name that there is not raises `KnowledgeError`.
    """
    if not _CALL.search(sql):
        return sql
    query = read_query(sql, Schema("", (), dialect=dialect))
    if query is None:
        return sql  # the engine says what is wrong with it
    edit = query.edit()
    by_name = {f"{entry.kind} {' '.join(phrase)}": entry for entry in entries if entry.sql for phrase in entry.phrases}
    for call in query.find(exp.Anonymous):
        kind = str(call.this).lower()
        if kind not in ("metric", "term") or not call.expressions or not call.expressions[0].is_string:
            continue
        name = str(call.expressions[0].this)
        entry = by_name.get(f"{kind} {' '.join(stems(name))}")
        if entry is None:
            names = ", ".join(repr(other.name) for other in entries if other.kind == kind and other.sql) or "none"
            raise KnowledgeError(f"there is no {kind} {name!r} with SQL of its own; there is {names}")
        edit.of(call).replace(exp.Paren(this=_apply_query_aliases(entry, call, query)))
    return edit.sql


def _apply_query_aliases(entry: Entry, call: exp.Expr, query: Query) -> exp.Expr:
    """Return an entry's SQL with the table aliases of the query that contains `call`."""
    fragment, tree = _read_fragment(entry.sql, query.rules.name)
    edit, visible, key = fragment.edit(), query.map_visible_sources(call), query.rules.key
    found = {name: (source, is_own) for source, is_own in visible.values() for name in source.table_names}
    for call in fragment.find_aggregates(fragment.scopes[0]):
        names = {_join_name_parts(column.parts[:-1]) for column in fragment.find(exp.Column, within=call)}
        if (read := names & found.keys()) and not any(found[name][1] for name in read):
            raise KnowledgeError(f"{entry.key!r} would add up rows of an outer SELECT: join {join_words(sorted(read))}")
    for column in (reference.node for reference in fragment.resolution.references if reference.source is None):
        source, _ = found.get(_join_name_parts(column.parts[:-1]), (None, False))
        name = source.name if source is not None else key(column.args.get("table"))
        if name in (visible if source is None else fragment.map_visible_sources(column)):
            raise KnowledgeError(f"{entry.key!r} has another table {name!r}: choose another alias")
        if source is not None and name != key(column.args["table"]):
            edit.of(column).set("db", None)
            edit.of(column).set("table", source.identifier.copy())
    return edit.of(tree)


def _join_name_parts(parts: Iterable[exp.Expr]) -> str:
    return ".".join(part.name.lower() for part in parts)


def find_used_entries(query: Query, entries: Sequence[Entry], question: str) -> tuple[Entry, ...]:
    """Return the entries that a query's SQL uses.

    A term with SQL if that is a condition of the query, a metric if it is computed, on the same columns; one in words
    alone if the question has its name and the query reads what it is about; a description or a rule if the query reads
    its column, and of coded values if it looks for one of them.
    """
    if not entries or len(query.sql) > _LONGEST:
        return ()
    items, schema, scopes = query.usage, query.schema, query.result_scopes
    texts = {
        "term": [{write_without_tables(part) for part in _list_applied_conditions(query, scope)} for scope in scopes],
        "metric": [set(map(write_without_tables, query.find_in(scope, exp.Condition))) for scope in scopes],
    }
    read_items = items.columns | {(table, "") for table in items.tables}
    question_stems = set(stems(question))

    def is_used(entry: Entry) -> bool:
        """Whether the query uses the entry."""
        about = any(item in read_items for item in entry.about)
        match entry.kind:
            case "term" | "metric" if entry.sql:
                try:
                    fragment, tree = _read_fragment(entry.sql, schema.dialect, schema)
                    columns = {_get_item(reference, schema) for reference in fragment.resolve_among()}
                except KnowledgeError:
                    return False
                parts = set(map(write_without_tables, split_at_and(tree)))
                return columns <= read_items and any(parts <= expressions for expressions in texts[entry.kind])
            case "term" | "metric":
                # Words alone show in no SQL: only that it reads what they are about.
                return about and any(set(phrase) <= question_stems for phrase in entry.phrases)
            case "never":
                return False
            case "join":
                return all(item in read_items for item in entry.about)
            case _ if entry.values and not entry.text:
                return about and any(query.constants.has_matching_constant(code.casefold()) for code, _ in entry.values)
            case _:
                return about

    return tuple(filter(is_used, entries))


def _list_applied_conditions(query: Query, scope: Scope) -> list[exp.Expr]:
    """Return the conditions on rows of a SELECT and of its aggregates, split at AND."""
    nodes = [cond.node for cond in query.conditions(scope) if cond.clause != "on" or cond.is_required]
    return [part for node in nodes for part in split_at_and(node)]
