"""The ledger of a query: rows that its joins leave out or repeat, and missing values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..formats import PLAIN_NUMBER, ColumnFormat, format_cell
from ..labels import IN_ENGLISH, Labels
from ..words import humanize_name

MATERIAL = 0.01
"""Share of the rows, or of the sum, from which a fact stands in the answer's sentence."""


@dataclass(frozen=True)
class JoinCount:
    """The numbers of rows that a join leaves out or repeats."""

    table: str  # where partners are looked up, as the schema spells it
    key: str  # the columns that the join compares
    lost: int | None  # rows that find no partner; None if they are not counted
    repeated: int  # rows that are there once more than they should, because some have several partners
    of: str  # the table whose rows these are
    rows: int  # its rows that come to the join, or those that have partners if `lost` is None
    kept: bool = False  # whether rows without a partner stay in the result, as by a LEFT JOIN
    material: bool = False  # whether it may change the answer: it is about 1 % of the rows, or of the sum, or more
    examples: tuple[str, ...] = ()  # of lost rows the columns that the join compares, if asked for
    ones: bool = False  # whether `of` lists what others refer to, and the query gives, or sums, one for each of these
    immaterial: Literal["", "lost", "repeated"] = ""  # the number that is not material, if only the other one is
    condition: str = ""  # what a partner meets beside the key
    by: str = ""  # the columns that refer to it, if several joins look up partners in the table
    filtered: bool = False  # whether conditions on other tables choose among the rows that come to the join
    in_groups: bool = False  # whether only what is repeated within a group counts as repeated

    @property
    def counts_each(self) -> bool:
        """Whether a sum takes a value once for each row that refers to it, as a price for each sale."""
        return self.ones and self.repeated > 0

    def keep_numbers(self, *, material: bool) -> JoinCount:
        """Return a copy in which the numbers are 0 that are not material, or those that are."""
        if not self.immaterial:
            return self if self.material is material else replace(self, lost=0, repeated=0)
        return replace(self, lost=0) if (self.immaterial == "lost") is material else replace(self, repeated=0)


@dataclass(frozen=True)
class MissingCount:
    """The number of rows with a missing value in a grouped, averaged or compared column.

    Its use is `grouped`, `averaged`, `excluded` for what NOT IN reads, or `unmatched` for what leaves out a row of its
    own, as a join or NOT IN compares it with others.
    """

    table: str
    column: str
    use: str
    missing: int
    of: str  # the table whose rows these are; empty for rows that joins have made
    rows: int  # all that are grouped, averaged or compared
    material: bool = False


@dataclass(frozen=True)
class VariantCount:
    """The number of values that differ from another value only in case or spacing."""

    table: str
    column: str
    values: tuple[str, ...]  # some of them, of groups in pairs
    groups: int  # how many values there are too many
    rows: int  # in these
    material: bool = False


@dataclass(frozen=True)
class NewestDate:
    """The newest date in the data, and the last day asked about, or the first if none is last."""

    table: str
    column: str
    newest: str
    asked: str
    material: bool = False


