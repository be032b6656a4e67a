"""Settings, presets and settings files."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.settings import (
    PRESETS,
    REMOVED,
    MethodSettings,
    Settings,
    drop_removed_settings,
    make_settings,
    read_settings_file,
)
from tableturn.tools.deprecation import Deprecated
from tableturn.tools.errors import SettingsError

from tests.support.command_line import tableturn


def test_presets_carry_the_published_numbers() -> None:
    credit, craft, track, revision = (make_settings(preset=name) for name in ("credit", "craft", "track", "revision"))
    assert (credit.n_voted, credit.m_votes, credit.temperature, credit.max_output_tokens) == (18, 20, 0.0, 600)
    assert (craft.k_question, craft.reason, craft.converge) == (5, "pot", "sql")
    assert (track.link_threshold, track.history_window, track.rephrase) == (
        0.1,
        4,
        "never",
    )  # a window of 5, this turn included
    assert (revision.k_question_skeleton, revision.k_simplified_skeleton) == (4, 4)
    assert (revision.simplify_temperature, revision.temperature, revision.converge) == (1.0, 0.5, "result")


def test_fields_win_over_their_preset() -> None:
    assert make_settings({"max_attempts": 2}, preset="craft").max_attempts == 2


def test_a_run_overrides_only_what_it_names() -> None:
    own = make_settings({"rows": 7, "max_attempts": 9})
    assert own.overridden(Settings(max_attempts=1)).rows == 7
    assert own.overridden(Settings(max_attempts=1)).max_attempts == 1
    assert own.overridden(None) is own


def test_a_preset_given_beside_settings_replaces_theirs_but_no_named_field() -> None:
    for preset in PRESETS:
        named = {"rows": 7, "candidates": make_settings(preset="credit").candidates}
        given = Settings.model_validate({"preset": "credit", **named})
        assert make_settings(given, preset=preset) == make_settings(named, preset=preset)
        assert make_settings(make_settings({}, preset="credit"), preset=preset) == make_settings(preset=preset)


def test_a_run_that_changes_the_preset_keeps_the_limits() -> None:
    own = make_settings({"rows": 7, "query_seconds": 0.5, "prompt_tokens": 900}, preset="craft")
    changed = own.overridden(Settings(preset="full"))
    assert (changed.reason, changed.max_attempts) == ("off", Settings().max_attempts)
    assert (changed.rows, changed.query_seconds, changed.prompt_tokens) == (7, 0.5, 900)


def test_full_is_the_default() -> None:
    assert make_settings(preset="full") == Settings()
    assert set(PRESETS) == {"full", "credit", "craft", "track", "revision"}


OWN = Settings(rows=7, max_attempts=9, candidates=2)


def another(name: str, now: Any) -> Any:
    """A valid value of a field that is not the one it has now."""
    match Settings.model_json_schema()["properties"][name]:
        case {"type": "boolean"}:
            return not now
        case {"enum": values}:
            return next(value for value in values if value != now)
        case {"type": "array"}:
            return ("secrets",)
        case {"type": "string"}:
            return "de" if name == "locale" else "off"
        case {"type": kind}:
            return now / 2 if kind == "number" and now else 0.5 if kind == "number" else now + 1 if now < 5 else now - 1
        case _:
            raise AssertionError(name)


def changed(before: Settings, after: Settings) -> set[str]:
    """The fields in which settings differ."""
    return {name for name in Settings.model_fields if getattr(before, name) != getattr(after, name)}


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name != "preset"])
def test_naming_a_field_changes_that_field_alone(name: str, tmp_path: Path) -> None:
    fields: dict[str, Any] = {name: another(name, getattr(Settings(), name))}
    (tmp_path / "settings.json").write_text(json.dumps(fields))
    assert changed(Settings(), make_settings(fields)) == {name}
    assert changed(Settings(), make_settings(read_settings_file(tmp_path / "settings.json"))) == {name}
    in_context: dict[str, Any] = {name: another(name, getattr(OWN, name))}
    assert changed(OWN, OWN.overridden(Settings(**in_context))) == {name}
    for preset in PRESETS:
        base = make_settings(preset=preset)
        beside = {name: another(name, getattr(base, name))}
        assert changed(base, make_settings(beside, preset=preset)) == {name}
        both: dict[str, Any] = {"preset": preset, **beside}
        assert changed(base, Settings(**both)) == {name}


@pytest.mark.parametrize("preset", PRESETS)
def test_naming_a_preset_changes_what_its_paper_fixes_alone(preset: str) -> None:
    fixed = PRESETS[preset]
    after = OWN.overridden(make_settings(preset=preset))
    assert {name: getattr(after, name) for name in fixed} == fixed
    assert changed(OWN, after) <= {*fixed}


def test_people_see_their_settings_before_the_method() -> None:
    shown = list(Settings.model_json_schema()["properties"])
    assert set(shown[-len(MethodSettings.model_fields) :]) == set(MethodSettings.model_fields)
    assert shown[0] == "preset"


def test_every_setting_says_what_it_is() -> None:
    assert all(field.description for field in Settings.model_fields.values())


@pytest.mark.parametrize(
    ("given", "named"),
    [({"max_attempts": 0}, "max_attempts"), ({"nonsense": 1}, "nonsense"), ({"preset": "best"}, "best")],
)
def test_wrong_settings_are_named_in_one_line(given: dict[str, object], named: str) -> None:
    with pytest.raises(SettingsError, match=named) as caught:
        make_settings(given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"settings": "s.toml"}, "settings must be a mapping of fields, as in {'rows': 100}, not 's.toml'"),
        ({"deny": "orders"}, "allow and deny take lists of names: write ['orders']"),
        ({"permissions": {}}, "permissions must be the path of a permissions file, not {}"),
        ({"checkpointer": "x"}, "checkpointer must be a LangGraph checkpointer, not 'x'"),
    ],
)
def test_arguments_of_another_kind_are_named(shop: Path, given: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError) as caught:
        SQLAgent(shop, model="offline", **given)
    assert str(caught.value) == told


def test_files_are_toml_or_json(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('preset = "craft"\nmax_attempts = 4\n')
    (tmp_path / "b.json").write_text(json.dumps({"max_attempts": 4}))
    assert make_settings(read_settings_file(tmp_path / "a.toml")).max_attempts == 4
    assert make_settings(read_settings_file(tmp_path / "b.json")).max_attempts == 4


@pytest.mark.parametrize("text", ["= broken", "[1, 2]"])
def test_a_broken_file_is_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(SettingsError, match=r"a\.json"):
        read_settings_file(path)
    with pytest.raises(SettingsError, match="there is no file"):
        read_settings_file(tmp_path / "none.toml")


@pytest.mark.parametrize(("name", "said"), [("max_attempt", "did you mean max_attempts"), ("foo", "docs/settings.md")])
def test_a_setting_that_there_is_not_is_told_in_a_run_too(shop: Path, name: str, said: str) -> None:
    with (
        SQLAgent(shop, model="offline") as agent,
        pytest.raises(SettingsError, match=f"unknown setting '{name}'.*{said}"),
    ):
        agent.graph.invoke(
            {"messages": []},
            {"configurable": {"thread_id": "t"}},
            context={name: 1},  # pyright: ignore[reportArgumentType]
        )


def test_removed_settings_are_ignored_with_one_note() -> None:
    removed = {"old_rows": "use rows", "old_gate": "nothing replaces it"}
    with pytest.warns(Deprecated) as told:
        assert drop_removed_settings({"old_rows": 1, "rows": 2, "old_gate": 3}, removed) == {"rows": 2}
    (note,) = told
    said = "deprecated since version 0.3: setting 'old_rows', 'old_gate'; ignored (old_rows: use rows; old_gate: noth"
    assert str(note.message).startswith(said)
    assert note.filename == __file__


def test_they_are_ignored_wherever_settings_come_from(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REMOVED, "old_rows", "use rows")
    fields: dict[str, Any] = {"old_rows": 1, "rows": 2}
    with pytest.warns(Deprecated):
        assert Settings(**fields) == Settings(rows=2)
    question = "List the names of customers."
    with SQLAgent(shop, model="offline") as agent:
        config: Any = {"configurable": {"thread_id": "1"}}
        ask = partial(agent.graph.invoke, {"question": question}, config, context=fields)  # pyright: ignore
        with pytest.warns(Deprecated) as told:
            output = ask()
    assert len(output["answer"]["rows"]) == 2
    assert [note.filename for note in told] == [__file__]
    file = tmp_path / "settings.toml"
    file.write_text("old_rows = 1\nrows = 2\n")
    done = tableturn("ask", question, "--db", str(shop), "--model", "offline", "--settings", str(file), "--json")
    assert len(json.loads(done.stdout)["rows"]) == 2
    assert done.stderr == "tableturn: deprecated since version 0.3: setting 'old_rows'; ignored (old_rows: use rows)\n"
