"""Corrections of table and column names in a query, and the names that a query asks for.

A name is corrected if only one can be meant; for a new attempt all that may be meant is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ..database.dialects import get_sqlglot_dialect
from ..database.quoting import NamingRules
from ..database.schema import Schema
from ..errors import SQLParseError
from ..words import find_nearest_names, find_similar, is_word_or_abbreviation, split_name, stem_name
from .parse import return_default_if_unparsable
from .query import Query, read_query
from .scope import (
    NameResolution,
    QuerySource,
    Reference,
    Scope,
    get_argument,
    is_aggregate_call,
    iterate_enclosing_scopes,
)


@dataclass(frozen=True)
class CorrectedQuery:
    """A query with corrected names of tables and columns."""

    sql: str
    names: Mapping[str, str]  # as written, and as the schema has them


@dataclass(frozen=True)
class _NameCorrection:
    """A correction of a name in a query; `target` is the schema's name, if reported."""

    parts: Sequence[exp.Identifier]
    text: str
    target: str = ""


@return_default_if_unparsable(None)
def mend_names(sql: str, part: Schema, avoid: Collection[str] = ()) -> CorrectedQuery | None:
    """Return the query with misspelt names corrected, never to a table in `avoid`.

    None if a name has no nearest one, or more than one, or nothing is misspelt.
    """
    query = Query.of(sql, part.dialect, part)
    paths = {table.name: table.path for table in part.tables if table.name not in avoid}
    resolution = query.resolution
    wrong = [reference for reference in resolution.references if reference.kind == "unknown"]
    unknown = [source for scope in resolution.scopes for source in scope.sources if not source.known]
    fixes = list(_correct_tables(unknown, paths, resolution) if unknown else _correct_columns(wrong, resolution))
    if not fixes or not all(place.text for place in fixes):
        return None
    names = {_join_name_parts(place.parts): place.target for place in fixes if place.target}
    return CorrectedQuery(_apply_name_corrections(query, fixes), names)


@return_default_if_unparsable("")
def _rewrite_table_names(sql: str, schema: Schema) -> str:
    query = Query.of(sql, schema.dialect, schema)
    naming, sources = query.rules.naming, [source for scope in query.scopes for source in scope.sources]
    wrong = {item: path for item in sources if (path := _find_path(item, schema)) and not _is_exact(item, path, naming)}
    counts = Counter(naming.key(wrong[source][-1]) if source in wrong else source.name for source in sources)
    # Beside another of its name, one keeps the name that it is called by.
    clashing = {source for source, path in wrong.items() if not source.node.alias and counts[naming.key(path[-1])] > 1}
    rows = {source.name: source for source in wrong}
    places: list[_NameCorrection] = []
    for source, path in wrong.items():
        parts = _get_name_parts(source.node)[-len(path) :]
        alias = f" AS {query.text(parts[-1])}" if source in clashing else ""
        places.append(_NameCorrection(parts, naming.format_table_path(path) + alias))
    for reference in query.resolution.references:
        node, source = reference.node, reference.source
        qualifier = _get_name_parts(node)
        if source is None and not qualifier:  # a whole row, as in count(t)
            source, qualifier = rows.get(query.rules.key(node.this)), [node.this]
        if source in wrong and source not in clashing and qualifier and not source.node.alias:
            places.append(_NameCorrection(qualifier, naming.quote_name_if_needed(wrong[source][-1])))
    return _apply_name_corrections(query, places) if places else ""


def write_exact_table_names(sql: str, schema: Schema) -> str:
    """Return the query with table names spelled exactly as the engine requires.

    They may be there in any case, and with the schema as a part of the name: `"sales.Bill"` becomes `sales."Bill"`.
    """
    return sql if schema.dialect == "sqlite" else _rewrite_table_names(sql, schema) or sql


def _find_path(source: QuerySource, schema: Schema) -> Sequence[str]:
    """Return the path of a source's table; empty if the source is not a table."""
    if not isinstance(source.node, exp.Table) or source.query is not None:
        return ()
    table = source.table or (None if source.known else schema.table(_join_name_parts(_get_name_parts(source.node))))
    return table.path if table else ()


