"""Random queries over the shop, written in every habit: cases, blanks, aliases, quotes, split operators."""

from __future__ import annotations

from hypothesis import strategies as st

from .shop import SHOP

_COLUMNS = {table.name: [column.name for column in table.columns] for table in SHOP.tables}
_TEXTS = ["France", "usa", "it's", "name", "country", "> =", "", "100%"]


@st.composite
def _name(draw: st.DrawFn, name: str) -> str:
    form = draw(st.sampled_from(["plain", "upper", "double", "back", "bracket"]))
    if form == "double" or " " in name or name == "order":
        return f'"{name}"'
    return {"plain": name, "upper": name.upper(), "back": f"`{name}`", "bracket": f"[{name}]"}[form]


@st.composite
def _literal(draw: st.DrawFn) -> str:
    if draw(st.booleans()):
        return str(draw(st.integers(-3, 2000)))
    text = draw(st.sampled_from(_TEXTS))
    quote = draw(st.sampled_from("'\""))
    return quote + text.replace(quote, quote * 2) + quote


@st.composite
def _column(draw: st.DrawFn, sources: list[tuple[str, str]]) -> str:
    alias, table = draw(st.sampled_from(sources))
    column = draw(st.sampled_from(_COLUMNS[table]))
    written = draw(_name(column))
    holders = [other for other, held in sources if column in _COLUMNS[held]]
    return written if len(holders) == 1 and draw(st.booleans()) else f"{alias}.{written}"


@st.composite
def _operand(draw: st.DrawFn, sources: list[tuple[str, str]], depth: int) -> str:
    kind = draw(st.integers(0, 9))
    if kind < 5:
        return draw(_column(sources))
    if kind < 7:
        return draw(_literal())
    inner = draw(_column(sources))
    if kind == 7 and depth > 0:
        return f"({draw(_select(sources, depth - 1, width=1, aggregate=True))})"
    return draw(
        st.sampled_from([f"LENGTH ({inner})", f"ifnull({inner}, 'x')", f"-{inner}", f"({inner})", f"{inner} || 'a'"])
    )


@st.composite
def _condition(draw: st.DrawFn, sources: list[tuple[str, str]], depth: int) -> str:
    left = draw(_operand(sources, 0))
    kind = draw(st.integers(0, 9))
    if kind < 4:
        operator = draw(st.sampled_from(["=", "==", "!=", "<>", "<", "> =", "! =", " = ", ">", "< ="]))
        return f"{left} {operator} {draw(_operand(sources, depth))}"
    if kind == 4:
        return f"{left} {draw(st.sampled_from(['LIKE', 'not like']))} '%a%'"
    if kind == 5:
        return f"{left} {draw(st.sampled_from(['IS NULL', 'is not null', 'ISNULL', 'notnull']))}"
    if kind == 6:
        return f"{left} between {draw(_literal())} AND {draw(_literal())}"
    if kind == 7 and depth > 0:
        return f"{left} {draw(st.sampled_from(['IN', 'not in']))} ({draw(_select(sources, depth - 1, width=1))})"
    if kind == 8 and depth > 0:
        return f"{draw(st.sampled_from(['', 'NOT ']))}EXISTS ({draw(_select(sources, depth - 1, width=1))})"
    joined = draw(st.sampled_from(["and", "OR"]))
    return f"({left} = {draw(_literal())} {joined} {draw(_column(sources))} > {draw(_literal())})"


@st.composite
def _select(
    draw: st.DrawFn, outer: list[tuple[str, str]], depth: int, width: int | None = None, aggregate: bool = False
) -> str:
    sources: list[tuple[str, str]] = []
    written = ""
    for index in range(draw(st.integers(1, 3 if depth > 0 else 2))):
        table = draw(st.sampled_from(list(_COLUMNS)))
        alias = draw(st.sampled_from([table, table, f"T{index + 1}", "a", "b", "item", "customer"]))
        if alias in [taken for taken, _ in sources]:
            alias = f"x{len(outer)}{index}"
        as_ = "" if alias == table else draw(st.sampled_from([" ", " AS ", " as "])) + alias
        sources.append((alias, table))
        if index == 0:
            written = f"{draw(_name(table))}{as_}"
        else:
            join = draw(st.sampled_from([" join ", " INNER JOIN ", " left outer join ", ", "]))
            written += f"{join}{draw(_name(table))}{as_}"
            if join != ", ":
                written += f" ON {draw(_column(sources))} = {draw(_column(sources))}"
    visible = [*sources, *((alias, table) for alias, table in outer if alias not in dict(sources))]
    local = [(alias, table) for alias, table in sources]
    count = width or draw(st.integers(1, 3))
    items = [draw(_column(local)) for _ in range(count)]
    if aggregate:
        items = [f"{draw(st.sampled_from(['MAX', 'count', 'Min']))}({item})" for item in items]
    sql = f"select {draw(st.sampled_from(['', 'DISTINCT ', 'all ']))}{', '.join(items)} FROM {written}"
    if draw(st.booleans()):
        # Unqualified columns of outer queries could be captured by inner tables: only local ones go unqualified.
        sql += f" where {draw(_condition(_safe(visible, local), depth))}"
    if not aggregate and draw(st.booleans()):
        key = draw(_column(local))
        sql += f" group by {key}"
        if draw(st.booleans()):
            sql += f" having count( * ) > {draw(st.integers(0, 2))}"
    return sql


def _safe(visible: list[tuple[str, str]], local: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Local sources, and outer ones none of whose columns could be mistaken for a local one."""
    here = {column for _, table in local for column in _COLUMNS[table]}
    return [pair for pair in visible if pair in local or not here & set(_COLUMNS[pair[1]])]


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A query that SQLite accepts."""
    sql = draw(_select([], 2))
    kind = draw(st.integers(0, 5))
    if kind == 0:
        width = 1
        left, right = draw(_select([], 1, width)), draw(_select([], 1, width))
        sql = f"{left} {draw(st.sampled_from(['UNION', 'union all', 'intersect', 'Except']))} {right}"
    tail = ["", " order by 1", " ORDER BY 1 desc", " order by 1 ASC limit 2", " order  by 1 limit 1 , 2", " LIMIT 3;"]
    return sql + draw(st.sampled_from(tail))
