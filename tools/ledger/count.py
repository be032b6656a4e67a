"""Counts for the ledger of a query, by queries of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial

from sqlglot import exp

from ..database.table import Cell
from ..sql.parse import return_default_if_unparsable
from ..sql.query import Query, TableColumn
from ..sql.scope import QuerySource, Scope, copy_select_with_outputs, copy_source_node, get_argument, select_from
from ..words import humanize_name
from .ledger import MATERIAL, JoinCount, Ledger, MissingCount, NewestDate, VariantCount
from .newest import compare_newest_date
from .parts import (
    asks_for_each,
    copy_select_without,
    excludes_constants,
    find_exclusion,
    find_sum,
    get_source_name,
    is_text_column,
    list_visible_ctes,
    make_case,
    make_count,
    may_leave_out_rows,
    name_rows,
    render_cell,
    to_int,
    write_condition,
    write_expression,
    write_missing,
)
from .passed import find_passed_column, list_optional_sources
from .path import (
    MOSTLY_ONE,
    NO_SUBJECT,
    SHAPING,
    UNLIKE_NULL,
    Count,
    JoinPath,
    JoinStep,
    NotCountedError,
    SingleSource,
    check_countable,
    find_path,
    find_row_table,
)
from .repeated import (
    count_repeated_rows,
    expects_every_row_to_match,
    find_counting_key,
    refers_by_values,
    sums_for_each_row,
)
from .variants import CODE, MOST_VALUES, find_compared_variants, find_group_variants

_LONGEST, _MOST_SCOPES = 10_000, 8
_EXAMPLES = 3

_UNREAD = Ledger(not_counted=("the rows: the query cannot be read",))


@return_default_if_unparsable(_UNREAD)
def build_query_ledger(
    query: Query | None,
    count: Count,
    *,
    newest: Callable[[str, str], str] | None = None,
    today: date | None = None,
    examples: bool = False,
    rows: Sequence[Sequence[Cell]] = (),
    question: str = "",
    ruled_tables: frozenset[str] = frozenset(),
) -> Ledger:
    """Count the rows that a query's joins leave out or repeat, and missing values.

    Args:
        query: The query, against what whoever asks may read; None for one that cannot be read.
        count: Runs the queries that count.
        newest: Looks up the newest day in a column of a table; empty if it is not known.
        today: The day by which a period that has not ended yet is cut.
        examples: Whether some of the lost rows are looked up.
        rows: All rows of the query's result; none if they are not known. Beside a single number another one can stand,
            and the rows are the groups, which need no count.
        question: What was asked.
        ruled_tables: Tables of which the engine leaves out rows by who asks: what has no match may have a hidden one.
    """
    if query is None:
        return _UNREAD
    if len(query.sql) > _LONGEST:
        return Ledger(not_counted=("the rows: the query is too long",))
    keeper = _LedgerCounter(query, count, examples, ruled_tables & query.tables.keys(), question, rows)
    # Sub-queries first: of what they give, those around them ask whether it is whole.
    for scope in sorted(query.scopes[:_MOST_SCOPES], key=lambda scope: -scope.select.depth):
        keeper.add_scope_counts(scope)
    if len(query.scopes) > _MOST_SCOPES:
        keeper.not_counted.append("further sub-queries")
    other, other_sql = keeper.recompute_with_lost_rows()
    keeper.add_ones()
    if newest is not None:

        def compare() -> None:
            keeper.newest = compare_newest_date(query, count, newest, today or date.today())

        keeper.attempt("whether the data ends before the period asked about", compare)
    for scope in query.scopes[:_MOST_SCOPES]:  # last, as time may run out
        keeper.add_variants(scope)
    return Ledger(
        joins=tuple(keeper.joins),
        nulls=tuple(keeper.nulls),
        variants=tuple(keeper.variants),
        newest=keeper.newest,
        not_counted=tuple(dict.fromkeys(keeper.not_counted)),
        other=other,
        other_sql=other_sql,
    )


@dataclass
class _LedgerCounter:
    """A collector of the ledger's counts, one SELECT at a time."""

    query: Query
    count: Count
    examples: bool
    rls_tables: frozenset[str]  # those that the query reads
    question: str
    rows: Sequence[Sequence[Cell]]
    joins: list[JoinCount] = field(default_factory=list[JoinCount])
    nulls: list[MissingCount] = field(default_factory=list[MissingCount])
    variants: list[VariantCount] = field(default_factory=list[VariantCount])
    not_counted: list[str] = field(default_factory=list[str])
    newest: NewestDate | None = None
    top: JoinPath | None = None
    distinct_sources: list[QuerySource] = field(default_factory=list[QuerySource])  # those whose rows no join repeats
    # Of SELECTs' sources those of which no join leaves out rows, but for faults in the data.
    whole: dict[int, QuerySource] = field(default_factory=dict[int, QuerySource])
    lefts: dict[int, bool | None] = field(default_factory=dict[int, "bool | None"])
    may_repeat: bool = False  # whether rows that joins leave out would be there several times

    def name(self, source: QuerySource) -> str:
        return get_source_name(self.query, source)

    def attempt(self, what: str, count: Callable[[], None]) -> bool:
        """Count something; return whether it was counted, and note it if not."""
        try:
            count()
        except NotCountedError as reason:
            self.not_counted.append(f"{what}: {reason}")
            return False
        return True

    def add_scope_counts(self, scope: Scope) -> None:
        """Add the counts of one SELECT, as far as its rows can be counted."""
        tables = ", ".join(map(self.name, scope.sources))
        try:
            path = find_path(self.query, scope)
        except NotCountedError as reason:
            if scope.sources:
                self.not_counted.append(f"the rows of {tables}: {reason}")
        else:
            if scope.select is self.query.tree:
                self.top = path
            if not path.steps and len(scope.sources) > 1:
                self.not_counted.append(f"the rows that {tables} leave out: {NO_SUBJECT}")
            record = partial(self._record_repeated_rows, path, len(self.joins))
            repeats = [("repeated rows", partial(record, single)) for single in path.singles]
            repeats += [("rows", partial(self._add_equal_counts, path, source)) for source in path.equals]
            for what, add in (("rows", partial(self._add_join_counts, path)), *repeats):
                if not self.attempt(f"the {what} of {tables}", add):
                    self.may_repeat = True
        for source in scope.sources:
            if source.table is not None and may_leave_out_rows(source.table, self.query.schema):
                self.not_counted.append(f"the rows that {self.name(source)} leaves out: it is a view")
        for node in self.query.find_in(scope, exp.In, exp.Exists, exp.All, exp.Any) if scope.sources else ():
            inner = node.args.get("query") if isinstance(node, exp.In) else node.this
            if inner is None or not isinstance(inner.unnest(), exp.Query):
                continue
            other = self.query.find_scope(inner.unnest())
            others = ", ".join(map(self.name, other.sources if other is not None else ())) or "a sub-query"
            self.not_counted.append(f"the rows of {tables} that have no match in {others}: a condition looks for it")
            if (condition := find_exclusion(self.query, node)) is None:
                continue
            if other is not None:
                what = f"missing values in {others}, which “not in” compares"
                self.attempt(what, partial(self._add_excluded_values, other, others))
            what = f"the rows of {tables} that “not in” leaves out for a missing value"
            self.attempt(what, partial(self._add_rows_without_value, scope, condition))
        for condition in self.query.conditions(scope) if scope.sources else ():
            if condition.clause == "where" and excludes_constants(self.query, condition.node):
                what = f"the rows of {tables} that a condition leaves out for a missing value"
                self.attempt(what, partial(self._add_rows_without_value, scope, condition.node, is_told=False))

    def add_variants(self, scope: Scope) -> None:
        """Add the values of one SELECT's groups that differ only in how they are written."""
        select, terms = scope.select, self.query.resolve_group_by_terms(scope)
        if terms is None and select.args.get("group") is not None:
            tables = ", ".join(map(self.name, scope.sources))
            self.not_counted.append(f"missing values and variants in {tables}: it groups by several sets of columns")
        if select.args.get("distinct") is not None and not self.query.find_aggregates(scope):
            terms = terms or [item.unalias() for item in select.expressions]
        different = (agg for agg in self.query.find_aggregates(scope, exp.Count) if isinstance(agg.this, exp.Distinct))
        arguments = (argument for argument in map(get_argument, different) if argument is not None)
        columns = self._find_columns([*(terms or ()), *arguments], scope, "variants")
        texts = [column for column in columns if is_text_column(column.schema) and not column.schema.likely_key]
        run = partial(self._run_select, scope=scope)
        for column in {column.place: column for column in texts}.values():
            self._add_variants(column, partial(find_group_variants, self.query, run, scope, column))
        for column, *comparison in self._iterate_compared_texts(scope):
            self._add_variants(column, partial(find_compared_variants, self.query, run, scope, column, *comparison))

    def _iterate_compared_texts(self, scope: Scope) -> Iterator[tuple[TableColumn, exp.Expr, list[exp.Expr]]]:
        """Yield each column of texts that WHERE compares with texts, the condition and the texts."""
        for condition in (part.node for part in self.query.conditions(scope) if part.clause == "where"):
            node = condition.this.unnest() if isinstance(condition, exp.Not) else condition
            pairs = self.query.list_column_comparisons(node) if isinstance(node, exp.EQ | exp.NEQ | exp.In) else []
            for column in [column for column, _ in pairs[:1]]:
                table, schema = column.table.name, column.schema
                # Each value of a key is a row of its own, however it is spelled; who looks for one of many has it.
                refers = any(
                    key.table == table and schema.name in key.columns for key in self.query.schema.foreign_keys
                )
                if not refers and is_text_column(schema) and (schema.distinct or 0) <= MOST_VALUES:
                    texts = [other for _, other in pairs if len(str(self.query.literal(other) or "")) >= CODE]
                    yield from [(column, condition, texts)] if texts else []

    def _add_variants(self, column: TableColumn, find: Callable[[], VariantCount | None]) -> None:
        what = f"variants of {'.'.join(column.item)}"
        self.attempt(what, lambda: self.variants.extend(filter(None, [find()])))

    def _find_columns(self, nodes: Iterable[exp.Expr], scope: Scope, what: str) -> list[TableColumn]:
        """Return the columns that expressions are, but for primary keys; note what is computed."""
        columns = list[TableColumn]()
        for node in nodes:
            if (column := find_passed_column(self.query, node)) is None:
                parts = [find_passed_column(self.query, part) for part in self.query.find(exp.Column, within=node)]
                if any(what != "variants" or part is None or is_text_column(part.schema) for part in parts):
                    self.not_counted.append(f"{what} of {write_expression(self.query, node)}: the value is computed")
            elif column.scope is scope and not (column.source.table is not None and column.is_primary_key):
                columns.append(column)
        return columns

    def _run_select(self, select: exp.Select, scope: Scope) -> Sequence[Sequence[Cell]]:
        """Run a SELECT with the CTEs that are visible in a scope, and return its rows."""
        return self.count(self._write(select, scope))

    def _write(self, select: exp.Select, scope: Scope) -> str:
        if ctes := list_visible_ctes(self.query, scope.select):
            select.set("with_", exp.With(expressions=ctes))
        return select.sql(dialect=self.query.rules.grammar, copy=False)

    # Rows that joins leave out, and missing values

    def _count_by_inner_join(self, path: JoinPath, outputs: list[exp.Expr], ends: list[exp.Expr]) -> list[int] | None:
        """Return what outputs count, by an inner join.

        None if it is not quicker or does not tell the lost rows.
        """
        step, *more = path.steps or [None]
        if step is None or more or step.kept or path.subject not in self.distinct_sources or self.query.rules.is_sqlite:
            return None
        if path.find_filtering_sources() and any(part.sources != (step.source,) for part in path.filters):
            return None
        refer = make_count([path.make_reference_condition(step, self.lefts)], None)
        ((every, referring),) = self._run_select(path.build_select([outputs[0], refer], until=0), path.scope)
        (cells,) = self._run_select(path.build_select([outputs[0], *ends], side=""), path.scope)
        rows, (stay, *others) = to_int(every), map(to_int, cells)
        return [rows, *([rows] if path.filters else []), rows - stay, to_int(referring) - stay, *others]

    def _add_join_counts(self, path: JoinPath) -> None:
        if any(s.source.table is None or s.source.table.name in self.rls_tables for s in path.steps if self.rls_tables):
            raise NotCountedError(f"which rows of {', '.join(sorted(self.rls_tables))} may be read depends on who asks")
        columns, value = self._list_grouped_or_averaged_columns(path), find_sum(path)
        columns = [entry for entry in columns if self._may_be_missing(path, *entry)]
        run, nodes, repeating = partial(self._run_select, scope=path.scope), [entry[0].node for entry in columns], path
        path, key = find_counting_key(self.query, run, path, nodes)
        if key is None and path.steps and path is repeating:
            self.distinct_sources.append(path.subject)
        self.may_repeat |= key is not None or path is not repeating
        self.may_repeat |= any(single.source is not path.subject for single in path.singles)
        if not (path.steps or columns):
            return
        for step in path.steps:
            parts = [part for part in path.filters if step.source in part.sources]
            several = any(len(part.sources) > 1 for part in parts)
            if (several and not step.has_key) or (parts and key and not (step.has_key and not step.kept)):
                raise NotCountedError(f"a condition may choose among the rows of {self.name(step.source)}")
        comes = {id(step): path.list_conditions_before(step) for step in path.steps}
        for step in (step for step in path.steps if step.kept):
            expected = not step.conditions and expects_every_row_to_match(self.query, step, self.whole)
            self.lefts[id(step.source)] = expected
        refers = {id(step): path.make_reference_condition(step, self.lefts) for step in path.steps}
        filtering, outputs = path.find_filtering_sources(), [make_count([], key)]
        for step in path.steps:
            # Without conditions on other tables what comes to a join is what those before it leave.
            outputs += [make_count(comes[id(step)], key)] if path.filters else []
            # Of the partners of a row that is there several times one is enough.
            condition = step.missing if key is None else exp.not_(step.missing, copy=False)
            outputs.append(make_count([*comes[id(step)], condition], key))
            alone = [step.missing] if key is None else []
            if conditions := path.list_filters_after(step):
                # Who has no partner may meet the condition on it, and stay.
                holds = exp.Coalesce(this=exp.and_(*conditions), expressions=[exp.false()])
                alone.append(exp.not_(holds, copy=False))
                outputs.append(make_count([*comes[id(step)], *alone], key))
            outputs.append(make_count([*comes[id(step)], *alone, refers[id(step)]], key))
        stays = [*path.list_match_conditions(), *(part.node for part in path.filters)]
        ends = [make_count([*stays, write_missing(column, use)], key) for column, use, _ in columns]
        ends = [make_count(stays, key), *ends] if columns else []
        outputs += ends
        row = self._count_by_inner_join(path, outputs, ends)
        numbers = map(to_int, row or self._run_select(path.build_select(outputs), path.scope)[0])
        remaining, by_design = next(numbers), 0
        asks_each = asks_for_each(self.question, self.name(path.subject))
        for step in path.steps:
            rows, number = next(numbers) if path.filters else remaining, next(numbers)
            every, kept = number if key is None else rows - number, step.kept
            remaining -= 0 if kept else every
            left_out = next(numbers) if path.list_filters_after(step) else every
            orphans = next(numbers) - (0 if key is None else number)  # they refer to something which is not there
            # Who asks about some of a table does not ask about rows that refer to none of it; nor are those missed
            # where most rows refer to none, as orders to a coupon, unless each row is asked for.
            # Nor are those for which a LEFT JOIN finds nothing that it is not expected to find.
            passed = list_optional_sources(self.query, *(link.far_end(step.source) for link in step.links))
            inner = [source for source in passed if source not in path.scope.sources]
            is_missed = asks_each or any(self.lefts.get(id(source)) for source in inner)
            is_optional = every - orphans > MOSTLY_ONE * rows and not is_missed
            is_optional |= any(self.lefts.get(id(source), source not in inner) is False for source in passed)
            sets_aside = step.source in filtering or (is_optional and not kept)
            if path.list_filters_after(step):
                kept, sets_aside = not left_out, left_out > 0
            if step.kept and self.lefts[id(step.source)] and orphans < every:
                self.lefts[id(step.source)] = None  # outside, those that refer to nothing look like lost ones
            lost = orphans if sets_aside else every
            material = lost > 0 and not kept and self._expects_every_row_to_match(path, step)
            by_design += (0 if kept else left_out) - (lost if material else 0)
            if material and lost < MATERIAL * rows:
                missing = [step.missing, *([refers[id(step)]] if sets_aside else [])]
                material = value is not None and self._is_large_part_of_sum(path, comes[id(step)], missing, value)
            examples = self._find_lost_row_examples(path, step) if material and self.examples else ()
            names = (self.name(step.source), write_condition(self.query, step), lost, 0)
            beside = render_cell(" and ".join(map(self.query.text, step.conditions)))
            of = name_rows(self.query, path.subject)
            sides = [link.far_end(step.source) for link in step.links]
            key_columns = ", ".join(side.name or self.query.text(side) for side in sides)
            roles = [role for role in path.steps if self.name(role.source) == names[0]]
            by = humanize_name(key_columns) if len(roles) > 1 else ""
            found = JoinCount(*names, of, rows, kept, material, examples, condition=beside, by=by)
            table = find_row_table(self.query, path.subject)
            is_whole = table is not None and rows == table.row_count
            self.joins.append(replace(found, filtered=bool(path.filters) and not is_whole))
            if sets_aside and lost < left_out and not kept:
                item = self.name(step.before[0]), key_columns
                self.nulls.append(MissingCount(*item, "unmatched", left_out - lost, of, rows))
        narrows = path.filters or path.subject_filters or any(step.conditions for step in path.steps)
        if remaining and not (by_design or narrows):
            self.whole[id(path.scope)] = path.subject
        all_rows = next(numbers, 0)
        for (column, use, hidden), number in zip(columns, numbers, strict=True):
            if number:
                material = hidden and number >= MATERIAL * all_rows
                is_subject = column.source is path.subject and (path.steps or len(path.scope.sources) == 1)
                of = name_rows(self.query, path.subject) if is_subject else ""
                self.nulls.append(MissingCount(*column.item, use, number, of, all_rows, material))

    def _add_equal_counts(self, path: JoinPath, source: QuerySource) -> None:
        """Add the rows that a summed table of the same grain loses to the others of them."""
        joins, nulls, names = [*self.joins], [*self.nulls], [*map(self.name, (path.subject, *path.equals))]
        self._add_join_counts(find_path(self.query, path.scope, source))
        counts = self.joins[len(joins) :]
        self.joins, self.nulls = [*joins, *(join for join in counts if join.table in names)], nulls

    def _list_grouped_or_averaged_columns(self, path: JoinPath) -> list[tuple[TableColumn, str, bool]]:
        """Return the grouped or averaged columns, and whether the result hides missing values."""
        scope, operands = path.scope, list[exp.Expr]()
        is_cut = scope.select.args.get("limit") is not None or scope.select is not self.query.tree
        for node in self.query.find_aggregates(scope, exp.Avg):
            # What is computed of a missing value is missing, but for what is meant to replace it.
            if (inner := get_argument(node)) is None or inner.find(exp.Coalesce):
                continue
            if isinstance(node.parent, exp.Filter) or inner.find(*UNLIKE_NULL):
                what = f"missing values of {write_expression(self.query, inner)}"
                self.not_counted.append(f"{what}: not every row is averaged")
            else:
                operands += self.query.find(exp.Column, within=inner)
        terms = self.query.resolve_group_by_terms(scope) or ()
        every = [(column, "grouped", is_cut) for column in self._find_columns(terms, scope, "missing values")]
        every += [(column, "averaged", True) for column in self._find_columns(operands, scope, "missing values")]
        return list({(entry[0].place, entry[1]): entry for entry in every}.values())

    def _may_be_missing(self, path: JoinPath, column: TableColumn, use: str, _: bool) -> bool:
        """Whether a column may be missing in the counted rows, by a look at its own table."""
        source = column.source
        if source is path.subject or source.table is None or path.scope.is_source_optional(source):
            return True
        alone = select_from(copy_source_node(source), make_count([write_missing(column, use)], None))
        return to_int(self._run_select(alone, path.scope)[0][0]) > 0

    def _add_excluded_values(self, scope: Scope, tables: str) -> None:
        """Count the missing values in a sub-query: next to one of them NOT IN is never true."""
        select, (output, *_) = scope.select, scope.select.expressions
        check_countable(self.query, scope)
        if any(select.args.get(part) for part in SHAPING if part != "distinct") or self.query.find_aggregates(scope):
            raise NotCountedError("the value is computed")
        counts = exp.Count(this=exp.Star()), exp.Count(this=output.unalias().copy())
        ((rows, values),) = self._run_select(copy_select_with_outputs(select, counts), scope)
        if missing := to_int(rows) - to_int(values):
            column = find_passed_column(self.query, output.unalias())
            item = column.item if column is not None else (tables, write_expression(self.query, output.unalias()))
            of = name_rows(self.query, scope.sources[0]) if len(scope.sources) == 1 else ""
            self.nulls.append(MissingCount(*item, "excluded", missing, of, to_int(rows), material=True))

    def _add_rows_without_value(self, scope: Scope, condition: exp.Expr, *, is_told: bool = True) -> None:
        """Count the rows that a condition leaves out because the value it compares is missing."""
        operand = (condition.this.unnest() if isinstance(condition, exp.Not) else condition).this
        column, conditions = find_passed_column(self.query, operand), self.query.conditions(scope)
        if column is None or column.is_primary_key or all(part.node is not condition for part in conditions):
            return
        if column.schema.not_null and not list_optional_sources(self.query, operand):
            return
        check_countable(self.query, scope)
        unknown = [operand.is_(exp.Null()), exp.paren(condition).is_(exp.Null())]
        counts = exp.Count(this=exp.Star()), make_count(unknown, None)
        select = copy_select_with_outputs(copy_select_without(self.query, scope, condition), counts)
        ((every, number),) = self._run_select(select, scope)
        if missing := to_int(number):
            of, rows = name_rows(self.query, column.source) if len(scope.sources) == 1 else "", to_int(every)
            material = is_told and missing >= MATERIAL * rows
            self.nulls.append(MissingCount(*column.item, "unmatched", missing, of, rows, material))

    def _expects_every_row_to_match(self, path: JoinPath, step: JoinStep) -> bool:
        """Whether each row before a join should have a match, by keys or by the compared values."""
        nodes = (node for condition in step.conditions for node in self.query.find(exp.Expr, within=condition))
        constants = (node.name for node in nodes if node.name and self.query.literal(node) is not None)
        if any(re.search(rf"\b{re.escape(text)}\b", self.question, re.IGNORECASE) for text in constants):
            return False  # who asks for some partners does not expect all rows to have one
        if step.source in path.equals and step.source not in path.find_filtering_sources():
            return True
        if (expected := expects_every_row_to_match(self.query, step, self.whole)) is not None:
            return expected
        try:
            run = partial(self._run_select, scope=path.scope)
            return refers_by_values(run, step, is_summed=find_sum(path) is not None)
        except NotCountedError as reason:
            self.not_counted.append(f"the different values of {write_condition(self.query, step)}: {reason}")
            return True  # what is lost of the rows that count is told, unless the values speak against it

    def _is_large_part_of_sum(
        self, path: JoinPath, comes: list[exp.Expr], missing: list[exp.Expr], value: exp.Expr
    ) -> bool:
        """Whether the rows that a join leaves out make up 1 % of the sum or more."""
        parts = [exp.Sum(this=exp.Abs(this=make_case(terms, value))) for terms in (comes, [*comes, *missing])]
        try:
            ((every, lost),) = self._run_select(path.build_select(parts), path.scope)
        except NotCountedError as reason:
            self.not_counted.append(f"the part of the sum that a join leaves out: {reason}")
            return False
        return float(lost or 0) >= MATERIAL * float(every or 0) > 0

    def _find_lost_row_examples(self, path: JoinPath, step: JoinStep) -> tuple[str, ...]:
        outputs = [link.far_end(step.source).copy() for link in step.links]
        select = path.build_select(outputs).where(step.missing, copy=False).distinct(copy=False)
        try:
            rows = self._run_select(select.limit(_EXAMPLES, copy=False), path.scope)
        except NotCountedError:
            return ()
        return tuple(" ".join(map(render_cell, row)) for row in rows)

    def recompute_with_lost_rows(self) -> tuple[int | float | None, str]:
        """Return the query's number with the rows that joins leave out, and the SQL for it."""
        path, value = self.top, self.rows[0][0] if [*map(len, self.rows)] == [1] else None
        if path is None or path.filters or any(map(path.scope.select.args.get, SHAPING)):
            return None, ""
        aggregates, outputs = self.query.find_aggregates(path.scope), path.scope.select.expressions
        # Of a share or an average these rows would make something else.
        is_plain = [isinstance(call, exp.Sum | exp.Count) for call in aggregates] == [True]
        if not is_plain or any(output.find(exp.Query) for output in outputs):
            return None, ""
        # It has all rows that these joins leave out, each as often as they repeat it; none that has no counted row.
        lossy = [join for join in self.joins if join.lost and not join.kept]
        keys = {write_condition(self.query, step) for step in path.steps}
        material = [join.material and join.key in keys for join in lossy]
        differs = (
            self.may_repeat
            or any(null.use == "unmatched" for null in self.nulls)
            or any(join.repeated for join in self.joins)
        )
        is_number = isinstance(value, int | float)
        if not is_number or not lossy or not all(material) or differs or path.scope.is_source_optional(path.subject):
            return None, ""
        # Joins that repeat no row are needed only for their columns.
        sources = (source for output in outputs for source in self.query.find_sources(output, path.scope))
        until = 0 if all(source is path.subject for source in sources) else None
        sql = self._write(path.build_select(outputs, until=until), path.scope)
        try:
            rows = self.count(sql)
        except NotCountedError:
            return None, ""
        other = rows[0][0] if len(rows) == 1 else None
        return (other, sql) if isinstance(other, int | float) and other != value else (None, "")

    # Rows of which the query gives one each, and that no row refers to

    def add_ones(self) -> None:
        """Count the rows of a table that a result with one row for each should have and lacks."""
        path = self.top
        terms = self.query.resolve_group_by_terms(path.scope) if path and path.steps and not self.rls_tables else None
        if path is None or not terms or any(map(path.scope.select.args.get, ("having", "limit", "offset", "qualify"))):
            return
        sources = [self.query.find_sources(term, path.scope) for term in terms]
        step = next((other for other in path.steps if all(refs == [other.source] for refs in sources)), None)
        if step is None or (table := step.source.table) is None:
            return
        beyond = [step.source]
        for other in path.steps:
            beyond += [other.source] if any(before in beyond for before in other.before) else []
        if any(source in beyond[1:] for part in path.filters for source in part.sources):
            return  # how many of its rows are asked about is not known
        owner, parts = step.source, [part.node.copy() for part in path.filters if part.sources == (step.source,)]
        counts = [exp.Count(this=exp.Distinct(expressions=[term.copy()])) for term in terms]
        alone = exp.select(exp.Count(this=exp.Star()), *counts).from_(copy_source_node(owner)).where(*parts, copy=False)
        try:
            ((rows, *different),) = self._run_select(alone, path.scope)
            # If no column tells all rows apart, a group is not a row.
            if not rows or rows not in different:
                return
            # The result may have a group more: NULL, of rows that a LEFT JOIN keeps.
            groups = self._count_groups(path.scope, terms[different.index(rows)])
        except NotCountedError as reason:
            self.not_counted.append(f"the rows of {self.name(owner)} that are left out: {reason}")
            return
        if (lost := to_int(rows) - groups) > 0:
            # Who refers to another row of the table names those that are referred to, as each manager.
            columns = [c.name for c in table.columns if all(before.table is not table for before in step.before)]
            material = lost >= MATERIAL * to_int(rows) and asks_for_each(self.question, table.name, *columns)
            names = (self.name(path.subject), write_condition(self.query, step), lost, 0, self.name(owner))
            self.joins.append(JoinCount(*names, to_int(rows), material=material, ones=True))

    def _count_groups(self, scope: Scope, term: exp.Expr) -> int:
        """Return how many groups have a value of a term that is another in each."""
        outputs = [item.unalias() for item in scope.select.expressions]
        lists_groups = self.rows and len(outputs) == len(self.rows[0]) and not scope.select.args.get("distinct")
        if lists_groups and term in outputs:
            place = outputs.index(term)
            return sum(row[place] is not None for row in self.rows)
        different = exp.Count(this=exp.Distinct(expressions=[term.copy()]))
        ((groups,),) = self._run_select(copy_select_with_outputs(scope.select, [different]), scope)
        return to_int(groups)

    # Rows that joins repeat

    def _record_repeated_rows(self, path: JoinPath, first: int, single: SingleSource) -> None:
        if single.source in self.distinct_sources:
            return
        run = partial(self._run_select, scope=path.scope)
        more, rows, is_whole = count_repeated_rows(self.query, run, path, single)
        if not is_whole:
            tables = ", ".join(map(self.name, path.scope.sources))
            self.not_counted.append(f"the repeated rows of {tables}: a row may be in several groups")
            self.may_repeat = True
        if not more:
            return
        material, of = single.is_material and more >= MATERIAL * rows, self.name(single.source)
        key = " and ".join(self.query.text(link.condition) for link in single.links if link.condition is not None)
        if path.subject in self.distinct_sources and sums_for_each_row(path, single):
            table = self.name(path.subject)
            self.joins.append(JoinCount(table, key, None, more, of, rows, material=material, ones=True))
            return
        table = " or ".join(map(self.name, single.repeating))
        for place, join in enumerate(self.joins[first:], first):  # others are those of other SELECTs
            if (join.table, join.of) == (table, of) and not join.repeated:
                other = join.lost and join.material is not material
                immaterial = "" if not other else "lost" if material else "repeated"
                material = join.material or material
                counted = replace(join, repeated=more, in_groups=not is_whole)
                self.joins[place] = replace(counted, material=material, immaterial=immaterial)
                return
        self.joins.append(JoinCount(table, key, None, more, of, rows, material=material, in_groups=not is_whole))
