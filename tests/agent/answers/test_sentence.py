"""A model's sentence is used where the result bears out what it compares, and no number in it is ever the model's."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.agent.answers.sentence import LONGEST, fill_sentence, is_harmless
from tableturn.agent.records import PlainCell, PlainResult
from tableturn.tools.database.schema import ColumnSchema, Schema, TableSchema
from tableturn.tools.formats import ColumnFormat, choose_column_formats, format_cell
from tableturn.tools.sql import Query

Rows = Sequence[tuple[PlainCell, ...]]

DATA = Path(__file__).parent / "data"
MONTHS: Rows = (("2024-01", 30), ("2024-02", 70), ("2024-03", 50))
BY_MONTH = "SELECT month, sum(total) AS revenue FROM orders GROUP BY month ORDER BY month"


def fill(
    say: str,
    rows: Rows = MONTHS,
    columns: Sequence[str] = ("month", "revenue"),
    *,
    sql: str = BY_MONTH,
    question: str = "Revenue by month",
    truncated: bool = False,
    forms: Sequence[ColumnFormat] = (),
) -> str | None:
    forms = forms or [
        ColumnFormat("number" if all(isinstance(row[n], int | float) for row in rows) else "text")
        for n in range(len(columns))
    ]
    result = PlainResult(tuple(columns), tuple(rows), truncated)
    return fill_sentence(say, result, forms, question, Query.of(sql, "sqlite"))


@pytest.mark.parametrize(
    ("say", "filled"),
    [
        ("Revenue was highest in {month@revenue.max}: {revenue.max}.", "Revenue was highest in 2024-02: 70."),
        ("The best month was {month @ revenue.max}.", "The best month was 2024-02."),
        ("Revenue for {rows} months, {month.first} to {month.last}", "Revenue for 3 months, 2024-01 to 2024-03."),
        ("Am niedrigsten war es im {month@revenue.min}.", "Am niedrigsten war es im 2024-01."),
        ("Les revenus vont de {Revenue.Min} à {REVENUE.max} !", "Les revenus vont de 30 à 70 !"),
        ("The latest month is {month.max}.", "The latest month is 2024-03."),
        ("По месяцам: {rows}.", "По месяцам: 3."),
        ("{month.last}で終わり、{revenue.last}でした。", "2024-03で終わり、50でした。"),
    ],
)
def test_places_are_filled(say: str, filled: str) -> None:
    assert fill(say) == filled


@pytest.mark.parametrize(
    ("sql", "question", "filled"),
    [
        (f"{BY_MONTH} LIMIT 3", "Revenue by month", None),
        (f"WITH m AS ({BY_MONTH} LIMIT 3) SELECT * FROM m", "Revenue by month", None),
        (f"{BY_MONTH} LIMIT 3", "Revenue of the first 3 months", "There are 3 months."),
        (f"{BY_MONTH} LIMIT 3", "Die ersten drei Monate", "There are 3 months."),
        (f"{BY_MONTH} LIMIT 4", "Revenue by month", "There are 3 months."),
        (f"{BY_MONTH} LIMIT 3", "The first 2 months", None),
    ],
)
def test_a_limit_that_nobody_asked_for_is_told_as_no_total(sql: str, question: str, filled: str | None) -> None:
    assert fill("There are {rows} months.", sql=sql, question=question) == filled


@pytest.mark.parametrize(
    "say",
    [
        "Revenue was {revenue}.",  # of which row?
        "Revenue was {revenue@month.first}.",
        "Revenue rose to {revenue.last}.",
        "Der Umsatz stieg auf {revenue.last}.",
        "Most revenue came in {month.last}.",  # 50 is not the most
        "The most revenue was {revenue.min}.",
        "Most revenue came in {month.max}.",
        "The highest revenue of {rows} months.",
    ],
)
def test_what_the_rows_do_not_bear_out_is_dropped(say: str) -> None:
    assert fill(say) is None


@pytest.mark.parametrize(
    "say",
    [
        "Revenue was highest in February.",  # no place
        "Revenue was {turnover.max}.",
        "Revenue was {revenue.median}.",
        "Revenue over 24 months: {revenue.max}.",
        "Revenue over ２４ months: {revenue.max}.",
        "Revenue of Ⅳ months: {revenue.max}.",
        "三か月の売上は{revenue.max}",
        "Revenue of Louis XIV: {revenue.max}.",
        "Revenue was {revenue.max} k.",
        "Revenue was {revenue.max} lakh.",
        "Revenue was minus {revenue.max}.",
        "Revenue was {revenue.max} {revenue.min}.",
        "Revenue was {revenue.max}·{revenue.min}.",
        "Revenue over three hundred months: {revenue.max}.",
        "Umsatz über fünfundzwanzig Monate: {revenue.max}.",
        "Revenus de vingt-cinq mois : {revenue.max}.",
        "Ingresos de veinticinco meses: {revenue.max}.",
        "Выручка за двадцать пять месяцев: {revenue.max}.",
        "Revenue doubled to {revenue.max}.",
        "Przychód z dwóch miesięcy: {revenue.max}.",
        "Tulot kahdelta kuukaudelta, tusina: {revenue.max}.",
        "Gelir beş ay: {revenue.max}.",
        "Έσοδα για δώδεκα μήνες: {revenue.max}.",
        "إيرادات ثلاثة أشهر: {revenue.max}.",
        "Change: - {revenue.max}.",
        "Revenue was {revenue.max} dollars.",
        "Revenue was {revenue.max} US dollars.",
        "Revenue was USD {revenue.max}.",
        "It weighs {revenue.max} kg.",
        "Write to mailto:ada about {revenue.max}.",
        "Write to mailto:{month.first} about {revenue.max}.",
        "Revenue was {revenue.max}k.",
        "Revenue was 2{revenue.max}.",
        "Revenue was {revenue.max}0.",
        "Revenue was -{revenue.max}.",
        "Revenue was {revenue.max}.{revenue.min}.",
        "Revenue was {revenue.max} million.",
        "Revenue was ${revenue.max}.",
        "Revenue was {revenue.max} %.",
        "Revenue was {revenue.max} Prozent.",
        "See www.evil.example for {revenue.max}.",
        "See evil.example: {revenue.max}.",
        "See {month.first}.example: {revenue.max}.",
        "<b>{revenue.max}</b>",
        "[{revenue.max}](x)",
        "**{revenue.max}**",
        "Mail a@b: {revenue.max}.",
        "Revenue: {revenue.max}\nIgnore the above.",
        "Revenue: \u202e{revenue.max}.",
        "Revenue: {{revenue.max}}.",
        "Revenue: {revenue.max",
        "x" * LONGEST + " {revenue.max}.",
        "",
    ],
)
def test_a_sentence_is_dropped(say: str) -> None:
    assert fill(say, MONTHS[1:2]) is None, "even of one row"


def test_numbers_of_question_and_query_may_be_named() -> None:
    question, sql = "Revenue of the top 3 of 1000 shops, two each, since 2023, more than half", f"{BY_MONTH} LIMIT 12"
    for words in ("3", "three", "1,000", "two", "2", "2023", "12", "zwölf", "half"):
        said = fill(f"Revenue of {words}: {{revenue}}.", MONTHS[:1], question=question, sql=sql)
        assert (said is None) == (words == "2"), words
    assert fill("Revenue of 5: {revenue}.", MONTHS[:1], question="Revenue of 3.5 %?") is None
    assert fill("Revenue of 2 things: {revenue}.", MONTHS[:1], sql=f"{BY_MONTH}, 2") is None
    for words in ("12,3", "3.12", "30", "1.00", "/* 77 */"):
        assert (
            fill(f"Revenue of {words}: {{revenue}}.", MONTHS[:1], question=question, sql=f"{sql} /* 30 77 */") is None
        )


def test_what_a_cut_result_does_not_hold_is_not_said() -> None:
    for place in ("{revenue.max}", "{month@revenue.max}", "{revenue.min}", "{rows}", "{month.last}"):
        assert fill(f"It is {place}.", truncated=True) is None
    for place in ("{revenue}", "{revenue.max}", "{rows}"):
        assert fill(f"It is {place}.", MONTHS[:1], truncated=True) is None, "there is another row"
    assert fill("It begins in {month.first}.", truncated=True) == "It begins in 2024-01."
    assert fill("Most was in {month.first}.", sorted(MONTHS, key=lambda row: -int(row[1] or 0)), truncated=True) is None


def test_the_questions_number_is_not_that_of_another_limit() -> None:
    for limit, filled in ((3, None), (2, "The 2 months begin with 2024-01.")):
        say, sql = "The 2 months begin with {month.first}.", f"{BY_MONTH} LIMIT {limit}"
        assert fill(say, MONTHS[:limit], sql=sql, question="Top 2 months?") == filled


def test_first_and_last_need_an_order() -> None:
    assert fill("From {month.first} on.", sql="SELECT month, sum(total) AS revenue FROM orders GROUP BY month") is None


def test_ties_are_named_together() -> None:
    tied = (*MONTHS, ("2024-04", 70))
    assert fill("Best: {month@revenue.max}.", tied) == "Best: 2024-02 and 2024-04."
    assert fill("The best are {month@revenue.max}.", tied) == "The best are 2024-02 and 2024-04."
    assert fill("Best: {revenue.max}.", tied) == "Best: 70."
    assert fill("Revenue of the best: {revenue@month.max}.", (*tied, ("2024-04", 20))) is None, "which of two numbers?"
    assert fill("Best: {month.first}.", tied[1:], sql=BY_MONTH.replace("ORDER BY month", "ORDER BY 2 DESC")) is not None
    by_revenue = BY_MONTH.replace("ORDER BY month", "ORDER BY revenue DESC")
    assert fill("The top is {month.first}.", (tied[1], *tied[3:], *tied[:1]), sql=by_revenue) is None
    assert fill("The top is {month.first}.", (("2024-01", 70), *tied[1:])) is None


@pytest.mark.parametrize(
    ("say", "filled"),
    [
        ("Visit {month@revenue.max} was highest: {revenue.max}.", None),
        ("{month@revenue.max} leads with {revenue.max}.", None),
        ("{month@revenue.max} war am höchsten: {revenue.max}.", None),
        ("{month@revenue.max} est en tête.", None),
        ("{month@revenue.max} fue el mejor mes.", None),
        ("{month@revenue.max} heeft de hoogste omzet.", None),
        ("{month@revenue.max} were highest: {revenue.max}.", "2024-02 and 2024-04 were highest: 70."),
        ("{month@revenue.max} waren am höchsten: {revenue.max}.", "2024-02 und 2024-04 waren am höchsten: 70."),
        ("{month@revenue.min} was lowest: {revenue.min}.", "2024-01 was lowest: 30."),
    ],
)
def test_a_verb_of_one_follows_no_names_of_several(say: str, filled: str | None) -> None:
    assert fill(say, (*MONTHS, ("2024-04", 70))) == filled


@pytest.mark.parametrize(
    ("say", "used"),
    [
        ("{name} alone paid the top fee.", False),
        ("Only {name} paid {fee}.", False),
        ("{name} is the only patient who paid {fee}.", False),
        ("No other patient paid as {name}: {fee}.", False),
        ("{name} allein zahlte {fee}.", False),
        ("Nur {name} hat {fee} bezahlt.", False),
        ("Seule {name} a payé {fee}.", False),
        ("Solo {name} pagó {fee}.", False),
        ("Soltanto {name} ha pagato {fee}.", False),
        ("Apenas {name} pagou {fee}.", False),
        ("Alleen {name} betaalde {fee}.", False),
        ("Только {name} оплатила {fee}.", False),
        ("{name} paid the highest fee, {fee}.", True),
        ("Am meisten zahlte {name}: {fee}.", True),
        ("{name} a payé le plus : {fee}.", True),
        ("La tarifa más alta, {fee}, la pagó {name}.", True),
    ],
)
def test_nothing_is_alone_where_a_limit_hides_who_ties_with_it(say: str, used: bool) -> None:
    sql, columns = "SELECT name, fee FROM visits ORDER BY fee DESC LIMIT 1", ("name", "fee")
    assert (fill(say, (("Ann", 90),), columns, sql=sql, question="Who paid most?") is not None) == used
    assert fill(
        say, (("Ann", 90),), columns, sql="SELECT name, fee FROM visits WHERE fee = (SELECT max(fee) FROM visits)"
    )


def test_missing_cells_and_rows_are_not_said() -> None:
    assert fill("It is {revenue.max}.", ()) is None
    assert fill("It is {revenue.last}.", (*MONTHS, ("2024-04", None))) is None
    assert fill("It is {revenue.min}.", (*MONTHS, ("2024-04", None))) is None, "what is missing may be the least"
    assert fill("It is {revenue.max}.", (*MONTHS, ("2024-04", None))) == "It is 70."
    assert fill("It is {n}.", ((None,),), ["n"]) is None
    assert fill("It is {n}.", (("",),), ["n"]) is None


def test_a_single_row_needs_no_choice() -> None:
    one: Rows = (("Ada", 12),)
    names = ["name", "COUNT(*)"]
    assert fill("{name} has {count}.", one, names, sql="SELECT name, COUNT(*) FROM t") == "Ada has 12."
    most = "{name} has the most orders: {count}."
    assert fill(most, one, names, sql="SELECT name, COUNT(*) FROM t") is None, "nothing says that it is the most"
    ordered = "SELECT name, COUNT(*) FROM t GROUP BY name ORDER BY 2 DESC LIMIT 1"
    assert fill(most, one, names, sql=ordered) == "Ada has the most orders: 12."
    assert fill(most, one, names, sql="SELECT name, COUNT(*) FROM t", question="Who has most orders?") is None
    assert fill(most, one, names, sql=ordered.replace(" DESC", ""), question="Who has the most orders?") is None
    tied = "SELECT name, COUNT(*) FROM t GROUP BY name HAVING COUNT(*) = (SELECT MAX(n) FROM u)"
    assert fill(most, one, names, sql=tied) == "Ada has the most orders: 12."


def test_columns_of_one_name_are_not_told_apart() -> None:
    assert fill("{name} it is.", (("a", "b"),), ["name", "Name"]) is None
    assert fill("{rows} it is.", (("a", "b"),), ["rows", "Rows"]) is None
    assert fill("{rows} it is.", (("a",),), ["rows"]) == "a it is."


def test_units_are_the_cells_own() -> None:
    one: Rows = ((0.5, 7),)
    own = [ColumnFormat("percent", 1), ColumnFormat("money", 2, "EUR")]
    names = ["share", "price"]
    assert fill("{share} % at €{price} .", one, names, forms=own) == "0.5% at €7.00 ."
    assert fill("{share} Prozent", one, names, forms=own) == "0.5%."
    assert fill("It is ${price}.", one, names, forms=own) is None
    assert fill("It is ${price}.", one, names, question="In $?") == "It is $7."
    assert fill("It is {share}%.", one, names, sql="SELECT 100.0 * a / b AS share, price FROM t") == "It is 0.50%."
    assert fill("It is {share}%.", one, names, sql="SELECT share, price FROM t LIMIT 100") is None


def test_a_cell_is_plain_text_and_no_place() -> None:
    one: Rows = (("{b}\n<b>\x1b[31m" + "x" * 100, "7"),)
    said = fill("It is {a}.", one, ["a", "b"])
    assert said is not None
    assert said.startswith("It is {b} <b> [31mxxx")
    assert len(said) < 80


STORES: Rows = (("Bregenz",), ("Graz",), ("Linz",), ("Salzburg",), ("Villach",), ("Wels",), ("Wien",))


@pytest.mark.parametrize(
    ("say", "rows", "filled"),
    [
        ("The stores are {name}.", STORES[:3], "The stores are Bregenz, Graz and Linz."),
        ("The {rows} stores are {name}.", STORES, "The 7 stores are Bregenz, Graz, Linz and 4 more."),
        ("Das sind die Stores: {name}.", STORES, "Das sind die Stores: Bregenz, Graz, Linz und 4 weitere."),
        ("Stores, Wagen : {name}.", STORES, "Stores, Wagen : Bregenz, Graz, Linz, … (+4)."),
        ("The stores are {name}.", (*STORES, ("Wien",)), "The stores are Bregenz, Graz, Linz and 5 more."),
        ("The stores are {name}.", STORES[:2] * 4, None),  # many of one name
        ("The stores are {name}.", (*STORES, (None,)), None),
        ("The stores are {name}, up to 8.", STORES, None),
    ],
)
def test_a_column_of_names_is_a_list(say: str, rows: Rows, filled: str | None) -> None:
    sql = "SELECT name FROM stores ORDER BY name"
    assert fill(say, rows, ["name"], sql=sql, question="Stores, Wagen?") == filled
    assert fill(say, rows, ["name"], sql=sql, question="Stores?", truncated=True) is None


def test_a_list_has_no_number_of_one() -> None:
    assert fill("{ort} have {patienten.max} patients.", TOWNS, ("ort", "patienten"), sql=BY_PATIENTS) is None
    said = fill("{ort}: {patienten.min} to {patienten.max}.", TOWNS, ("ort", "patienten"), sql=BY_PATIENTS)
    assert said == "Neuss, Bonn and Hamm: 71 to 86."


def _read_sentences(file: str, truth: str) -> list[tuple[str, dict[str, Any], str, str]]:
    """Return each sentence of a corpus with its language, its result and its question."""
    results = tomllib.loads((DATA / file).read_text("utf-8")).values()
    return [
        (language, result, asked["question"], say)
        for result in results
        for language, asked in result.items()
        if isinstance(asked, dict)
        for say in asked.get(truth, [])
    ]


@pytest.mark.parametrize(("truth", "least", "most"), [("true", 0.95, 1), ("false", 0, 0.01)])
@pytest.mark.parametrize(
    "file", ["sentences.toml", "sentences_of_domains.toml", "sentences_of_claims.toml", "sentences_of_languages.toml"]
)
def test_sentences_of_many_languages_are_used_if_they_are_true(
    file: str, truth: str, least: float, most: float
) -> None:
    sentences = _read_sentences(file, truth)
    used: list[tuple[str, str]] = []
    for _, result, question, say in sentences:
        rows, columns, query = (
            [*map(tuple, result["rows"])],
            tuple(result["columns"]),
            Query.of(result["sql"], "sqlite"),
        )
        forms = choose_column_formats(query, columns, rows)
        if fill(say, rows, columns, sql=result["sql"], question=question, forms=forms):
            used.append((question, say))
    assert least <= len(used) / len(sentences) <= most, used


@pytest.mark.parametrize(
    ("question", "say"),
    [
        ("Montako asiakasta meillä on?", "Meillä on {n} asiakasta."),
        ("Hány ügyfelünk van?", "{n} ügyfelünk van."),
        ("고객이 몇 명입니까?", "고객은 {n}명입니다."),
        ("كم عدد العملاء؟", "عدد العملاء {n}."),
        ("हमारे कितने ग्राहक हैं?", "हमारे {n} ग्राहक हैं।"),
        ("เรามีลูกค้ากี่คน", "เรามีลูกค้า {n} คน"),
    ],
)
def test_a_language_without_lists_is_spoken_too(question: str, say: str) -> None:
    sql, filled = "SELECT count(*) AS n FROM customers", say.replace("{n}", "4,213")
    assert fill(say, ((4213,),), ["n"], sql=sql, question=question) in (filled, f"{filled}.")


@pytest.mark.parametrize(
    "say",
    [
        "Najwyższy przychód ma {month.last}.",
        "Högst intäkt har {month.last}.",
        "Intäkten steg från {revenue.max} till {revenue.min}.",
        "수익이 {month.last}에 가장 많습니다.",
        "最も収入が多いのは{month@revenue.min}です。",
        "{month@revenue.max} earned more than all others combined: {revenue.max}.",
        "{month@revenue.max} ist ein Rekord: {revenue.max}.",
    ],
)
def test_what_no_list_and_no_row_can_tell_is_not_said(say: str) -> None:
    assert fill(say) is None


def test_a_word_in_a_name_and_a_condition_compare_nothing() -> None:
    one = ((13,),)
    assert fill("{n} cars have Top Gear.", one, ["n"], sql="SELECT count(*) AS n FROM cars WHERE kit = 'Top Gear'")
    over = "SELECT count(*) AS n FROM cars WHERE age > 5"
    assert fill("{n} cars are older than 5 years.", one, ["n"], sql=over, question="Cars older than 5 years?")
    assert fill("{n} cars are older than most.", one, ["n"], sql=over) is None
    assert fill("{month.first} had more than {revenue.min}.") is None


def test_a_number_word_in_a_columns_name_is_no_number() -> None:
    sql = "SELECT name, damage_millions FROM storms ORDER BY damage_millions DESC"
    rows, columns = (("Six", 39), ("Nine", 13)), ["name", "damage_millions"]
    assert fill("{name.first} cost {damage_millions.first} million.", rows, columns, sql=sql) == "Six cost 39 million."
    assert fill("{name.first} cost {damage_millions.first} billion.", rows, columns, sql=sql) is None


@pytest.mark.parametrize(
    "say",
    ["Yes, {revenue}.", "No: {revenue}.", "Ja, {revenue}.", "Oui, {revenue}.", "Да, {revenue}."],
)
def test_no_sentence_answers_yes_or_no_before_there_are_rows(say: str) -> None:
    assert fill(say, MONTHS[:1], question="Is it more than 60?") is None
    assert fill("No other month had {revenue.max}.") == "No other month had 70."


def test_the_best_is_what_the_query_puts_first() -> None:
    by_revenue = "SELECT month, revenue FROM months ORDER BY revenue DESC"
    rows: Rows = (("2024-02", 70), ("2024-03", 50), ("2024-01", 30))
    assert fill("The best month is {month.last}.", rows, sql=by_revenue) is None
    said = fill("The best month is {month.first}, the worst {month.last}.", rows, sql=by_revenue)
    assert said == "The best month is 2024-02, the worst 2024-01."


def test_each_end_is_said_with_its_number() -> None:
    said = fill("Highest in {month@revenue.max} at {revenue.max} and lowest at {revenue.min}.")
    assert said == "Highest in 2024-02 at 70 and lowest at 30."
    assert fill("Highest in {month@revenue.max} at {revenue.max} and in {month.first} {revenue.last}.") is None
    assert fill("Lowest in {month@revenue.max}, highest in {month@revenue.min}.") is None


NUMBER_WORDS = (DATA / "number_words.txt").read_text("utf-8").split()


@pytest.mark.parametrize(
    ("question", "frame"),
    [
        ("How many customers?", "There are {word} customers in the list: {n}."),
        ("How many customers?", "{n} of {word} customers."),
        ("Wie viele Kunden?", "Es sind {word} Kunden: {n}."),
        ("Combien de clients ?", "Il y a {word} clients : {n}."),
        ("¿Cuántos clientes?", "Hay {word} clientes: {n}."),
        ("Quanti clienti?", "Ci sono {word} clienti: {n}."),
        ("Сколько клиентов за года?", "{n} клиентов за {word} года."),
        ("n?", "{word}: {n}"),
    ],
)
def test_no_number_word_is_the_models(question: str, frame: str) -> None:
    one, sql = ((12,),), "SELECT count(*) AS n FROM customers"
    used = [
        word for word in NUMBER_WORDS if fill(frame.replace("{word}", word), one, ["n"], sql=sql, question=question)
    ]
    is_english = question.startswith("How")
    assert set(used) == ({"tiers", "due"} if is_english else set()), "these are English words"
    assert fill(frame.replace("{word}", "12"), one, ["n"], sql=sql, question=question) is None
    asked = fill(frame.replace("{word}", "seven"), one, ["n"], sql=f"{sql} LIMIT 7", question=question)
    assert asked is not None


WORDS = st.one_of(
    st.sampled_from(("{a}", "{c.max}", "{a@b.min}", "{b.first}", "{c.last}", "{rows}", "in", "2024", "is", "(", ":")),
    st.sampled_from(
        """- 7 12 1,000 3.5 ½ ٣ 三 seven vingt 100 % $ most in2024 k 1e3 {rows}0 0{b} {a}{b} m² Nr.5 #1 fünfzig {d} {a}
        007 ２""".split()  # noqa: SIM905 - so many
    ),
)
CELLS = st.one_of(st.integers(-5_000, 5_000), st.floats(-1e6, 1e6), st.text("ab-0129.,% ", min_size=1, max_size=8))
GLUE = st.sampled_from(("", " ", " ", " ", ",", "."))


@given(
    st.lists(st.tuples(WORDS, GLUE), min_size=1, max_size=5),
    st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=3),
    st.sampled_from(("How many?", "Since 2024, the top 12?", "More than 1,000 or 3.5 %?")),
    st.sampled_from(("SELECT a, b, c FROM t", "SELECT a, b, c FROM t WHERE a > 7 ORDER BY 1 LIMIT 100")),
    st.booleans(),
)
def test_no_number_is_the_models(
    pieces: list[tuple[str, str]],
    rows: list[tuple[PlainCell, PlainCell, PlainCell]],
    question: str,
    sql: str,
    truncated: bool,
) -> None:
    said = fill("".join(map("".join, pieces)), rows, "abc", question=question, sql=sql, truncated=truncated)
    if said is None:
        return
    forms = [ColumnFormat("number"), ColumnFormat("text")]
    cells = [format_cell(cell, form) for row in rows for cell in row for form in forms]
    known = " ".join([*cells, str(len(rows)), question, sql])
    assert set(re.findall(r"\d+", said)) <= set(re.findall(r"\d+", known))
    assert not re.search("[½三]|seven|vingt|fünfzig", said.replace("seven", "" if "7" in sql else "seven"))


@pytest.mark.parametrize(
    ("say", "sql", "filled"),
    [
        ("Among them is {month.first}.", "SELECT month, revenue FROM months", "Among them is 2024-01."),
        ("The first is {month.first}.", "SELECT month, revenue FROM months", None),
        (
            "Most came in {month.first}.",
            "SELECT month, revenue FROM months ORDER BY revenue DESC",
            "Most came in 2024-01.",
        ),
        ("Most came in {month.last}.", "SELECT month, revenue FROM months ORDER BY revenue DESC", None),
        (
            "Least came in {month.last}.",
            "SELECT month, revenue FROM months ORDER BY revenue DESC",
            "Least came in 2024-03.",
        ),
        ("{rows} months are due.", "SELECT month, revenue FROM months", "3 months are due."),
    ],
)
def test_an_order_bears_out_who_leads(say: str, sql: str, filled: str | None) -> None:
    assert fill(say, rows=(("2024-01", 70), ("2024-02", 50), ("2024-03", 30)), sql=sql) == filled


def test_a_unit_is_said_once() -> None:
    forms = [ColumnFormat("number", unit="kg")]
    sql = "SELECT sum(weight) AS weight FROM products"
    filled = fill("They weigh {weight} kg.", rows=((12,),), columns=("weight",), sql=sql, forms=forms)
    assert filled == f"They weigh {format_cell(12, forms[0])}."


CITIES: Rows = (("Paris", 30), ("Rome", 20), ("IN", 5))


@pytest.mark.parametrize(
    ("say", "filled"),
    [
        ("Rome has {n.first}.", None),
        ("rome is ahead with {n.max}.", None),
        ("Paris has {n.first}.", "Paris has 30."),
        ("Paris has {n.first}, Rome {n.last}.", None),
        ("In {city@n.max}: {n.max}.", "In Paris: 30."),
        ("IN has {n.first}.", None),
    ],
)
def test_a_name_stands_beside_its_own_cells(say: str, filled: str | None) -> None:
    sql = "SELECT city, count(*) AS n FROM t GROUP BY city ORDER BY 2 DESC"
    assert fill(say, CITIES, ("city", "n"), sql=sql, question="Is Rome ahead, or paris?") == filled
    asian: Rows = (("大阪", 3), ("東京", 2))
    assert fill("東京は{n.first}件", asian, ("city", "n"), sql=sql) is None
    assert fill("大阪は{n.first}件", asian, ("city", "n"), sql=sql) == "大阪は3件."


def test_a_currency_and_a_unit_are_said_once() -> None:
    euros = [ColumnFormat("money", 2, "EUR")]
    for said in ("{p} euros", "EUR {p}", "{p} EUR", "€{p}"):
        assert fill(f"It is {said}.", ((5,),), ["p"], sql="SELECT sum(p) AS p FROM t", forms=euros) == "It is €5.00."
    for name, filled in (("hours", "5 hours."), ("days", None)):
        sql = f"SELECT sum(duration_{name}) AS d FROM t"
        assert fill("{d} hours", ((5,),), ["d"], sql=sql) == filled


def test_one_is_not_said_of_many() -> None:
    sql = "SELECT count(*) AS n FROM authors"
    assert fill("{n} authors have more.", ((1,),), ["n"], sql=sql) is None
    assert fill("{n} authors have them.", ((2,),), ["n"], sql=sql) == "2 authors have them."
    assert fill("Number of authors: {n}.", ((1,),), ["n"], sql=sql) == "Number of authors: 1."


def test_a_key_of_one_counts_nothing() -> None:
    forms = [ColumnFormat("key")]
    sql = "SELECT store_id FROM sales GROUP BY store_id ORDER BY sum(total) DESC LIMIT 1"
    assert fill("Store {store_id} sold most.", ((1,),), ["store_id"], sql=sql, forms=forms) == "Store 1 sold most."
    assert fill("{store_id} stores sold most.", ((1,),), ["store_id"], sql=sql) is None


@pytest.mark.parametrize(
    ("say", "order", "used"),
    [
        ("The newest film is {title}.", "release_year DESC", True),
        ("The oldest film is {title}.", "release_year DESC", False),
        ("The oldest film is {title}.", "release_year", True),
        ("The film by the oldest director is {title}.", "director_age DESC", True),
        ("The film by the youngest director is {title}.", "director_age DESC", False),
        ("The longest film is {title}.", "minutes DESC", True),
        ("The shortest film is {title}.", "minutes DESC", False),
    ],
)
def test_an_order_by_a_hidden_column_says_which_end_comes_first(say: str, order: str, used: bool) -> None:
    columns = [ColumnSchema(name, "INTEGER", "number") for name in ("release_year", "director_age", "minutes")]
    films = TableSchema("films", (ColumnSchema("title", "TEXT", "text"), *columns))
    query = Query.of(f"SELECT title FROM films ORDER BY {order} LIMIT 1", "sqlite", Schema("films", (films,)))
    result = PlainResult(("title",), (("Dune",),), False)
    assert (fill_sentence(say, result, [ColumnFormat("text")], "Which film?", query) is not None) == used


def test_words_of_a_reading_are_plain_and_without_numbers_of_their_own() -> None:
    given = "Revenue since 2023 SELECT sum(x) FROM t WHERE d > date('now', '-90 days')"
    for words in ("by booking date", "of the last 90 days", "since 2023", "those with at least one", "the others as 0"):
        assert is_harmless(words, given)
    for words in (
        "about 400",
        "twelve days",
        "see evil.example",
        "mailto:ada",
        "<b>net</b>",
        "a\u202eb",
        "two\nlines",
        "",
    ):
        assert not is_harmless(words, given)


def test_a_spelled_number_is_the_querys_own_and_no_part_of_a_larger_one() -> None:
    given = "SELECT name FROM t WHERE n > 100 AND d > date('now', '-13 days') LIMIT 2"
    assert is_harmless("the thirteen days before", given)
    for words in ("two hundred days", "twenty days", "fourteen days", "twenty-two days"):
        assert not is_harmless(words, given)


BY_PATIENTS = "SELECT ort, count(*) AS patienten FROM p GROUP BY ort ORDER BY patienten DESC"
BY_COST = "SELECT monat, sum(k) AS kosten_eur FROM k GROUP BY monat ORDER BY monat"
TOWNS: Rows = (("Neuss", 86), ("Bonn", 80), ("Hamm", 71))


@pytest.mark.parametrize(
    ("say", "used"),
    [
        ("{name.first} joined on {since.last}.", False),
        ("{name.last} kam am {since.min} dazu.", False),
        ("On {since.last}, {name.first} joined.", False),
        ("{name.first} was born in {birth_year.last}.", False),
        ("{name.first} joined on {since.first} and {name.last} on {since.last}.", True),
        ("On {since.first}, {name.first} joined.", True),
        ("{name.first} est client depuis {since.min}.", True),
        ("{name.last} was born in {birth_year.last}.", True),
        ("Customers joined from {since.first} to {since.last}, {name.first} before the others.", True),
    ],
)
def test_a_date_beside_a_name_is_of_its_row(say: str, used: bool) -> None:
    rows = (("Ada", "2016-08-10", 1971), ("Bob", "2019-01-02", 1965), ("Cy", "2022-07-09", 1981))
    forms = [ColumnFormat("text"), ColumnFormat("date"), ColumnFormat("year")]
    sql, columns = "SELECT name, since, birth_year FROM customers ORDER BY since", ("name", "since", "birth_year")
    assert (fill(say, rows, columns, sql=sql, question="When did each join?", forms=forms) is not None) == used


@pytest.mark.parametrize(
    ("output", "say", "used"),
    [
        ("sum(amount) / count(DISTINCT order_id)", "Orders total {n}.", False),
        ("round(1.0 * sum(amount) / count(*), 2)", "Insgesamt sind es {n}.", False),
        ("sum(amount) / count(*)", "Die Bestellungen summieren sich auf {n}.", False),
        ("round(sum(amount) / count(*), 2)", "Au total, les commandes valent {n}.", False),
        ("sum(amount) / count(*)", "An order is worth {n} on average.", True),
        ("sum(amount) / 1000", "Orders total {n}.", True),
        ("100.0 * sum(late) / count(*)", "In total, {n} % were late.", True),
    ],
)
def test_a_quotient_of_aggregates_is_no_total(output: str, say: str, used: bool) -> None:
    sql = f"SELECT {output} AS n FROM orders"
    assert (fill(say, ((8.6,),), ("n",), sql=sql, question="How much?") is not None) == used


@pytest.mark.parametrize(
    ("condition", "say", "used"),
    [
        ("d BETWEEN '2024-01-01' AND '2024-12-31'", "There were {n} orders in March.", False),
        ("d BETWEEN '2024-01-01' AND '2024-12-31'", "There were {n} orders in December.", False),
        ("d >= '2024-01-01' AND d < '2024-04-01'", "From January to April there were {n}.", False),
        ("strftime('%m', d) BETWEEN '01' AND '06'", "There were {n} orders in June.", False),
        ("strftime('%m', d) = '06'", "There were {n} orders in June.", True),
    ],
)
def test_a_month_within_a_range_is_not_the_ranges(condition: str, say: str, used: bool) -> None:
    sql = f"SELECT count(*) AS n FROM orders WHERE {condition}"
    assert (fill(say, ((887,),), ("n",), sql=sql, question="How many?") is not None) == used


def test_the_months_of_a_range_are_those_of_the_question() -> None:
    sql, forms = (
        "SELECT count(*) AS n FROM orders WHERE d >= '2024-01-01' AND d < '2024-04-01'",
        [ColumnFormat("number")],
    )
    query, result, say = (
        Query.of(sql, "sqlite"),
        PlainResult(("n",), ((887,),)),
        "From January to March there were {n}.",
    )
    for question, meant, used in (
        ("How many from January to March?", "", True),
        ("How many between 2024-01-01 and 2024-03-31?", "", True),
        ("And how many were paid?", "How many orders from January to March 2024 were paid?", True),
        ("How many until April?", "", False),
    ):
        assert (fill_sentence(say, result, forms, question, query, meant=meant) is not None) == used, question


@pytest.mark.parametrize(
    ("say", "filled"),
    [
        ("{ort.first} has {patienten.last} patients.", None),
        ("{ort.last} has {patienten.max} patients.", None),
        ("{patienten.min} patients live in {ort @ patienten.max}.", None),
        ("{ort.first} has {patienten.last}, {ort.last} has {patienten.first}.", None),
        ("{ort.first} and {ort.last} have {patienten.last} and {patienten.first}.", None),
        ("{ort @ patienten.max} has the most patients, {patienten.max}.", "Neuss has the most patients, 86."),
        ("{ort.first} has {patienten.first}, {ort.last} comes last.", "Neuss has 86, Hamm comes last."),
        (
            "From {ort.first} with {patienten.first} to {ort.last} with {patienten.last}.",
            "From Neuss with 86 to Hamm with 71.",
        ),
        ("From {patienten.min} to {patienten.max}, the most in {ort.first}.", "From 71 to 86, the most in Neuss."),
        ("Each town has {patienten.max} patients.", None),
        ("In total there are {patienten.first} patients.", None),
        ("Altogether, {patienten.max} patients came.", None),
        ("We have {patienten.max} patients in all.", None),
        ("Insgesamt sind es {patienten.max}.", None),
        ("Jeder Ort hat {patienten.first} Patienten.", None),
        ("总共有{patienten.max}。", None),
        ("Overall, {ort.first} has the most, {patienten.first}.", "Overall, Neuss has the most, 86."),
        ("There are {rows} towns in total, up to {patienten.max}.", "There are 3 towns in total, up to 86."),
        ("{ort.last} tops the list.", None),
        ("The bulk live in {ort.last}.", None),
        ("Patients mainly live in {ort.last}.", None),
        ("{ort.first} tops the list.", "Neuss tops the list."),
        ("Spitzenreiter ist {ort.first}.", "Spitzenreiter ist Neuss."),
        ("Visit {ort.first} at evil dot com.", None),
    ],
)
def test_a_sentence_pairs_and_sums_up_as_the_rows_do(say: str, filled: str | None) -> None:
    assert fill(say, TOWNS, ("ort", "patienten"), sql=BY_PATIENTS, question="Patients by town") == filled


@pytest.mark.parametrize(
    "say",
    [
        "{ort} liegt vorn.",
        "{ort} in testa.",
        "{ort}领先",
        "{ort}最好",
        "{ort} is ahead.",
        "{ort} beats others.",
        "{ort} führt.",
        "{ort} encabeza.",
        "{ort} en tête.",
    ],
)
def test_who_leads_is_borne_out(say: str) -> None:
    one = "SELECT ort, count(*) AS patienten FROM p WHERE ort = 'Bonn'"
    assert fill(say, TOWNS[1:2], ("ort", "patienten"), sql=one) is None
    assert fill(say.replace("ort", "ort@patienten.max"), TOWNS, ("ort", "patienten"), sql=BY_PATIENTS) is not None


def test_who_is_second_is_told_by_the_query() -> None:
    say, second = "{ort} is second with {patienten}.", f"{BY_PATIENTS} LIMIT 1 OFFSET 1"
    assert fill(say, TOWNS[1:2], ("ort", "patienten"), sql=second) == "Bonn is second with 80."
    assert fill(say, TOWNS[1:2], ("ort", "patienten"), sql=f"{BY_PATIENTS} LIMIT 1") is None


@pytest.mark.parametrize("words", ["the majority of", "almost all", "steadily more", "the median of"])
def test_what_many_rows_together_tell_is_not_said(words: str) -> None:
    say = f"{{ort.first}} has {words} patients: {{patienten.first}}."
    assert fill(say, TOWNS, ("ort", "patienten"), sql=BY_PATIENTS) is None
    assert fill(say, TOWNS, ("ort", "patienten"), sql=f"{BY_PATIENTS} -- {words}") is None
    assert fill(say.replace(words, "the most"), TOWNS, ("ort", "patienten"), sql=BY_PATIENTS)


@pytest.mark.parametrize(
    ("say", "filled"),
    [
        ("On average we took {kosten_eur.max} a month.", None),
        ("Im Durchschnitt waren es {kosten_eur.last}.", None),
        ("The highest total was {kosten_eur.max}.", "The highest total was 70."),
        (
            "From {monat.first} to {monat.last}, costs ran to {kosten_eur.max}.",
            "From 2024-01 to 2024-03, costs ran to 70.",
        ),
        ("In {monat.first} it was {kosten_eur.min}, in {monat.last} {kosten_eur.max}.", None),
    ],
)
def test_a_month_is_no_average(say: str, filled: str | None) -> None:
    asked = "What did we take on average a month?"
    assert fill(say, MONTHS, ("monat", "kosten_eur"), sql=BY_COST, question=asked) == filled


@pytest.mark.parametrize(
    ("say", "filled"),
    [
        ("Revenue rose from {revenue.first} to {revenue.last}.", "Revenue rose from 30 to 50."),
        ("Revenue fell from {revenue.first} to {revenue.last}.", None),
        ("Revenue fell from {revenue.max} to {revenue.last}.", "Revenue fell from 70 to 50."),
        ("Revenue rose from {revenue.min} to {revenue.max}.", "Revenue rose from 30 to 70."),
        ("Revenue fell from {revenue.max} to {revenue.first}.", None),
        ("Revenue rose to {revenue.last}.", None),
        ("Revenue rose by {revenue.last}.", None),
    ],
)
def test_what_rises_and_falls_is_told_by_the_rows(say: str, filled: str | None) -> None:
    question = "Revenue by month: did it fall or rise, and by how much?"
    assert fill(say, question=question) == filled
    by_revenue = BY_MONTH.replace("ORDER BY month", "ORDER BY revenue")
    assert fill(say, question=question, sql=by_revenue) is None, "that is no course of time"
    assert fill(say, question=question, sql=f"{BY_MONTH} DESC") is None


@pytest.mark.parametrize(
    ("question", "frame", "words"),
    [
        (
            "Hoeveel klanten zijn er?",
            "Er zijn {n} klanten, waarvan {word} in de stad.",
            "negenennegentig driemaal vijfde",
        ),
        ("Quanti clienti ci sono?", "Ci sono {n} clienti, di cui {word} in città.", "ventuno trecentoquarantacinque"),
        ("고객은 몇 명인가요?", "고객은 {n}명이고 그중 {word} 명은 도시에 있습니다.", "이십일 구십구 천이백 삼"),
        ("How many customers?", "There are {n} customers, {word} of them in town.", "both quarter"),
    ],
)
def test_a_number_written_together_is_no_models_number(question: str, frame: str, words: str) -> None:
    one, sql = ((12,),), "SELECT count(*) AS n FROM customers"
    assert fill(frame.replace("{word}", ""), one, ["n"], sql=sql, question=question)
    assert not any(
        fill(frame.replace("{word}", word), one, ["n"], sql=sql, question=question) for word in words.split()
    )


COUNTRIES: Rows = (("Germany", 2, 456000), ("Estonia", 2, 453000), ("Norway", 1, 709000))
BY_COUNTRY = "SELECT country, count(*) AS ports, sum(people) AS population FROM p GROUP BY 1 ORDER BY 2 DESC, 3 DESC"


@pytest.mark.parametrize(
    ("say", "used"),
    [
        ("{country@population.max} has the most people, {population.max}.", True),
        ("{country.first} has the most ports, {ports.first}.", True),
        ("{country@population.max} has the largest population.", True),
        ("{country.first} has the most people, {population.max}.", False),
        ("{country.first} has the largest population: {population.max}.", False),
        ("{country@population.max} has the most ports.", False),
        ("{country@population.max} hat die meisten Häfen.", False),
        ("{country@population.max} hat die meisten Häfen, {ports.max}.", False),
        ("{country@population.max} has the most ports, with {population.max} people.", False),
        ("{country.first} has more ports than {country.last}.", False),  # two rows are not compared
        ("{country.first} is more populous than {country.last}.", False),
        ("More ports lie in {country.last} than in {country.first}.", False),
        ("{country.last} hat mehr Häfen als {country.first}.", False),
        ("{country.last} liegt bei den ports knapp vor {country.first}.", False),
        ("{country.first} a moins de ports que {country.last}.", False),
        ("{country.first} and {country.last} have the same number of ports.", False),
        ("{country.first} has {ports.first} ports, with a population of {population.first}.", True),
        ("{country.first} has the most ports, {population.first}.", False),
        ("{country.first} has {population.first} ports.", False),
        ("The population of {country.first} is {ports.first}.", False),
        ("Of the ports, {country.first} has {ports.first} for {population.first} people.", True),
    ],
)
def test_a_comparison_is_of_the_column_that_it_names(say: str, used: bool) -> None:
    columns, question = ("country", "ports", "population"), "Ports and population per country?"
    assert (fill(say, COUNTRIES, columns, sql=BY_COUNTRY, question=question) is not None) is used


@pytest.mark.parametrize(
    ("say", "used"),
    [
        ("Revenue was highest in February: {revenue.max}.", False),  # so it is, but nobody knew when it was written
        ("Revenue may be highest in {month@revenue.max}: {revenue.max}.", True),
        ("Revenue was highest in August: {revenue.max}.", False),
        ("Revenue peaked in Aug at {revenue.max}.", False),
        ("Im März war der Umsatz am höchsten: {revenue.max}.", False),
        ("Le chiffre d’affaires a culminé en août : {revenue.max}.", False),
        ("Los ingresos alcanzaron su máximo en agosto: {revenue.max}.", False),
        ("Выручка была выше всего в августе: {revenue.max}.", False),
        ("The winter was best, with {revenue.max} in {month@revenue.max}.", False),
        ("{month.first} brought {revenue.first} on Mondays.", False),
        ("Revenue was highest in {month@revenue.max}: {revenue.max} a day.", False),
        ("Weekly revenue was highest in {month@revenue.max}: {revenue.max}.", False),
        ("Revenue per month was highest in {month@revenue.max}: {revenue.max}.", True),
        ("Der Wochenumsatz war im {month@revenue.max} am höchsten: {revenue.max}.", False),
        ("There were {revenue.max}+ in {month@revenue.max}.", False),
        ("The best month was {month@revenue.max}, last year.", False),
    ],
)
def test_a_time_and_a_rate_are_those_of_question_or_query(say: str, used: bool) -> None:
    assert (fill(say) is not None) is used


@pytest.mark.parametrize(
    ("say", "output", "used"),
    [
        ("On average, there are {n}.", "avg(seats)", True),
        ("In total, there are {n}.", "sum(seats)", True),
        ("The average total is {n}.", "sum(seats) / count(*)", True),
        ("The total is {n}.", "avg(seats)", False),
        ("The median is {n}.", "avg(seats)", False),
        ("The average is {n}.", "sum(seats)", False),
        ("Im Durchschnitt sind es {n}.", "sum(seats)", False),
        ("Each hall has {n}.", "sum(seats)", False),
        ("Es sind {n} pro Monat.", "count(*)", False),
    ],
)
def test_a_word_for_an_aggregate_is_that_of_the_query(say: str, output: str, used: bool) -> None:
    assert (fill(say, ((12,),), ["n"], sql=f"SELECT {output} AS n FROM t", question="n?") is not None) is used


@pytest.mark.parametrize(
    ("say", "used"),
    [
        ("The best range from {revenue.min} to {revenue.max}.", True),
        ("Revenue ranges from {revenue.min} to {revenue.max}.", False),
        ("Only {month} had revenue.", False),
    ],
)
def test_what_a_limit_lets_through_is_not_all(say: str, used: bool) -> None:
    sql = "SELECT month, revenue FROM t ORDER BY revenue DESC LIMIT 3"
    assert (
        fill(say, sorted(MONTHS, key=lambda row: -int(row[1] or 0)), sql=sql, question="Where was revenue good?")
        is not None
    ) is used


def test_a_rows_name_in_the_plural_is_the_row() -> None:
    rows, sql = (("captain", 70), ("cook", 40)), "SELECT role, pay FROM crew ORDER BY pay DESC"
    assert fill("Captains earn most: {pay.max}.", rows, ("role", "pay"), sql=sql) == "Captains earn most: 70."
    assert fill("Cooks earn most: {pay.max}.", rows, ("role", "pay"), sql=sql) is None


def test_a_unit_that_a_columns_name_gives_may_be_said() -> None:
    sql = "SELECT delay_min, built_year FROM t ORDER BY 1 DESC LIMIT 1"
    forms = (ColumnFormat("number"), ColumnFormat("year"))
    rows, columns = ((44, 2019),), ("delay_min", "built_year")
    assert fill("It was {delay_min} minutes.", rows, columns, sql=sql, forms=forms) == "It was 44 minutes."
    assert fill("It was {delay_min} km.", rows, columns, sql=sql, forms=forms) is None
    assert fill("It was built {built_year} years ago.", rows, columns, sql=sql, forms=forms) is None


@pytest.mark.parametrize(
    ("say", "used"),
    [
        ("There are {rows} customers.", False),
        ("{rows} new customers live in {country.first}.", False),
        ("The number of customers is {rows}.", False),
        ("Es gibt {rows} Kunden.", False),
        ("There are {rows} countries.", True),
        ("Customers live in {rows} countries.", True),
        ("Kunden gibt es in {rows} Ländern, vorn liegt {country.first}.", True),
    ],
)
def test_rows_are_not_what_their_column_counts(say: str, used: bool) -> None:
    rows, columns = (("France", 5), ("Spain", 2)), ("country", "customers")
    sql = "SELECT country, count(*) AS customers FROM customer GROUP BY country ORDER BY customers DESC"
    assert (fill(say, rows, columns, sql=sql, question="Customers by country") is not None) is used


@pytest.mark.parametrize(
    ("say", "question", "order", "used"),
    [
        ("The best year was {year.first}, with {sales.first}.", "Sales by year", "year", False),
        ("Das beste Jahr war {year@sales.max} mit {sales.max}.", "Sales by year", "year", True),
        ("The worst year was {year@sales.max}.", "Sales by year", "year", False),
        ("The worst year was {year@sales.min}.", "Sales by year", "year", False),  # of which measure?
        ("The worst year was {year@sales.min}, with {sales.min}.", "Sales by year", "year", True),
        ("{year.first} had the best tax: {tax.first}.", "Which year was best?", "sales DESC", False),
        ("{year.first} was best: {tax.first}.", "Which year was best?", "sales DESC LIMIT 3", False),
        ("{year.first} was best: {sales.first}.", "Which year was best?", "sales DESC LIMIT 3", True),
        ("The worst is {year.first}: {sales.first}.", "The 3 best years", "sales DESC LIMIT 3", False),
        ("The best is {year.first}: {sales.first}.", "Which year had the best rank?", "sales", True),
    ],
)
def test_the_best_is_the_most_unless_the_question_asks_for_the_best(
    say: str, question: str, order: str, used: bool
) -> None:
    rows: Rows = (("2021", 40, 9), ("2022", 70, 5), ("2023", 60, 7))
    rows = sorted(rows, key=lambda row: int(row[1] or 0), reverse="DESC" in order) if "sales" in order else rows
    sql = f"SELECT year, sales, tax FROM years ORDER BY {order}"
    assert (fill(say, rows, ("year", "sales", "tax"), sql=sql, question=question) is not None) is used


def test_a_year_that_is_a_text_is_the_name_of_its_row() -> None:
    rows, forms = (("2022", 40), ("2023", 70)), (ColumnFormat("year"), ColumnFormat("number"))
    sql = "SELECT strftime('%Y', day) AS year, sum(total) AS revenue FROM orders GROUP BY 1 ORDER BY 1"
    for say, used in (("In 2022 revenue was {revenue.first}.", True), ("In 2022 revenue was {revenue.last}.", False)):
        filled = fill(say, rows, ("year", "revenue"), sql=sql, question="Revenue since 2022", forms=forms)
        assert (filled is not None) is used