def _is_exact(source: QuerySource, path: Sequence[str], naming: NamingRules) -> bool:
    """Whether the query spells the name of a table exactly as the engine does."""
    parts = _get_name_parts(source.node)
    return len(parts) >= len(path) and all(
        naming.key(part.name, in_quotes=part.quoted) == naming.key(name)
        and (part.name == name or not naming.tables_exact)
        for part, name in zip(parts[-len(path) :], path, strict=True)
    )


def _get_name_parts(node: exp.Expr) -> list[exp.Identifier]:
    """Return the parts of a table's name, or of the table name that qualifies a column."""
    keys = ("catalog", "db", "this" if isinstance(node, exp.Table) else "table")
    return [part for key in keys if isinstance(part := node.args.get(key), exp.Identifier)]


def _join_name_parts(parts: Iterable[exp.Identifier]) -> str:
    return ".".join(part.name for part in parts)


def _apply_name_corrections(query: Query, corrections: Iterable[_NameCorrection]) -> str:
    """Return the SQL of a query with the corrections applied."""
    text = query.sql
    for place in sorted(corrections, key=lambda place: -int(place.parts[0].meta["start"])):
        text = text[: place.parts[0].meta["start"]] + place.text + text[place.parts[-1].meta["end"] + 1 :]
    return text


def _correct_tables(
    unknown: list[QuerySource], paths: Mapping[str, Sequence[str]], resolution: NameResolution
) -> Iterator[_NameCorrection]:
    """Yield corrections of unknown tables; the text is empty if no name is similar."""
    naming = resolution.rules.naming
    for source in unknown:
        if not isinstance(source.node, exp.Table):
            continue
        parts = _get_name_parts(source.node)
        name = _find_nearest(source.node.name, paths) or _find_nearest(_join_name_parts(parts), paths)
        path = paths.get(name, ())
        yield _NameCorrection(parts[-len(path) :], naming.format_table_path(path), name)
        for reference in resolution.references if not source.node.alias else ():
            if reference.node.table == source.node.name:
                yield _NameCorrection(_get_name_parts(reference.node)[-1:], naming.format_table_path(path[-1:]))


def _correct_columns(unknown: Iterable[Reference], resolution: NameResolution) -> Iterator[_NameCorrection]:
    """Yield corrections of unknown columns; the text is empty if no name is similar."""
    naming = resolution.rules.naming
    for reference in unknown:
        if reference.scope is None:
            continue
        sources = [s for s in reference.scope.sources if reference.node.table.lower() in ("", s.name)]
        names = {name for source in sources for name in (source.columns or {}).values()}
        node = reference.node.this
        if isinstance(node, exp.Identifier) and "start" in node.meta:
            name = _find_nearest(node.name, sorted(names))
            yield _NameCorrection([node], naming.quote_name_if_needed(name) if name else "", name)


def find_misread_names(query: Query) -> list[str]:
    """Return the double-quoted words that SQLite reads as texts, but that mean columns."""
    words = (reference for reference in query.resolution.references if reference.kind == "string")
    return [word.column for word in words if word.scope and _is_misread_name(word.node, word.scope, query)]


