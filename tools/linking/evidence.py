"""The evidence for each table and column in one turn, as named features."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from ..database import Schema
from ..derived import cache_in_first_argument
from ..sql import ROLES, UsedSchemaItems, read_query
from ..values import ValueMatch
from ..words import Word, split_name_into_words, stem_word, words
from .linked import STAR, PastTurn
from .shape import SchemaShape
from .vocabulary import (
    MentionScores,
    NameMention,
    Shares,
    Vocabulary,
    WordAssociations,
    drop_shared_words,
    extract_content_words,
)

_DECAY = 0.6  # what an earlier turn counts for, against the one after it


class NameIndex:
    """An index of a schema's names for searches; items are numbered in schema order."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.columns = [(table.name, column.name) for table in schema.tables for column in table.columns]
        self.table_number = {table.name: number for number, table in enumerate(schema.tables)}
        self.column_number = {place: number for number, place in enumerate(self.columns)}
        tables = [extract_content_words(table.comment) for table in schema.tables]
        columns = [extract_content_words(column.comment) for table in schema.tables for column in table.columns]
        table_names = [split_name_into_words(table.name) for table in schema.tables]
        column_names = [split_name_into_words(column) for _, column in self.columns]
        self.shape = SchemaShape(schema)
        self.table_names = Vocabulary(table_names, tables)
        self.column_names = Vocabulary(column_names, columns)
        # Columns without their tables' words: "name" of `concert.concert_name`.
        of = self.shape.table_of
        self.own_parts = Vocabulary(
            [drop_shared_words(parts, table_names[of[number]]) for number, parts in enumerate(column_names)],
            [drop_shared_words(parts, tables[of[number]]) for number, parts in enumerate(columns)],
        )
        self.column_heads = [stem_word(parts[-1]) for parts in column_names]

    def find_past_use(self, sql: str) -> UsedSchemaItems:
        """Return the tables and columns that a past query uses; none if it cannot be read."""
        query = read_query(sql, self.schema)
        return query.usage if query else UsedSchemaItems()


class PastMentions:
    """The mentions and uses of items of one kind in earlier turns, one number per item."""

    def __init__(
        self, earlier: Sequence[Sequence[Word]], vocabulary: Vocabulary, uses: Sequence[Sequence[int]], likely: Shares
    ) -> None:
        """Take the words, uses and the linker's probabilities of earlier turns, oldest first."""
        count = likely.shape[1]
        shares = [vocabulary.score(vocabulary.find_mentions(question_words))[0] for question_words in earlier]
        usage = np.zeros((max(2, len(uses)), count))
        for row, numbers in zip(usage, reversed(uses), strict=False):
            row[list(numbers)] = 1.0
        self.before = np.zeros(count)  # how much of its name earlier questions mention, decayed
        for ago, share in enumerate(reversed(shares), start=1):
            np.maximum(self.before, _DECAY**ago * share, out=self.before)
        self.latest = shares[-1] if shares else np.zeros(count)  # the same of the latest question
        self.last, self.second = usage[:2]  # 1 where the latest past SQL used it; where the one before that did
        # Decayed, where SQL before the latest used it.
        self.earlier = (usage[1:] * _DECAY ** np.arange(1, len(usage))[:, None]).max(axis=0)
        self.share_before = usage.sum(axis=0) / max(1, len(uses))  # the share of past SQL that used it
        # How probable the linker found it in the latest turn; the same, decayed, in those before.
        self.likely_last, self.likely_earlier = likely


