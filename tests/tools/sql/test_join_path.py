"""The tables in between."""

from __future__ import annotations

import pytest
from tableturn.tools.database import ColumnSchema, ForeignKey, Schema, TableSchema
from tableturn.tools.sql.join_path import find_joining_keys


def table(name: str, *columns: str) -> TableSchema:
    return TableSchema(name, tuple(ColumnSchema(column) for column in columns))


def key(place: str, other: str, *, inferred: bool = False) -> ForeignKey:
    (near, column), (far, target) = place.split("."), other.split(".")
    return ForeignKey(near, (column,), far, (target,), inferred)


# student - takes - course - dept, student - dept; lonely is joined to nothing; staff reports to itself.
SCHOOL = Schema(
    "school",
    (
        table("student", "id", "dept"),
        table("takes", "student", "course"),
        table("course", "id", "dept"),
        table("dept", "id"),
        table("staff", "id", "boss", "dept"),
        table("lonely", "id"),
    ),
    (
        key("student.dept", "dept.id", inferred=True),
        key("takes.student", "student.id"),
        key("takes.course", "course.id"),
        key("course.dept", "dept.id"),
        key("staff.boss", "staff.id"),
        key("staff.dept", "dept.id"),
    ),
)


@pytest.mark.parametrize(
    ("tables", "path"),
    [
        ([], []),
        (["student"], []),
        (["staff"], []),
        (["nowhere", "student"], []),
        (["student", "takes"], ["takes.student"]),
        (["STUDENT", "Course"], ["takes.student", "takes.course"]),
        (["course", "student"], ["takes.course", "takes.student"]),
        (["student", "dept"], ["student.dept"]),
        (["student", "dept", "takes"], ["takes.student", "student.dept"]),
        (["student", "lonely"], []),
        (["lonely", "student"], []),
        (["staff", "takes"], ["staff.dept", "course.dept", "takes.course"]),
    ],
)
def test_join_path(tables: list[str], path: list[str]) -> None:
    assert [f"{step.table}.{step.columns[0]}" for step in find_joining_keys(SCHOOL, tables)] == path


def test_each_key_joins_one_more_table() -> None:
    joined = {"staff"}
    for step in find_joining_keys(SCHOOL, ["staff", "student", "course", "takes"]):
        ends = {step.table, step.ref_table}
        assert len(ends & joined) == 1
        joined |= ends
    assert {"staff", "student", "course", "takes"} <= joined


def test_a_declared_key_goes_before_an_inferred_one() -> None:
    both = Schema("both", SCHOOL.tables, (key("student.id", "dept.id", inferred=True), key("student.dept", "dept.id")))
    assert find_joining_keys(both, ["student", "dept"])[0].columns == ("dept",)


def test_a_large_schema_is_quick() -> None:
    tables = tuple(table(f"t{number}", "id", "next") for number in range(1000))
    keys = tuple(key(f"t{number}.next", f"t{number + 1}.id") for number in range(999))
    assert len(find_joining_keys(Schema("chain", tables, keys), ["t0", "t999", "t500"])) == 999


def test_of_two_keys_the_one_that_is_said() -> None:
    keys = (key("ticket.closed_by", "staff.id"), key("ticket.reported_by", "staff.id"))
    desk = Schema("desk", (table("ticket", "id", "closed_by", "reported_by"), table("staff", "id")), keys)

    assert find_joining_keys(desk, ["ticket", "staff"]) == keys[:1]
    assert find_joining_keys(desk, ["ticket", "staff"], {"report", "by"}) == keys[1:]