def _is_misread_name(word: exp.Column, scope: Scope, query: Query) -> bool:
    if not scope.sources or not all(source.columns for source in scope.sources):
        return False
    sources = (source for level in iterate_enclosing_scopes(scope) for source in level.sources)
    names = sorted({name for source in sources for name in (source.columns or {}).values()})
    near = _find_nearest(word.name, names)
    if _NAME.fullmatch(word.name) and word.name.casefold() not in _TIME_WORDS and _is_in_arithmetic(word, scope, query):
        return True
    enclosing = iter(query.list_enclosing(word))
    node, parent = next(enclosing), next(enclosing)
    while isinstance(parent, _CALLS) and not isinstance(parent, _CHOICES) and not is_aggregate_call(parent):
        is_only = isinstance(parent, exp.Binary) or len(query.find(exp.Column, within=parent)) == 1
        if not is_only or _names_column(parent, query):
            return bool(near) and isinstance(parent, _ARITHMETIC)
        node, parent = parent, next(enclosing)
    if isinstance(parent, exp.Distinct) and len(parent.expressions) == 1:
        parent = next(enclosing)
    if isinstance(parent, exp.Group | exp.Ordered) or node.arg_key == "partition_by":
        return bool(near) or node is word
    if is_aggregate_call(parent) and get_argument(parent) is node:
        counts_rows = isinstance(parent, exp.Count) and node.parent is parent  # by any text
        is_only = isinstance(parent, exp.Anonymous) or not parent.expressions
        return is_only and (bool(near) or (node is word and not counts_rows))
    if isinstance(parent, _COMPARISONS):
        others = [part for part in query.find(exp.Expr, within=parent) if part.parent is parent and part is not node]
        if node is word and others and all(isinstance(other, exp.Literal | exp.Null) for other in others):
            return True
        is_whole_on = isinstance(next(enclosing), exp.Join)  # without it each row would be joined with each
        is_name = is_whole_on or not _names_column(parent, query, scope if parent.this is node else None)
        return bool(near) and is_name
    item = parent if isinstance(parent, exp.Alias) else node
    select = scope.select
    is_shown = any(item is other for other in select.expressions) and not any(
        isinstance(node, exp.Exists) for node in query.list_enclosing(select)[1:2]
    )
    is_union = any(isinstance(node, exp.SetOperation) for node in query.list_enclosing(select)[1:2])
    # Alone, "yes" says that there are rows.
    is_beside = (len(select.expressions) > 1 and not select.is_star) or "_" in word.name
    if is_shown and is_beside and not is_union and item.alias_or_name == word.name and _COLUMN.fullmatch(word.name):
        # A label has capitals, a name of its own, or others in the same place of a UNION; a text that the query looks
        # for may be shown beside what it finds.
        compared = [pair for part, _ in query.comparisons for pair in query.list_column_comparisons(part)]
        is_sought = any(query.literal(operand) == word.name for _, operand in compared)
        is_label = any(stem_name(word.name) == stem_name(source.base_name) for source in scope.sources)
        return not (is_label or is_sought)
    # Nobody asks for one text for each row of a table.
    is_alone = not any(_names_column(other, query) for other in select.expressions)
    if is_alone and "_" in word.name:
        near = near or next((name for name in names if {*split_name(name)} & {*split_name(word.name)}), "")
    is_free = is_alone or node is not word
    return bool(near) and is_shown and not _is_label(word.name, item, near, scope, query, is_free=is_free)


def _is_in_arithmetic(node: exp.Expr, scope: Scope, query: Query) -> bool:
    """Whether a number or date is computed from an expression, perhaps by an outer query."""
    node, *around = query.list_enclosing(node)
    for parent in around:
        is_passed = isinstance(parent, _PASSING) and node.arg_key == "this"
        is_result = isinstance(parent, exp.Case | exp.If) and node.arg_key in ("ifs", "true", "false", "default")
        if not (is_passed or is_result):
            break
        node = parent
    else:
        return False
    if isinstance(parent, exp.Anonymous):
        return parent.name.lower() in _TIMES and parent.expressions[0] is node
    if isinstance(parent, exp.Cast):
        return parent.to.is_type(*exp.DataType.NUMERIC_TYPES, *exp.DataType.TEMPORAL_TYPES)
    if isinstance(parent, _ARITHMETIC) or (isinstance(parent, _RECKONING) and node.arg_key == "this"):
        return True
    item = parent if isinstance(parent, exp.Alias) else node
    if all(item is not other for other in scope.select.expressions):
        return False
    readers = (ref for ref in query.resolution.references if ref.column.casefold() == item.alias_or_name.casefold())
    return any(
        _is_in_arithmetic(ref.node, ref.scope, query)
        for ref in readers
        if ref.scope and ref.source and ref.source.query and ref.source.query.unnest() is scope.select
    )