class LinkingEvidence:
    """The evidence of one turn for each table and column of a schema."""

    def __init__(
        self,
        question: str,
        history: Sequence[PastTurn],
        values: Sequence[ValueMatch],
        names: NameIndex,
        associations: WordAssociations,
    ) -> None:
        """Gather the evidence from a question, past turns and values that the question mentions."""
        tokens, earlier = words(question), [words(turn.question) for turn in history]
        uses = [names.find_past_use(turn.sql) for turn in history if turn.sql]
        last = uses[-1] if uses else UsedSchemaItems()
        used_tables = [[names.table_number[name] for name in use.tables] for use in uses]
        used_columns = [[names.column_number[place] for place in use.columns if place[1] != STAR] for use in uses]
        likely_tables, likely_columns = _gather_past_probabilities(history, names)
        self.shape = names.shape
        self.tables = names.table_names.score_mentions(tokens, associations)
        self.columns = names.column_names.score_mentions(tokens, associations)
        self.own_parts = names.own_parts.score_mentions(tokens, associations)  # names without their tables' words
        self.tables_before = PastMentions(earlier, names.table_names, used_tables, likely_tables)
        self.columns_before = PastMentions(earlier, names.column_names, used_columns, likely_columns)
        # By role, 1 for columns that the latest past SQL used so.
        self.roles: Mapping[str, Shares] = {role: np.zeros(len(names.columns)) for role in ROLES}
        for table, column, role in last.roles:
            self.roles[role][names.column_number[table, column]] = 1.0
        self.star_last = np.zeros(len(names.table_number))  # 1 where the latest past SQL asked for all columns
        self.star_last[[names.table_number[table] for table, column in last.columns if column == STAR]] = 1.0
        # The best score of a mentioned value that the column holds; each value shared among the columns that hold it.
        self.value, self.value_share = np.zeros((2, len(names.columns)))
        mention_count = self._add_value_matches(values, names.column_number)
        # How usual columns of such names are.
        self.usual = np.array([associations.usual.get(head, 0.0) for head in names.column_heads])
        self.turn: Mapping[str, float] = {  # what holds of the whole turn
            **find_question_cues(question),
            "length": len(tokens),
            "turns": len(history),
            "values": mention_count,
            "last_selects": last.selects,
            # SQL that does more than list columns: what a linker alone found does not.
            "written": sum(any(role != "shown" for *_, role in use.roles) for use in uses) / max(1, len(uses)),
        }

    def _add_value_matches(self, values: Sequence[ValueMatch], column_number: Mapping[tuple[str, str], int]) -> int:
        """Add the scores of mentioned values; return the number of mentions."""
        scores: dict[tuple[int, int], dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for match in values:
            if (number := column_number.get((match.table, match.column))) is not None:
                column_scores = scores[match.start, match.end]
                column_scores[number] = max(column_scores[number], match.score)
        for column_scores in scores.values():
            total = sum(column_scores.values())
            for number, score in column_scores.items():
                self.value[number] = max(self.value[number], score)
                self.value_share[number] = max(self.value_share[number], score / total if total else 0.0)
        return len(scores)


_CUES: Mapping[str, str] = {
    "all_columns": r"(all (of )?(the )?(information|info|details?|columns|fields|data|attributes)|everything|"
    r"(information|info|details) (of|on|about|for))",
    "count": r"(how many|number of|count|amount of)",
    "those": r"(th(ose|ese|em|ey)|ones?)",
    "their": r"(their|its?|his|her|he|she|him)",
    "this": r"(this|that|it|same)",
    "also": r"(also|too|as well|add|include|along with|besides)",
    "instead": r"(instead|rather|what about|how about|change|only|just)",
    "measures": r"(average|avg|mean|total|sum|max(imum)?|min(imum)?|most|least|more|less|fewer|greater|over|under|"
    r"above|below|(high|low|larg|small|old|young|long|short|heav|big|cheap|great)(er|est)|ier|iest|between)",
    "most": r"(most|least|fewest|top|maximum|minimum|highest|lowest|largest|smallest|best|first|last)",
    "average": r"(average|avg|mean|total|sum)",
    "times": r"(when|dates?|years?|months?|days?|times?|recent(ly)?|earl(y|ier|iest)|lat(er|est)|since)",
    "who": r"(who|whose|whom|people|person)",
    "where": r"(where|located|location|place)",
    "name": r"(names?|called|named|titles?)",
    "identify": r"(ids?|identifiers?|codes?|numbers?)",
    "each": r"(each|every|per|by|respective(ly)?|group(ed)?)",
    "distinct": r"(different|distinct|unique|various)",
    "order": r"(sort(ed)?|order(ed)?|rank(ed)?|alphabetical(ly)?|ascending|descending)",
    "not": r"(not|no|never|without|n't|except|other|don|doesn|didn|haven|hasn)",
    "have": r"(ha(ve|s|d)|with|own(s|ed)?|belong(s|ing)?)",
    "many": r"(both|and|or|any|some)",
    "which": r"(which|what|show|list|give|find|tell)",
    "thanks": r"(thanks?|great|ok(ay)?|good|cool|please|nice|no)",
}
_PATTERNS = {cue: re.compile(rf"\b{pattern}\b", re.IGNORECASE) for cue, pattern in _CUES.items()}


def find_question_cues(question: str) -> dict[str, float]:
    """Return 1 for each cue (a kind of word) in the question, 0 for all other cues."""
    return {cue: float(pattern.search(question) is not None) for cue, pattern in _PATTERNS.items()}


def _gather_past_probabilities(history: Sequence[PastTurn], names: NameIndex) -> tuple[Shares, Shares]:
    """Return the linker's probabilities of the latest turn, and decayed ones of earlier turns."""
    tables, columns = np.zeros((2, len(names.table_number))), np.zeros((2, len(names.columns)))
    for ago, turn in enumerate(reversed(history)):
        row, decay = min(ago, 1), _DECAY ** max(0, ago - 1)
        use = names.find_past_use(turn.sql)
        # Of a turn whose probabilities were not kept, what its SQL used counts as found.
        for table, column, p in turn.items or [(t, None, 1.0) for t in use.tables] + [(*c, 1.0) for c in use.columns]:
            of = tables if column is None else columns
            number = names.table_number.get(table) if column is None else names.column_number.get((table, column))
            if number is not None:
                of[row, number] = max(of[row, number], decay * p)
    return tables, columns


# Evidence as named features, one number per item: the inputs of forests and net.

Features = Mapping[str, Shares | float]  # a number is that of all items


@cache_in_first_argument
def build_first_table_features(e: LinkingEvidence) -> Features:
    """Return the features of tables for the first stage."""
    shape, last = e.shape, e.tables_before.last
    coverage, exclusive, new = _compute_explained_words(e)
    by_columns = {**_build_best_features(e), "value_share": shape.max_by_table(e.value_share), "explained": coverage}
    by_columns["exclusive"] = exclusive
    beside = {"": e.tables.share, "_exclusive": exclusive, "_last": last}
    return {
        **_build_name_features(e.tables, e.tables_before),
        **by_columns,
        **{f"{name}_most": _scale_to_greatest(share) for name, share in by_columns.items()},
        "new": new,
        "new_most": _scale_to_greatest(new),
        "columns_said": shape.sum_columns_by_table(e.columns.share),
        "column_place": 1 - shape.max_by_table(1 - e.columns.position),
        "column_before": shape.max_by_table(e.columns_before.before),
        "column_latest": shape.max_by_table(e.columns_before.latest),
        "neighbour_value": shape.get_best_neighbour_values(by_columns["value"])[0],
        **{
            f"{place}{name}": best
            for name, shares in beside.items()
            for place, best in zip(("neighbour", "bridge"), shape.get_best_neighbour_values(shares), strict=True)
        },
        "last_count": last.sum(),
        "last_said": (last * e.tables.share).max(initial=0.0),
        "others_said": ((1 - last) * e.tables.share).max(initial=0.0),
        "star_last": e.star_last,
        **{f"{role}_last": shape.max_by_table(usage) for role, usage in e.roles.items()},
        "columns_last": shape.sum_columns_by_table(e.columns_before.last),
        "leaving": shape.leaving,
        "arriving": shape.arriving,
        "size": shape.sizes,
        "place": np.arange(shape.tables) / max(shape.tables, 1),
        **_build_turn_features(e),
    }


def build_second_table_features(e: LinkingEvidence, tables: Shares, columns: Shares) -> Features:
    """Return the features of tables for the second stage, with first-stage probabilities."""
    shape, last = e.shape, e.tables_before.last
    neighbour, bridge = shape.get_best_neighbour_values(tables)
    by_columns = shape.max_by_table(columns)
    # The best of all the others.
    second, first = np.partition(tables, -2)[-2:] if shape.tables > 1 else (0.0, 0.0)
    return {
        **build_first_table_features(e),
        "p": tables,
        "p_rank": np.argsort(np.argsort(-tables, kind="stable")).astype(float),
        "p_most": _scale_to_greatest(tables),
        "p_sum": tables.sum(),
        "p_best_other": np.where(tables == first, second, first),
        "p_column": by_columns,
        "p_column_most": _scale_to_greatest(by_columns),
        "p_key": shape.max_by_table(columns * shape.keys),
        "p_own": shape.max_by_table(columns * (1 - shape.keys)),
        "p_columns": shape.sum_columns_by_table(columns),
        "p_neighbour": neighbour,
        "p_bridge": bridge,
        "p_last": (tables * last).max(initial=0.0),
        "p_new": (tables * (1 - last)).max(initial=0.0),
    }


def build_first_column_features(e: LinkingEvidence, tables: Shares) -> Features:
    """Return the features of columns for the first stage, with their tables' probabilities."""
    shape = e.shape
    table = tables[shape.table_of]
    joins = np.zeros(len(table))
    np.maximum.at(joins, shape.end_columns, tables[shape.end_tables] * tables[shape.end_others])
    mention_share, mention_share_sum = _compute_mention_shares(e.columns.mentions, table)
    in_table = {
        "said": e.columns.share,
        "own_part": e.own_parts.share,
        "associated": e.columns.association_sum,
        "value": e.value,
    }
    best = {name: shape.max_by_table(share)[shape.table_of] for name, share in in_table.items()}
    return {
        "table": table,
        "table_most": _scale_to_greatest(table),
        "tables_sum": tables.sum(),
        **_build_name_features(e.columns, e.columns_before),
        "own_part_said": e.own_parts.share,
        "own_part_head": e.own_parts.head,
        "own_part_place": e.own_parts.position,
        **{f"{name}_in_table": best[name] for name in in_table},
        **{f"{name}_less": best[name] - share for name, share in in_table.items()},
        "table_said": e.tables.share[shape.table_of],
        "table_place": e.tables.position[shape.table_of],
        "contested": mention_share,
        "contested_sum": mention_share_sum,
        "namesake": _scale_to_best_namesake(e, table),
        "value": e.value,
        "value_share": e.value_share,
        "value_and_table": e.value * table,
        "value_elsewhere": e.value.max(initial=0.0) * (e.value == 0),
        **{f"{role}_last": usage for role, usage in e.roles.items()},
        "table_last": e.tables_before.last[shape.table_of],
        "star_last": e.star_last[shape.table_of],
        "columns_last": shape.sum_columns_by_table(e.columns_before.last)[shape.table_of],
        "usual": e.usual,
        "primary": shape.primary,
        "key": shape.keys,
        "joins": joins,
        "display": shape.display,
        "place": shape.position.astype(float),
        "size": shape.sizes[shape.table_of],
        **{str(kind): flags for kind, flags in shape.kinds.items()},
        **_build_turn_features(e),
    }


def build_second_column_features(e: LinkingEvidence, tables: Shares, columns: Shares) -> Features:
    """Return the features of columns for the second stage, with final table probabilities."""
    shape = e.shape
    non_keys = columns * (1 - shape.keys)
    return {
        **build_first_column_features(e, tables),
        "p": columns,
        "p_less": shape.max_by_table(columns)[shape.table_of] - columns,
        "p_others": shape.sum_columns_by_table(columns)[shape.table_of] - columns,
        "p_own_others": shape.sum_columns_by_table(non_keys)[shape.table_of] - non_keys,
        "p_all": columns.sum(),
        "p_most": _scale_to_greatest(columns),
        "p_sister": _scale_to_best_namesake(e, columns),
        "p_display": shape.sum_columns_by_table(columns * shape.display)[shape.table_of],
    }


def build_star_features(e: LinkingEvidence, tables: Shares) -> Features:
    """Return the features of `table.*`, which stands for all columns of a table."""
    return {
        "table": tables,
        "table_most": _scale_to_greatest(tables),
        "asked": e.turn["all_columns"] * tables,
        "last": e.star_last,
        **_build_best_features(e),
        "size": e.shape.sizes,
        **_build_turn_features(e),
    }


def _build_best_features(e: LinkingEvidence) -> dict[str, Shares]:
    """Return the best feature values among each table's columns."""
    by_columns = {
        "column_said": e.columns.share,
        "own_part_said": e.own_parts.share,
        "column_associated": e.columns.association,
        "value": e.value,
    }
    return {name: e.shape.max_by_table(share) for name, share in by_columns.items()}


def _build_name_features(mentions: MentionScores, past: PastMentions) -> Features:
    return {
        "said": mentions.share,
        "said_wholly": (mentions.share > 0.99).astype(float),
        "said_most": _scale_to_greatest(mentions.share),
        "head": mentions.head,
        "said_place": mentions.position,
        "associated": mentions.association,
        "associated_sum": mentions.association_sum,
        "associated_most": _scale_to_greatest(mentions.association_sum),
        **vars(past),
    }


@cache_in_first_argument
def _build_turn_features(e: LinkingEvidence) -> Features:
    """Return features of the whole turn, the same for all items."""
    return {
        **e.turn,
        "tables": float(e.shape.tables),
        # How far the latest past SQL is from what the linker had found: SQL of another source is better evidence.
        "surprise": np.abs(e.tables_before.last - e.tables_before.likely_last).max(initial=0.0),
        "columns_surprise": np.abs(e.columns_before.last - e.columns_before.likely_last).max(initial=0.0),
        "tables_wholly_said": (e.tables.share > 0.99).sum(),
        "columns_wholly_said": (e.columns.share > 0.99).sum(),
        "tables_last": e.tables_before.last.sum(),
    }


def _compute_explained_words(e: LinkingEvidence) -> tuple[Shares, Shares, Shares]:
    """Return the share of the question's schema words that each table explains.

    First the share of words that its name or its columns' names hold; then the same with each word shared among the
    tables that hold it; then this for the words only that no table of the latest past SQL holds.
    """
    holders: dict[str, set[int]] = defaultdict(set)
    for mention in e.tables.mentions:
        holders[mention.stem].update(mention.holders.tolist())
    for mention in e.columns.mentions:
        holders[mention.stem].update(e.shape.table_of[mention.holders].tolist())
    coverage, exclusive, new = np.zeros((3, e.shape.tables))
    for tables in holders.values():
        numbers = np.fromiter(tables, dtype=np.intp)
        coverage[numbers] += 1 / len(holders)
        exclusive[numbers] += 1 / len(tables)
        if not e.tables_before.last[numbers].any():
            new[numbers] += 1 / len(tables)
    return coverage, np.minimum(exclusive, 3.0), np.minimum(new, 3.0)


def _compute_mention_shares(mentions: Sequence[NameMention], table: Shares) -> tuple[Shares, Shares]:
    """Return each column's best and total share of mentioned words, by its table's probability."""
    best, total = np.zeros((2, len(table)))
    for mention in mentions:
        share = mention.share * table[mention.holders] / max(table[mention.holders].sum(), 1e-6)
        best[mention.holders] = np.maximum(best[mention.holders], share)
        total[mention.holders] += share
    return best, total


def _scale_to_best_namesake(e: LinkingEvidence, columns: Shares) -> Shares:
    """Return shares relative to the greatest among columns of the same name."""
    best = np.zeros(e.shape.same_name.max(initial=-1) + 1)
    np.maximum.at(best, e.shape.same_name, columns)
    return columns / np.maximum(best[e.shape.same_name], 1e-6)


def _scale_to_greatest(shares: Shares) -> Shares:
    """Return shares relative to the greatest share."""
    greatest = shares.max(initial=0.0)
    return shares / greatest if greatest > 0 else shares
