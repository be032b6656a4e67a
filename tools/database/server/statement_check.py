"""The check of statements: parsed, compared with allow-lists, and written anew.

What is sent to the server is written from the tree that was checked, never the text that came in: comments that a
server executes, escapes that it reads otherwise and second statements don't survive. Each table's name is looked up in
the catalogue and written with its schema, so that system tables, other databases and hidden names cannot be read; each
function that is written is looked up in the dialect's list.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from ...errors import QueryError, QueryFailed, QueryRejected, ResultTooLarge
from ..dialects import TooManyTokens, check_selects_and_joins, parse_text
from ..profile import EngineProfile, read_engine_profile
from .catalogue import Catalogue, Relation

# What a statement may be made of in every dialect.
_COMMON = read_engine_profile(__package__ or "")
STATEMENT_LENGTH = 100_000
_CACHE_SIZE = 256
_LONGEST_NAME = 80
_LONGEST_ALIAS = 250
# What sqlglot writes as it stands, whatever quotes it had: units of time, weekdays, modes.
_KEYWORD = re.compile(r"\w+(?:\(\w+\)|[ -]\w+)*")
_CALL_NAME = re.compile(r"""(?<![\w.])[\w.]++(?=["`]?\()""")
# Those of which engines have one or another, or none.
_OPERATORS = {TokenType.ARROW, TokenType.DARROW, TokenType.DIV, TokenType.ILIKE, TokenType.RLIKE}
_NOISE = ("Falling back to parsing as a 'Command'", "Invalid JSON path syntax", "for expression 'ToChar'")

# sqlglot logs a warning when it falls back to an opaque command, which is refused here, and for paths it leaves alone.
logging.getLogger("sqlglot").addFilter(lambda record: not any(noise in record.getMessage() for noise in _NOISE))


_PIVOT = "PIVOT and UNPIVOT are not read here: write an aggregate with FILTER for each column, or UNION ALL of SELECTs"
_ODD_NAME = "names of functions may have only plain letters, digits and underscores here"


@dataclass(frozen=True)
class StatementGrammar:
    """The rules for statements in one SQL dialect.

    Attributes:
        dialect: sqlglot's.
        profile: The functions and kinds of syntax that may be used, and what is peculiar to names.
        fold: What an unquoted table name becomes.
        writes: How sqlglot's writing of some kinds of syntax is corrected, by the kind.
        groups_by_key: Whether GROUP BY may leave out what a table's primary key determines, but not a sub-query's.
        names_by_text: Whether a result's columns are called as they are written, which sub-queries would change.
        fetches_ties: Whether FETCH FIRST ... WITH TIES can be read, though sqlglot writes LIMIT.
    """

    dialect: Dialect
    profile: EngineProfile
    fold: Callable[[str], str] = str
    writes: tuple[tuple[type[exp.Expr], Callable[[Any, Any], str]], ...] = ()
    groups_by_key: bool = False
    names_by_text: bool = False
    fetches_ties: bool = False


class StatementChecker:
    """A checker of statements in one dialect, which parses, checks and rewrites them."""

    def __init__(self, grammar: StatementGrammar) -> None:
        self._grammar = grammar
        generator: Any = grammar.dialect.generator()
        # The generator may be compiled: it takes no subclass and no other method, but looks its handlers up in a dict.
        self._handlers = {**generator._dispatch, **dict(grammar.writes)}
        self._check_and_cache = lru_cache(_CACHE_SIZE)(self._check_and_rewrite_statement)

    def rewrite(self, sql: str, catalogue: Catalogue) -> str:
        """Check a query against the catalogue and return the statement to send to the server.

        Raises:
            QueryRejected: It is not one statement that reads, or uses what is not allowed.
            QueryFailed: It cannot be read, or names a table that is not there.
            ResultTooLarge: It is too long, or nested too deeply.
        """
        return self._check_and_cache(sql, catalogue)

    def translate(self, sql: str) -> str:
        """Return a query with functions and operators that only others have written as this one's."""
        # sqlglot reads these too, and what is sent has them translated; people see the text that came in.
        dialect = self._grammar.dialect
        try:
            text = self._generate_sql(self._parse_query(sql).copy(), dialect.NORMALIZE_FUNCTIONS)
        except (SqlglotError, RecursionError, QueryError):  # who runs it is told
            return sql
        called, kept = (set(_list_called_names(dialect.tokenize(part), dialect)) for part in (sql, text))
        return sql if called - kept <= self._grammar.profile.functions else text

    def list_tables(self, sql: str, catalogue: Catalogue) -> list[str]:
        """Return the displayed names of the tables that a statement reads."""
        nodes = self._parse_query(sql).find_all(exp.Table)
        relations = (catalogue.find(*filter(None, (node.db, node.name))) for node in nodes)
        return sorted({relation.shown_name for relation in relations if relation is not None})

    def _check_and_rewrite_statement(self, sql: str, catalogue: Catalogue) -> str:
        if len(sql) > STATEMENT_LENGTH:
            raise ResultTooLarge(f"the statement has {len(sql):,} characters; the limit is {STATEMENT_LENGTH:,}")
        try:
            tree = self._parse_query(sql).copy()
            for node in list(tree.find_all(exp.Any)):
                # Of `= SOME (SELECT 1)` sqlglot drops the parentheses, which it keeps of `= ANY (SELECT 1)`.
                if isinstance(node.this, exp.Select | exp.SetOperation):
                    node.set("this", exp.Subquery(this=node.this))
            self._hide_columns(tree, self._check_syntax_tree(tree, catalogue), catalogue)
            output = self._generate_checked_sql(tree, catalogue.user_functions)
            # `FROM t` and `TABLE t` are written as SELECTs.
            check_selects_and_joins(output)
            self._check_rewritten_sql(output, catalogue)
        except TooManyTokens as error:
            raise ResultTooLarge(str(error)) from None
        except SqlglotError as error:
            first = str(error).split("\n", 1)[0].replace("\x1b[4m", "").replace("\x1b[0m", "")
            message = " ".join(first.split())[:200]
            raise QueryFailed(f"the query cannot be read as SQL of this database: {message}", "syntax") from None
        except RecursionError:
            raise ResultTooLarge("the statement is nested too deeply: simplify it") from None
        return output

    def _parse_query(self, sql: str) -> exp.Expr:
        """Return the cached syntax tree of the only query in a text; callers must not change it."""
        if "\0" in sql:
            raise QueryFailed("the query contains a NUL character", "syntax")
        try:
            sql.encode("utf-8")
        except UnicodeEncodeError:
            raise QueryFailed("the query is not valid Unicode text", "syntax") from None
        dialect = self._grammar.dialect
        if "|>" in sql and any(token.token_type is TokenType.PIPE_GT for token in dialect.tokenize(sql)):
            # sqlglot drops what it has no place for: DISTINCT, INTO and FOR UPDATE after `|> SELECT`.
            raise QueryRejected("steps after |> are not allowed here: write one SELECT with sub-queries")
        statements = [
            tree for tree in parse_text(sql, dialect)[1] if tree is not None and not isinstance(tree, exp.Semicolon)
        ]
        if not statements:
            raise QueryFailed("the text contains no query: write a SELECT", "syntax")
        if len(statements) > 1:
            raise QueryRejected("only one statement may be run at a time: send a single SELECT")
        tree = statements[0]
        if isinstance(tree, exp.Pivot):
            raise QueryRejected(_PIVOT)
        if not isinstance(tree, exp.Query | exp.Values):
            first_word = sql.split(None, 1)[0].upper()[:_LONGEST_NAME]
            kind = tree.key.upper() if first_word == "WITH" else first_word
            raise QueryRejected(f"this connection only reads, but the statement is {kind}: write a SELECT")
        return tree

    def _generate_checked_sql(self, tree: exp.Expr, user_functions: frozenset[str] = frozenset()) -> str:
        usual = self._grammar.dialect.NORMALIZE_FUNCTIONS
        if self._grammar.fetches_ties:
            # sqlglot would write a LIMIT without them.
            for fetch in list(tree.find_all(exp.Fetch)):
                if (options := fetch.args.get("limit_options")) and options.args.get("with_ties"):
                    fetch.replace(exp.Limit(expression=fetch.args.get("count"), limit_options=options))
        texts = {case: self._generate_sql(tree, case) for case in {"upper", "lower", usual}}
        for name in _find_called_functions(texts["upper"], texts["lower"], texts[usual]):
            if name not in self._grammar.profile.functions:
                raise QueryRejected(f"the function {name[:_LONGEST_NAME]}() is not allowed here")
            if name in user_functions:
                raise QueryRejected(f"the function {name}() is not allowed: a user-defined function has its name")
        return texts[usual]

    def _generate_sql(self, tree: exp.Expr, case: str | bool) -> str:
        """Return a syntax tree as SQL, with function names in the given case."""
        generator: Any = self._grammar.dialect.generator(
            comments=False, unsupported_level=ErrorLevel.RAISE, normalize_functions=case
        )
        generator._dispatch = self._handlers
        try:
            return generator.generate(tree)
        except (SqlglotError, RecursionError):
            raise
        except Exception as error:
            # Arguments that a function cannot have are found when it is written, by whatever fails on them.
            raise QueryRejected("the statement cannot be sent to the database safely: use simpler syntax") from error

    def _check_rewritten_sql(self, sql: str, catalogue: Catalogue) -> None:
        """Check a rewritten statement again; raise `QueryRejected` if that changes its SQL.

        A name that sqlglot writes without the quotes that it had would otherwise be read as SQL.
        """
        try:
            tree = self._parse_query(sql).copy()
            self._check_syntax_tree(tree, catalogue)
            is_same = self._generate_checked_sql(tree, catalogue.user_functions) == sql
        except (SqlglotError, QueryFailed):
            is_same = False
        if not is_same:
            raise QueryRejected(
                "this server could read a name or a text of the query differently: use plain letters, digits and spaces"
            )

    def _check_syntax_tree(self, tree: exp.Expr, catalogue: Catalogue) -> list[tuple[exp.Table, Relation]]:
        """Check a syntax tree, qualify the table names, and return tables with hidden columns."""
        tables: list[exp.Table] = []
        prefix = self._grammar.profile.reserved_prefix
        for node in tree.walk():
            self._check_syntax_node(node, catalogue)
            if isinstance(node, exp.Table):
                tables.append(node)
            elif isinstance(node, exp.CTE) and prefix and node.alias.lower().startswith(prefix):
                raise QueryRejected(f"a common table expression cannot be called {node.alias}: choose another name")
        pairs = [(table, self._qualify_table(table, catalogue)) for table in tables]
        return [(table, relation) for table, relation in pairs if relation is not None and relation.hides]

    def _check_syntax_node(self, node: exp.Expr, catalogue: Catalogue) -> None:
        kind, profile = type(node).__name__, self._grammar.profile
        common = _COMMON.functions if isinstance(node, exp.Func) else _COMMON.syntax
        if isinstance(node, exp.Anonymous):
            function = node.this
            name = function.name if isinstance(function, exp.Expr) else str(function)
            is_quoted = isinstance(function, exp.Identifier) and function.quoted
            if name.lower() not in profile.functions or (is_quoted and name != name.lower()):
                raise QueryRejected(f"the function {name[:_LONGEST_NAME]}() is not allowed here")
        elif kind not in common | profile.syntax:
            raise QueryRejected(_explain_refused_syntax(node))
        if isinstance(node, exp.Query) and (node.args.get("settings") or node.args.get("format")):
            raise QueryRejected("SETTINGS and FORMAT are not allowed here: leave them out")
        if isinstance(node, exp.In) and profile.in_names_tables:
            columns = [item for item in (node.args.get("field"), *node.expressions) if isinstance(item, exp.Column)]
            if columns:
                raise QueryRejected("a table's name is not allowed after IN: write a sub-query in parentheses")
        if isinstance(node, exp.Select):
            if node.args.get("operation_modifiers"):
                raise QueryRejected("modifiers between SELECT and its columns are not allowed here: leave them out")
            # PostgreSQL tests for rows without any; engines that do not say so themselves.
            if not node.expressions and not isinstance(node.parent, exp.Exists):
                raise QueryFailed("the SELECT names no columns: write what it should return", "syntax")
        elif isinstance(node, exp.LimitOptions):
            # Where FETCH is written as LIMIT, its option would be lost.
            query = node.parent.parent if isinstance(node.parent, exp.Fetch) else None
            is_lost = str(self._grammar.dialect.generator_class.LIMIT_FETCH) == "LIMIT"
            keeps_ties = query and self._grammar.fetches_ties and not query.args.get("offset")
            if is_lost and ((query and node.args.get("percent")) or (node.args.get("with_ties") and not keeps_ties)):
                raise QueryRejected("PERCENT and WITH TIES are not allowed here: compare rank() in a sub-query")
        elif isinstance(node, exp.Column | exp.Dot) and node.name.lower() in catalogue.row_functions:
            raise QueryRejected(f"{node.name} is not allowed here: it is also the name of a function")
        elif isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
            raise QueryRejected(
                f"a function cannot be qualified with a schema: write {_get_node_name(node.expression)}() alone"
            )
        elif isinstance(node, exp.DataType):
            if node.this == exp.DataType.Type.USERDEFINED:
                kind = node.args.get("kind")
                name = kind.sql(self._grammar.dialect) if isinstance(kind, exp.Expr) else str(kind or "")
                if name.replace('"', "").lower() not in catalogue.types:
                    raise QueryRejected(f"the type {name[:_LONGEST_NAME]} is not allowed here")
        elif isinstance(node, exp.Var) and not _KEYWORD.fullmatch(node.name):
            raise QueryRejected(f"{node.name[:_LONGEST_NAME]!r} is not allowed here: write a keyword, such as DAY")

    def _qualify_table(self, table: exp.Table, catalogue: Catalogue) -> Relation | None:
        """Qualify a table's name with the schema; return None for a function call or a CTE."""
        if not isinstance(table.this, exp.Identifier):
            if not isinstance(table.this, exp.Func):
                raise QueryRejected(f"only tables and functions are allowed in FROM, not {_get_node_name(table.this)}")
            return None
        parts = [part for part in table.parts if isinstance(part, exp.Identifier)]
        if len(parts) == 1 and self._is_cte_in_scope(table, self._fold_case(parts[0])):
            return None
        relation = catalogue.find(*map(self._fold_case, parts))
        if relation is None:
            name = ".".join(part.name for part in parts)
            raise QueryFailed(f"no such table: {name[:_LONGEST_NAME]}", "unknown_table")
        identifier = parts[-1]
        query_name = self._fold_case(identifier)
        table.set("catalog", None)
        table.set("db", exp.to_identifier(relation.schema, quoted=True) if relation.schema else None)
        table.set("this", exp.to_identifier(relation.name, quoted=True))
        if not table.alias and query_name != relation.name:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(identifier.name, quoted=identifier.quoted)))
        return relation

    def _hide_columns(self, tree: exp.Expr, tables: Sequence[tuple[exp.Table, Relation]], catalogue: Catalogue) -> None:
        """Replace each table that has hidden columns by a sub-query of the visible columns.

        The server then knows no others either: it would tell of them by its errors, by the columns that it counts and
        joins by, and by what stands for whole rows; and MariaDB lets USING and NATURAL join by columns that are denied.
        """
        if not tables:
            return
        if self._grammar.names_by_text and isinstance(tree, exp.Query):
            self._name_result_columns(tree.selects)
        names = Counter(
            (id(table.find_ancestor(exp.Select)), table.alias_or_name) for table in tree.find_all(exp.Table)
        )
        plain: dict[tuple[int, str, str], str] = {}  # tables that a SELECT calls by their own names
        for table, relation in tables:
            scope, alias = table.find_ancestor(exp.Select), table.alias
            if not alias:
                # Tables of one name in two schemas may stand side by side, but sub-queries need different names.
                alone = names[id(scope), table.name] == 1
                name = relation.name if alone else f"{relation.schema}.{relation.name}"
                table.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
            if alias.lower() in ("", relation.name.lower()):
                plain[id(scope), relation.schema, relation.name] = table.alias
            if scope is not None and self._grammar.groups_by_key:
                self._add_grouped_key_columns(scope, table.alias, relation)
        for column in tree.find_all(exp.Column):
            if column.args.get("db"):  # a sub-query has no schema
                place = self._fold_case(column.args["db"]), self._fold_case(column.args["table"])
                scope = column.find_ancestor(exp.Select)
                while scope is not None and (id(scope), *place) not in plain:
                    scope = scope.find_ancestor(exp.Select)
                if scope is not None:
                    column.set("table", exp.to_identifier(plain[id(scope), *place], quoted=True))
                    column.set("db", None)
                    column.set("catalog", None)
        for table, relation in tables:
            subquery = exp.Subquery(alias=table.args["alias"], joins=table.args.get("joins"))
            table.replace(subquery)
            for key in ("alias", "joins", "hints"):  # indexes of columns that are hidden have names too
                table.set(key, None)
            columns = [column.name for column in relation.columns if column.name.lower() not in catalogue.row_functions]
            subquery.set("this", exp.select(*(exp.column(name, quoted=True) for name in columns)).from_(table))

    def _name_result_columns(self, outputs: Sequence[exp.Expr]) -> None:
        """Name the columns of a result as if no table were replaced by a sub-query."""
        select, items = outputs[0].parent if outputs else None, list[exp.Expr]()
        for item in outputs:
            if isinstance(item, exp.Column) and not item.is_star:
                item = exp.alias_(item, item.name, quoted=True, copy=False)
            elif not isinstance(item, exp.Alias) and item.find(exp.Table):
                text = self._generate_sql(item, self._grammar.dialect.NORMALIZE_FUNCTIONS)
                item = exp.alias_(item, text, quoted=True, copy=False) if len(text) <= _LONGEST_ALIAS else item
            items.append(item)
        if select is not None:
            select.set("expressions", items)

    def _add_grouped_key_columns(self, select: exp.Select, alias: str, relation: Relation) -> None:
        """Add the columns that a grouped primary key determines to GROUP BY."""
        # Servers know that of tables, but not of sub-queries.
        group = select.args.get("group")
        key = {column.name for column in relation.columns if column.primary_key}
        if not key or group is None or any(group.args.get(kind) for kind in ("rollup", "cube", "grouping_sets")):
            return
        outputs = {item.alias: item.unalias() for item in select.expressions if item.alias}
        group_columns: set[str] = set()
        for item in group.expressions:
            if isinstance(item, exp.Literal) and item.is_int and 0 < int(item.name) <= len(select.expressions):
                item = select.expressions[int(item.name) - 1].unalias()
            output = outputs.get(item.name, item)
            group_columns |= self._match_column_to_table(output, alias) or self._match_column_to_table(item, alias)
        if not key <= group_columns:
            return
        uses = {name for column in select.find_all(exp.Column) for name in self._match_column_to_table(column, alias)}
        every = alias in uses or any(not isinstance(star.parent, exp.Count) for star in select.find_all(exp.Star))
        for column in relation.columns:
            if column.name not in group_columns and (every or column.name in uses):
                group.append("expressions", exp.column(column.name, exp.to_identifier(alias, quoted=True), quoted=True))

    def _match_column_to_table(self, node: exp.Expr, alias: str) -> set[str]:
        """Return a set with a column's name if it may belong to the table with that alias."""
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            return set()
        table = node.args.get("table")
        return {self._fold_case(node.this)} if table is None or self._fold_case(table) == alias else set()

    def _fold_case(self, name: exp.Identifier) -> str:
        return name.name if name.quoted else self._grammar.fold(name.name)

    def _is_cte_in_scope(self, table: exp.Table, name: str) -> bool:
        """Whether a table's name refers to a common table expression that is in scope.

        One is in scope in the query that its WITH belongs to, in those declared after it, and, in WITH RECURSIVE, in
        its own. A name that is out of scope must be a table's: the server would look it up among its own.
        """
        inside: exp.Expr = table
        ancestor = table.parent
        while ancestor is not None:
            if isinstance(ancestor, exp.With):
                before = [cte is inside for cte in ancestor.expressions].index(True)
                candidates = ancestor.expressions[: before + bool(ancestor.recursive)]
            else:
                clause = ancestor.args.get("with_")
                candidates = clause.expressions if isinstance(clause, exp.With) and clause is not inside else []
            if any(self._fold_case(candidate.args["alias"].this) == name for candidate in candidates):
                return True
            inside, ancestor = ancestor, ancestor.parent
        return False


