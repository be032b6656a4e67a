"""Random queries over the shop, written in every habit: cases, blanks, aliases, quotes, split operators."""

from __future__ import annotations

from hypothesis import strategies as st

from .shop import SHOP

Sources = list[tuple[str, list[str]]]
"""Names by which columns are qualified, and the columns."""

_COLUMNS = {table.name: [column.name for column in table.columns] for table in SHOP.tables}
_TEXTS = ["France", "usa", "it's", "name", "country", "> =", "", "100%"]
_OPERATORS = ["=", "==", "!=", "<>", "<", "> =", "! =", " = ", ">", "< ="]
_TAILS = ["", " order by 1", " ORDER BY 1 desc", " order by 1 ASC limit 2", " order  by 1 limit 1 , 2", " LIMIT 3;"]


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A query, nearly always one that SQLite accepts."""
    common: Sources = []
    with_ = ""
    if draw(st.integers(0, 4)) == 0:
        name = draw(st.sampled_from(["big", "T1", "item"]))
        sql, columns = draw(_named_select())
        with_, common = f"with {name} as ({sql}) ", [(name, columns)]
    tables = {**_COLUMNS, **dict(common)}
    sql = draw(_select(tables, [], 2))
    if draw(st.integers(0, 5)) == 0:
        left, right = draw(_select(tables, [], 1, width=1)), draw(_select(tables, [], 1, width=1))
        sql = f"{left} {draw(st.sampled_from(['UNION', 'union all', 'intersect', 'Except']))} {right}"
    return with_ + sql + draw(st.sampled_from(_TAILS))


@st.composite
def _select(
    draw: st.DrawFn,
    tables: dict[str, list[str]],
    outer: Sources,
    depth: int,
    width: int | None = None,
    aggregate: bool = False,
) -> str:
    written, local = draw(_from(tables, outer, depth))
    # A column of an outer query goes unqualified only if no table here has it: else it would mean another.
    here = {column for _, columns in local for column in columns}
    taken = {name for name, _ in local}
    visible = [*local, *(source for source in outer if source[0] not in taken and not here & set(source[1]))]
    items = [draw(_column(local)) for _ in range(width or draw(st.integers(1, 3)))]
    if aggregate:
        items = [f"{draw(st.sampled_from(['MAX', 'count', 'Min']))}({item})" for item in items]
    sql = f"select {draw(st.sampled_from(['', 'DISTINCT ', 'all ']))}{', '.join(items)} FROM {written}"
    if draw(st.booleans()):
        sql += f" where {draw(_condition(tables, visible, depth))}"
    if not aggregate and draw(st.booleans()):
        sql += f" group by {draw(_column(local))}"
        if draw(st.booleans()):
            sql += f" having count( * ) > {draw(st.integers(0, 2))}"
    return sql


@st.composite
def _named_select(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A SELECT whose columns have names of their own, or those of the table."""
    table = draw(st.sampled_from(list(_COLUMNS)))
    columns = draw(st.lists(st.sampled_from(_COLUMNS[table]), min_size=1, max_size=3, unique=True))
    named = [draw(st.sampled_from([column, f"c{index}", "name"])) for index, column in enumerate(columns)]
    if len(set(named)) < len(named):
        named = columns
    items = [
        f'T9."{column}"' if name == column else f'T9."{column}" AS "{name}"'
        for column, name in zip(columns, named, strict=True)
    ]
    return f"SELECT {', '.join(items)} FROM {table} AS T9", named


@st.composite
def _from(draw: st.DrawFn, tables: dict[str, list[str]], outer: Sources, depth: int) -> tuple[str, Sources]:
    sources: Sources = []
    written = ""
    for index in range(draw(st.integers(1, 3 if depth > 0 else 2))):
        name, columns, text = draw(_source(tables, index))
        if name in dict(sources):
            name = f"x{len(outer)}{index}"
            text += f" AS {name}" if " " not in text.strip(' "`[]') else ""
            if not text.endswith(name):
                continue
        shared = sorted({column for column in columns if sum(column in held for _, held in sources) == 1})
        sources.append((name, columns))
        if len(sources) == 1:
            written = text
            continue
        join = draw(st.sampled_from([" join ", " INNER JOIN ", " left outer join ", ", ", " cross join "]))
        written += f"{join}{text}"
        if join in (", ", " cross join "):
            continue
        if shared and len(sources) == 2 and draw(st.integers(0, 3)) == 0:
            written += f' USING ("{shared[0]}")'
            # Merged, the column is named without its table or by the first.
            sources[1] = (name, [column for column in columns if column != shared[0]])
        else:
            left, right = draw(_qualified(sources)), draw(_qualified(sources))
            written += f" ON {left} = {right}"
    return written, [source for source in sources if source[1]]


