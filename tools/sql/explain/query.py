"""A query in plain English: what it returns, of what, under which conditions, in which order.

Deterministic and complete: the same query gives the same words, and nothing that changes the result is left out (where
there are no words for an expression, it is quoted as SQL). Used for the feedback that compares what a query means
with what was asked (revision chain 3.2.1), when no model explains it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ...database.schema import ForeignKey, Schema
from ..conditions import base_column, join_conditions, limit_count
from ..parse import parse
from ..resolve import resolve
from ..scope import Resolution, Scope, Source
from ..untrusted import analysis
from .expressions import Speaker
from .phrases import listed, plain_name

_COMPOUND = {
    "union": "rows in {} or in {}",
    "union all": "rows of {} followed by all of {}",
    "intersect": "rows that are both in {} and in {}",
    "except": "rows in {} but not in {}",
}


_PLAIN = frozenset({"expressions", "from_", "joins", "where"})
"""Parts of a SELECT that two sides of a compound may share in one sentence."""


@analysis
def explain(sql: str, schema: Schema) -> str:
    """What a query means, in one or a few English sentences.

    Args:
        sql: One query in the schema's dialect.
        schema: The database's schema.

    Raises:
        SQLParseError: It cannot be parsed as one query.
    """
    tree = parse(sql, schema.dialect).tree
    resolution = resolve(tree, schema)
    said = Explainer(resolution, schema.foreign_keys).query(tree)
    return f"{said[:1].upper()}{said[1:]}."


class Explainer:
    """Says the queries of one text.

    Args:
        resolution: Its names.
        keys: References between tables: what a join by the only one says goes without saying.
    """

    def __init__(self, resolution: Resolution, keys: Sequence[ForeignKey] = ()) -> None:
        self._resolution = resolution
        self._keys = keys
        self.scopes = {id(scope.select): scope for scope in resolution.scopes}
        self.speaker = Speaker(resolution, self.query)

    def query(self, node: exp.Expr) -> str:
        """A query of any kind, as a noun phrase."""
        node = node.unnest()
        if isinstance(node, exp.Select):
            said = self._select(node)
        elif isinstance(node, exp.SetOperation):
            said = self._compound(node)
        elif isinstance(node, exp.Subquery):
            said = self.query(node.this)
        else:
            said = f"the values {self.speaker.all_of(node.expressions)}"
        with_ = node.args.get("with_")
        if with_ is None:
            return said
        defined = [f"{plain_name(cte.alias)!r} is {self.query(cte.this)}" for cte in with_.expressions]
        return f"{said}, where {listed(defined)}"

    def _compound(self, node: exp.SetOperation) -> str:
        if (shared := self._shared(node)) is not None:
            return shared + self._tail(node, node)
        kind = node.key if node.args.get("distinct") is not False or node.key != "union" else "union all"
        sides = (f"({self.query(node.this)})", f"({self.query(node.expression)})")
        return _COMPOUND[kind].format(*sides) + self._tail(node, node)

    def _shared(self, node: exp.SetOperation) -> str | None:
        """Both sides in one sentence, where they differ in their conditions alone."""
        one, other = node.this.unnest(), node.expression.unnest()
        if node.key not in ("intersect", "except") or not (
            isinstance(one, exp.Select) and isinstance(other, exp.Select)
        ):
            return None
        wheres = [side.args.get("where") for side in (one, other)]
        bare = [
            exp.select(*side.expressions).from_(side.args["from_"].this)
            for side in (one, other)
            if side.args.get("from_")
        ]
        plain = all({key for key, value in side.args.items() if value} <= _PLAIN for side in (one, other))
        if not plain or len(bare) < 2 or bare[0] != bare[1] or one.args.get("joins") != other.args.get("joins"):
            return None
        if wheres[0] is None or wheres[1] is None:
            return None
        first, second = self.speaker.say(wheres[0].this), self.speaker.say(wheres[1].this)
        base = f"{self.speaker.all_of(one.expressions)}{self._from(self.scopes[id(one)])}"
        found = "found also" if node.key == "intersect" else "not found"
        return f"{base} where {first}, {found} where {second}, each once"

    def _select(self, node: exp.Select) -> str:
        scope = self.scopes[id(node)]
        outputs = self.speaker.all_of(node.expressions)
        kind = "values" if len(node.expressions) == 1 else "combinations"
        unique = f"the different {kind} of " if node.args.get("distinct") is not None else ""
        parts = [f"{unique}{outputs}", self._from(scope)]
        where, group, having = (node.args.get(key) for key in ("where", "group", "having"))
        if where is not None:
            parts.append(f" where {self.speaker.say(where.this)}")
        if group is not None:
            terms = [self._term(term, node).removeprefix("the ") for term in group.expressions]
            parts.append(f", for each {listed(terms)}")
        if having is not None:
            parts.append(f", only {'groups ' if group is not None else ''}where {self.speaker.say(having.this)}")
        for window in node.args.get("windows") or ():
            parts.append(f", with the window {window.name!r} being rows {self.speaker.say(window)}")
        return "".join(parts) + self._tail(node, node)

    def _from(self, scope: Scope) -> str:
        if not scope.sources:
            return ""
        first, *others = scope.sources
        return f" from {self.speaker.source(first)}" + "".join(self._joined(source) for source in others)

    def _joined(self, source: Source) -> str:
        join, said = source.join, self.speaker.source(source)
        if join is None:  # LATERAL behind a table without a comma
            return f" and {said}"
        conditions = " and ".join(self.speaker.say(part) for part in join_conditions(source))
        on = f" ({conditions})" if conditions and not self._goes_without_saying(source) else ""
        if source.using:
            on = f" (by equal {listed(sorted(plain_name(name) for name in source.using))})"
        if join.side == "LEFT":
            return f", with {said} where there is one{on}"
        if join.side in ("RIGHT", "FULL"):
            both = "every row of both sides" if join.side == "FULL" else f"every row of {said}"
            return f" joined with {said}{on}, keeping {both}"
        return f" joined with {said}{on}" if conditions or on else f" and {said}"

    def _goes_without_saying(self, source: Source) -> bool:
        """Whether a table is joined by the only reference that there is between two tables, each read once."""
        parts = join_conditions(source)
        if len(parts) != 1 or not isinstance(parts[0], exp.EQ):
            return False
        found = [base_column(side, self._resolution) for side in (parts[0].left, parts[0].right)]
        ends = {
            (end[0].source.table.name, end[1].name) for end in found if end and end[0].source and end[0].source.table
        }
        tables = {table for table, _ in ends}
        scope = next(scope for scope in self.scopes.values() if any(other is source for other in scope.sources))
        read = [other.table.name for other in scope.sources if other.table is not None]
        keys = [key for key in self._keys if {key.table, key.ref_table} == tables]
        if len(tables) != 2 or len(set(read)) < len(read) or len(keys) != 1 or len(keys[0].columns) != 1:
            return False
        return ends == {(keys[0].table, keys[0].columns[0]), (keys[0].ref_table, keys[0].ref_columns[0])}

    def _term(self, term: exp.Expr, node: exp.Expr) -> str:
        """A term of GROUP BY or ORDER BY; a number stands for an output column."""
        if isinstance(term, exp.Literal) and term.is_int:
            selected = node.selects if isinstance(node, exp.Query) else []
            position = int(term.name) - 1
            if 0 <= position < len(selected):
                return self.speaker.say(selected[position].unalias())
        return self.speaker.say(term)

    def _tail(self, node: exp.Expr, outputs: exp.Expr) -> str:
        order, limit, offset = (node.args.get(key) for key in ("order", "limit", "offset"))
        rows = limit_count(node)
        count = self.speaker.say(rows) if rows is not None else "1"
        said = ""
        if order is not None and limit is not None and offset is None and len(order.expressions) == 1:
            term = order.expressions[0]
            extreme = "largest" if term.args.get("desc") else "smallest"
            which, first = ("the one", "") if count == "1" else (f"the {count}", f", {extreme} first")
            return f", only {which} with the {extreme} {self._term(term.this, outputs).removeprefix('the ')}{first}"
        if order is not None:
            terms = [f"{self._term(term.this, outputs)} {self.speaker.direction(term)}" for term in order.expressions]
            said += f", sorted by {listed(terms, 'then')}"
        if limit is not None:
            said += f", only the first {count} row{'s' if count != '1' else ''}"
        if offset is not None:
            said += f" after the first {self.speaker.say(offset.expression)}"
        return said