def _names_column(node: exp.Expr, query: Query, scope: Scope | None = None) -> bool:
    """Whether an expression names a column, in a given scope if any."""
    references = filter(None, map(query.reference, query.find(exp.Column, within=node)))
    return any(reference.kind != "string" and scope in (None, reference.scope) for reference in references)


def _is_label(text: str, item: exp.Expr, near: str, scope: Scope, query: Query, *, is_free: bool) -> bool:
    """Whether a text in the SELECT list labels another column, or a part of a UNION.

    With `is_free` nothing stands beside it, or something is made of it: what it is called says nothing.
    """
    select = scope.select
    refs = (ref for ref in query.resolution.references if ref.scope is scope and ref.clause == "select")
    if any(ref.kind == "column" and ref.column.casefold() == near.casefold() for ref in refs):
        return True
    is_part = set(split_name(text)) < set(split_name(near))
    is_table = any(stem_name(text) == stem_name(source.base_name) for source in scope.sources)
    # "amounts" AS part may be a label, "amout" AS revenue is none.
    is_other = stem_name(text) == stem_name(near) and not any(
        is_word_or_abbreviation(word, split_name(near)) for word in split_name(item.alias)
    )
    is_of_all = bool(query.find_aggregates(scope)) and not select.args.get("group")
    if (
        is_part
        or is_table
        or is_of_all
        or (item.alias and is_other and not is_free)
        or any(other.is_star for other in select.selects)
    ):
        return True
    unions = list(takewhile(lambda node: isinstance(node, exp.SetOperation), query.list_enclosing(select)[1:]))
    place = next(index for index, other in enumerate(select.selects) if other is item)
    arms = query.find(exp.Select, within=unions[-1]) if unions else ()
    others = [query.literal(arm.selects[place].unalias()) for arm in arms if place < len(arm.selects)]
    return any(isinstance(other, str) and other != text for other in others)


_COLUMN = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.In, exp.Between, exp.Is)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)
_PASSING = (exp.Paren, exp.Coalesce, exp.Nullif, exp.Collate)  # their first argument
_RECKONING = (
    exp.Neg,
    exp.Round,
    exp.Abs,
    exp.Ceil,
    exp.Floor,
    exp.Sqrt,
    exp.Sum,
    exp.Avg,
    exp.Date,
    exp.TsOrDsToTimestamp,
)
_TIMES = ("datetime", "julianday", "time", "timediff", "unixepoch")
_TIME_WORDS = ("now", "subsec", "subsecond")
_NAME = re.compile(r"[^\W\d]\w*(?: \w+)*")
_CALLS = (exp.Paren, exp.Neg, exp.Collate, exp.Func, exp.DPipe, *_ARITHMETIC)
_CHOICES = (exp.Case, exp.If, exp.Connector)  # whose texts are labels


_ENUM_ERROR = re.compile(r'invalid input value for enum (?:.*\.)?"?([^".]+)"?: "(.*)"', re.DOTALL)


@return_default_if_unparsable(None)
def mend_enum_comparisons(sql: str, error: str, schema: Schema) -> CorrectedQuery | None:
    """Return the query with an enum compared as text, if PostgreSQL refused the comparison."""
    if (match := _ENUM_ERROR.match(error)) is None:
        return None
    query = Query.of(sql, schema.dialect, schema)
    columns = [column for table in schema.tables for column in table.columns]
    enums = {column.name for column in columns if column.type.rpartition(".")[2].strip('"') == match[1]}
    if not any(text.is_string and text.name == match[2] for text in query.find(exp.Literal)):
        return None
    names: dict[int, _NameCorrection] = {}
    for node in query.find(exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Case):
        texts = [branch.this for branch in node.args["ifs"]] if isinstance(node, exp.Case) else node.expressions
        sides = [side for side in (*texts, node.args.get("this"), node.args.get("expression")) if side is not None]
        # More of its texts may be lacking than the one that the engine names.
        if not any(text.is_string for side in sides for text in query.find(exp.Literal, within=side)):
            continue
        for side in sides:
            for kind in query.find(exp.DataType, within=side) if isinstance(side, exp.Cast | exp.Any) else ():
                name = kind.args.get("kind")
                if isinstance(name, exp.Identifier) and name.name == match[1] and "start" in name.meta:
                    names[id(name)] = _NameCorrection([name], "text")
            if isinstance(side, exp.Column) and isinstance(side.this, exp.Identifier):
                column = query.column(side)
                # What a sub-query hands on has no type here: it is known by its name.
                if column.schema.name in enums if column is not None else side.name in enums:
                    names[id(side)] = _NameCorrection([side.this], f"{query.text(side.this)}::text")
    return CorrectedQuery(_apply_name_corrections(query, names.values()), {}) if names else None