@st.composite
def _source(draw: st.DrawFn, tables: dict[str, list[str]], index: int) -> tuple[str, list[str], str]:
    if draw(st.integers(0, 5)) == 0:
        sql, columns = draw(_named_select())
        name = f"d{index}"
        return name, columns, f"({sql}) as {name}"
    table = draw(st.sampled_from(list(tables)))
    alias = draw(st.sampled_from([table, table, f"T{index + 1}", "a", "b", "item", "customer"]))
    as_ = "" if alias == table else draw(st.sampled_from([" ", " AS ", " as "])) + alias
    return alias, tables[table], f"{draw(_name(table))}{as_}"


@st.composite
def _condition(draw: st.DrawFn, tables: dict[str, list[str]], sources: Sources, depth: int) -> str:
    left = draw(_operand(tables, sources, 0))
    kind = draw(st.integers(0, 9))
    if kind < 4:
        return f"{left} {draw(st.sampled_from(_OPERATORS))} {draw(_operand(tables, sources, depth))}"
    if kind == 4:
        return f"{left} {draw(st.sampled_from(['LIKE', 'not like']))} '%a%'"
    if kind == 5:
        return f"{left} {draw(st.sampled_from(['IS NULL', 'is not null', 'ISNULL', 'notnull']))}"
    if kind == 6:
        return f"{left} between {draw(_literal())} AND {draw(_literal())}"
    if kind in (7, 8) and depth > 0:
        inner = draw(_select(tables, sources, depth - 1, width=1))
        if kind == 8:
            return f"{draw(st.sampled_from(['', 'NOT ']))}EXISTS ({inner})"
        return f"{left} {draw(st.sampled_from(['IN', 'not in']))} ({inner})"
    joined = draw(st.sampled_from(["and", "OR"]))
    return f"({left} = {draw(_literal())} {joined} {draw(_column(sources))} > {draw(_literal())})"


@st.composite
def _operand(draw: st.DrawFn, tables: dict[str, list[str]], sources: Sources, depth: int) -> str:
    kind = draw(st.integers(0, 9))
    if kind < 5:
        return draw(_column(sources))
    if kind < 7:
        return draw(_literal())
    if kind == 7 and depth > 0:
        return f"({draw(_select(tables, sources, depth - 1, width=1, aggregate=True))})"
    inner = draw(_column(sources))
    forms = [f"LENGTH ({inner})", f"ifnull({inner}, 'x')", f"-{inner}", f"({inner})", f"{inner} || 'a'"]
    return draw(st.sampled_from(forms))


@st.composite
def _column(draw: st.DrawFn, sources: Sources) -> str:
    name, columns = draw(st.sampled_from(sources))
    column = draw(st.sampled_from(columns))
    holders = [other for other, held in sources if column in held]
    written = draw(_name(column))
    return written if len(holders) == 1 and draw(st.booleans()) else f"{name}.{written}"


@st.composite
def _qualified(draw: st.DrawFn, sources: Sources) -> str:
    name, columns = draw(st.sampled_from([source for source in sources if source[1]]))
    return f"{name}.{draw(_name(draw(st.sampled_from(columns))))}"


@st.composite
def _name(draw: st.DrawFn, name: str) -> str:
    if " " in name or name == "order":
        return draw(st.sampled_from([f'"{name}"', f"`{name}`", f"[{name}]", f'"{name.upper()}"']))
    return draw(st.sampled_from([name, name.upper(), f'"{name}"', f"`{name}`", f"[{name}]"]))


@st.composite
def _literal(draw: st.DrawFn) -> str:
    if draw(st.booleans()):
        return str(draw(st.integers(-3, 2000)))
    text = draw(st.sampled_from(_TEXTS))
    quote = draw(st.sampled_from("'\""))
    return quote + text.replace(quote, quote * 2) + quote