def _list_called_names(tokens: Sequence[Token], dialect: Dialect) -> Iterator[str]:
    """Yield the lower-case words that stand before brackets, types left out, and some operators."""
    for token, following in pairwise(tokens):
        is_call = following.token_type is TokenType.L_PAREN
        if (is_call and token.token_type not in dialect.parser_class.TYPE_TOKENS) or token.token_type in _OPERATORS:
            yield token.text.lower()


def _find_called_functions(upper: str, lower: str, usual: str) -> Iterator[str]:
    """Yield the lower-case names of called functions, given the SQL with names in two cases.

    `usual` is what will be sent. Some letters change when their case changes twice, such as a dotless i.
    """
    if not len(upper) == len(lower) == len(usual):
        raise QueryRejected(_ODD_NAME)
    for word in _CALL_NAME.finditer(upper):
        span = slice(*word.span())
        if word[0] != lower[span]:
            if not lower[span].isascii() or not usual[span].isascii():
                raise QueryRejected(_ODD_NAME)
            yield word[0].lower()


def _explain_refused_syntax(node: exp.Expr) -> str:
    if isinstance(node, exp.Func):
        return f"the function {_get_node_name(node)}() is not allowed here"
    if isinstance(node, exp.Lock):
        return "this connection only reads, but the statement locks rows: leave FOR UPDATE or FOR SHARE out"
    if isinstance(node, exp.Into):
        return "this connection only reads, but the statement writes its result INTO something: leave INTO out"
    if isinstance(node, exp.Pivot):
        return _PIVOT
    if isinstance(node, exp.Parameter | exp.Placeholder | exp.SessionParameter):
        return "variables and placeholders are not allowed here: write the values themselves"
    if isinstance(node, exp.Insert | exp.Update | exp.Delete | exp.Merge | exp.Create | exp.Drop):
        return f"this connection only reads, but the statement has {type(node).__name__.upper()}: write a SELECT"
    return f"{type(node).__name__} is not allowed here: write the statement in plain SQL"


def _get_node_name(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return node.name[:_LONGEST_NAME]
    return node.sql_name().lower() if isinstance(node, exp.Func) else type(node).__name__
