"""Settings, presets and settings files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.settings import PRESETS, Settings, make_settings, read_settings
from tableturn.tools.errors import SettingsError


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


def test_a_run_that_changes_the_preset_keeps_the_limits() -> None:
    own = make_settings({"rows": 7, "query_seconds": 0.5, "prompt_tokens": 900}, preset="craft")
    changed = own.overridden(Settings(preset="full"))
    assert (changed.reason, changed.max_attempts) == ("off", Settings().max_attempts)
    assert (changed.rows, changed.query_seconds, changed.prompt_tokens) == (7, 0.5, 900)


def test_full_is_the_default() -> None:
    assert make_settings(preset="full") == Settings()
    assert set(PRESETS) == {"full", "credit", "craft", "track", "revision"}


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


def test_files_are_toml_or_json(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('preset = "craft"\nmax_attempts = 4\n')
    (tmp_path / "b.json").write_text(json.dumps({"max_attempts": 4}))
    assert make_settings(read_settings(tmp_path / "a.toml")).max_attempts == 4
    assert make_settings(read_settings(tmp_path / "b.json")).max_attempts == 4


@pytest.mark.parametrize("text", ["= broken", "[1, 2]"])
def test_a_broken_file_is_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(SettingsError, match=r"a\.json"):
        read_settings(path)
    with pytest.raises(SettingsError, match="cannot read"):
        read_settings(tmp_path / "none.toml")


@pytest.mark.parametrize(("name", "said"), [("max_attempt", "did you mean max_attempts"), ("xyz", "docs/settings.md")])
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