@dataclass(frozen=True)
class Ledger:
    """The counts of rows that a query leaves out or repeats, and of missing values.

    Attributes:
        joins: Its inner and left joins by equal columns: rows that find no partner (`lost`), and rows that are repeated
            because they have several (`repeated`).
        nulls: Missing values in what is grouped or averaged.
        variants: Groups, and values beside those asked for, that differ only in case or spacing.
        newest: The newest date beside the period asked about; None if the query has no period that ends.
        not_counted: What was not counted, each with the reason.
        other: The number that the query gives with the rows that are left out; None if that is not another number.
        other_sql: The query that gives it.
    """

    joins: tuple[JoinCount, ...] = ()
    nulls: tuple[MissingCount, ...] = ()
    variants: tuple[VariantCount, ...] = ()
    newest: NewestDate | None = None
    not_counted: tuple[str, ...] = ()
    other: int | float | None = None
    other_sql: str = ""

    @property
    def repeats_material_rows(self) -> bool:
        """Whether joins repeat rows so that the result is another."""
        return any(join.keep_numbers(material=True).repeated for join in self.joins if not join.counts_each)

    @property
    def casts_doubt(self) -> bool:
        """Whether a fact may change the answer, beside values that a sum takes once for each row."""
        return bool(replace(self, joins=tuple(join for join in self.joins if not join.counts_each)).line)

    @property
    def line(self) -> str:
        """The facts that may change the answer, as sentences; empty if there are none."""
        return self.write_line(IN_ENGLISH)

    def list_facts(self, labels: Labels, *, material: bool) -> tuple[str, ...]:
        """Return the facts that may change the answer, or those that hardly do, as sentences."""
        return tuple(dict.fromkeys(self._write_facts(labels, None, material=material)))

    def list_basis(self, labels: Labels) -> tuple[str, ...]:
        """Return the facts that hardly change the answer, and what was not counted."""
        reasons = "; ".join(map(labels.translate, self.not_counted))
        facts = self.list_facts(labels, material=False)
        return (*facts, labels.say("not_counted", what=reasons)) if reasons else facts

    def write_line(self, labels: Labels, formats: Sequence[ColumnFormat] = ()) -> str:
        """Return the facts that may change the answer, as sentences in the labels' language.

        Another number is written in the format of the answer's own.
        """
        form, *_ = (*formats, PLAIN_NUMBER)
        other = None if self.other is None else format_cell(self.other, form, labels.locale)
        facts = dict.fromkeys(self._write_facts(labels, other, material=True))
        return " ".join(f"{fact[:1].upper()}{fact[1:]}." for fact in facts)

    def _write_facts(self, labels: Labels, other: str | None, *, material: bool) -> Iterator[str]:
        joins = [join.keep_numbers(material=material) for join in self.joins]
        lossy = [join for join in joins if join.lost and not (join.kept or join.ones)]
        # Each row is one more only in a count of rows: who counts customers has other numbers.
        alone = other if [self.other] == [join.rows for join in lossy] else None
        for join in joins:
            yield from _describe_join(join, alone, labels)
        if other is not None and alone is None:
            yield labels.say("with_lost", len(lossy), other=other)
        for null in self.nulls:
            if null.material is material:
                part = _say_part(null.missing, null.rows, null.of, labels)
                yield labels.say(f"missing_{null.use}", null.missing, part=part, column=humanize_name(null.column))
        for variant in self.variants:
            if variant.material is material:
                yield labels.say("variants", column=humanize_name(variant.column), values=labels.join(variant.values))
        if material and self.newest is not None and self.newest.material:
            newest, end = labels.date(self.newest.newest), labels.date(self.newest.asked)
            yield labels.say("data_ends", newest=newest, asked=end)


def _describe_join(join: JoinCount, other: str | None, labels: Labels) -> Iterator[str]:
    of, table = humanize_name(join.of), labels.join([humanize_name(name) for name in join.table.split(", ")])
    if join.lost and not join.kept:
        table += f" ({join.condition})" if join.condition else ""
        table = labels.say("by_key", table=table, columns=join.by) if join.by else table
        examples = f" ({', '.join(join.examples)})" if join.examples else ""
        if join.ones:  # there may be partners that do not meet the query's conditions
            yield labels.say("rows_unmatched", join.lost, rows=labels.number(join.rows), of=of, table=table)
        elif other is not None:
            yield labels.say("more_lost", join.lost, table=table, shown=examples, other=other)
        else:
            part = _say_part(join.lost, join.rows, join.of, labels, filtered=join.filtered)
            yield labels.say("rows_lost", join.lost, part=part, table=table, shown=examples)
    if join.counts_each:
        yield labels.say("rows_counted_each", join.repeated + join.rows, of=of, table=table)
    elif join.repeated:
        yield labels.say("repeated_in_groups" if join.in_groups else "rows_repeated", join.repeated, of=of, table=table)


def _say_part(count: int, rows: int, table: str, labels: Labels, *, filtered: bool = False) -> str:
    """Return the subject of a sentence on rows: how many of a table's rows, or of a query's own."""
    key = ("part_of_table" if table else "part_of_rows") + ("_of_one" if rows == 1 else "")
    part = labels.say(key, count, rows=labels.number(rows), table=humanize_name(table))
    return labels.say("part_left", part=part) if filtered and table and rows > 1 else part