def _find_nearest(name: str, names: Collection[str]) -> str:
    """Return the only known name that is similar to `name`; empty if none or several are."""
    near = find_similar(_normalize_name(name), list(map(_normalize_name, names)))
    only = near and (len(near) == 1 or near[0][0] < near[1][0])
    return next(other for other in names if _normalize_name(other) == near[0][1]) if only else ""


def _normalize_name(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def find_requested_tables(schema: Schema, sql: str) -> frozenset[str]:
    """Return the tables that a query names; for unknown names, tables with similar names."""
    names = [table.name for table in schema.tables]
    if (query := read_query(sql, schema)) is None:
        try:
            words = [token.text.lower() for token in get_sqlglot_dialect(schema.dialect).tokenize(sql)]
        except SqlglotError:  # a quote that is never closed
            words = re.findall(r"\w+", sql.lower())
        tables = {table.name for word in words if (table := schema.table(word))}
        unknown = {word for before, word in pairwise(words) if before in ("from", "join") and not schema.table(word)}
    else:
        sources = [source for scope in query.scopes for source in scope.sources]
        tables = {source.table.name for source in sources if source.table}
        unknown = {source.node.name for source in sources if not source.known}
    return frozenset(tables | {near for name in unknown for near in find_nearest_names(name, names)})


def extend_schema_for_query(schema: Schema, part: Schema, sql: str) -> Schema:
    """Return a part of a schema, extended by the tables and columns that a query names.

    A table that the part lacks comes whole and first: whoever wrote the query knew only its name. If the schema has no
    table of a name, those come whose names are most like it; if the tables have no column of a name, they come whole.
    """
    table_names = find_requested_tables(schema, sql)
    missing = [table for table in schema.tables if table.name in table_names and part.table(table.name) is None]
    columns = {table.name: dict.fromkeys(column.name for column in table.columns) for table in (*missing, *part.tables)}
    if query := read_query(sql, schema):
        for table, column in sorted(query.usage.columns):
            columns.setdefault(table, {})[column] = None
        for reference in query.resolution.references:
            for source in reference.scope.sources if reference.kind == "unknown" and reference.scope else ():
                if source.table and reference.node.table.lower() in ("", source.name):
                    names = dict.fromkeys(column.name for column in source.table.columns)
                    columns[source.table.name] = columns.get(source.table.name, {}) | names
    return schema.part([(table, list(names)) for table, names in columns.items()])


def mend_string_quotes(sql: str, columns: Collection[str]) -> str:
    """Return SQLite's SQL with double-quoted texts in single quotes, column names excepted."""
    try:
        query = Query.of(sql, "sqlite")
    except SQLParseError:
        return sql
    sql = query.sql
    for node in sorted(query.list_compared_words(), key=lambda node: -node.this.meta.get("start", 0)):
        start, end = node.this.meta.get("start", 0), node.this.meta.get("end", 0) + 1
        if node.name.lower() not in columns and sql[start : start + 1] == '"' == sql[end - 1 : end]:
            sql = sql[:start] + exp.Literal.string(node.name).sql("sqlite") + sql[end:]
    return sql
