"""Answers are marked trusted by a bound that holds for what is asked now, and by nothing else."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from tableturn.agent import SQLAgent
from tableturn.agent.answers.render import render_answer_text
from tableturn.agent.evidence.trust import (
    TrustBound,
    TrustFingerprints,
    apply_bound,
    compute_fingerprints,
    find_trust_bound,
    get_trust_file_path,
    read_trust_bounds,
    write_trust_bound,
)
from tableturn.tools.errors import SettingsError
from tableturn.tools.examples import database_identity
from tableturn.tools.labels import Labels

from tests.support.command_line import tableturn

QUESTION = "How many customers are there?"
PRINTS = TrustFingerprints("p", "s", "")


def bound(**more: Any) -> TrustBound:
    fields: dict[str, Any] = {
        "database": "shop@1",
        "model": "m",
        "alpha": 0.05,
        "certainty": 0.95,
        "level": 0.9,
        "labels": 100,
        "wrong": 4,
        "trusted": 80,
        "trusted_wrong": 0,
        "missing": 0,
        "fingerprints": PRINTS,
        "time": "2026-01-01T00:00:00+00:00",
    }
    return TrustBound(**{**fields, **more})


def asked(shop: Path, path: Path | str, **settings: Any):
    with SQLAgent(shop, model="offline", settings={"trust": str(path), **settings}) as agent:
        return agent.ask(QUESTION)


def set_for(shop: Path, path: Path, level: float | None, **settings: Any) -> None:
    with SQLAgent(shop, model="offline", settings={"trust": str(path), **settings}) as agent:
        prints = compute_fingerprints(agent.resources, agent.settings)
        identity = database_identity(agent.resources.database)
    missing = 0 if level else 20
    write_trust_bound(
        bound(database=identity, model="offline", level=level, missing=missing, fingerprints=prints), path
    )


def test_answers_are_marked_from_the_level_on(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    assert asked(shop, path).trust == ""
    set_for(shop, path, 0.5)
    answer = asked(shop, path)
    assert answer.trusted is True
    assert answer.trust.startswith("✓ trusted: of answers as sure as this one at most 5% are wrong, at 95% certainty")
    told = answer.to_dict()
    keys = list(told)
    assert keys[keys.index("confidence_reason") :][:3] == ["confidence_reason", "trusted", "trust_reason"]
    assert (told["trusted"], told["trust_reason"]) == (True, answer.trust_reason)
    for shown in (answer._repr_html_(), render_answer_text(answer)):  # pyright: ignore[reportPrivateUsage]
        assert "✓ trusted: of answers as sure" in shown
        assert "sure: " not in shown.lower(), "nothing speaks against it"
        assert f"{answer.confidence:.2f}" not in shown, "people are told in words"
    set_for(shop, path, 0.9999)
    assert asked(shop, path).trusted is False
    assert asked(shop, path).trust.startswith("not trusted: less sure than")
    assert asked(shop, "off").trusted is None


def test_a_change_withdraws_it_until_it_holds_again(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    set_for(shop, path, 0.5)
    changed = asked(shop, path, effort="high")
    assert changed.trusted is None
    assert "prompts or settings changed" in changed.trust
    knowledge = shop.with_suffix(".knowledge.yaml")
    knowledge.write_text("terms:\n  regular: has ordered twice\n")
    assert "knowledge changed" in asked(shop, path).trust
    knowledge.unlink()
    assert asked(shop, path).trusted is True
    narrower = asked(shop, path, deny=["orders"])
    assert "schema changed" in narrower.trust, "labels were of another schema than this person sees"
    assert asked(shop, path, rows=5).trusted is True, "how many rows are shown changes no answer"


def test_too_few_labels_mark_nothing_and_say_how_many_are_missing(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    set_for(shop, path, None)
    answer = asked(shop, path)
    assert answer.trusted is None
    assert "at least 20 more are needed" in answer.trust
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"trust": str(path)}))
    where = ["--db", str(shop), "--model", "offline", "--settings", str(settings)]
    chat = tableturn("chat", *where, given=f"{QUESTION}\n{QUESTION}\n")
    assert chat.stdout.count("are needed") == 1, "it is the same for every answer"


@pytest.mark.parametrize(("confidence", "trusted"), [(0.9, True), (0.899, False)])
def test_the_level_itself_is_trusted(confidence: float, trusted: bool) -> None:
    assert apply_bound(confidence, bound(), PRINTS).trusted is trusted


@pytest.mark.parametrize(
    ("own", "confidence", "reason"),
    [
        (
            bound(),
            0.9,
            "für so sichere Antworten gilt, dass höchstens 5% falsch sind, mit 95% Sicherheit, "
            "nach 100 bewerteten Antworten",
        ),
        (
            bound(),
            0.8,
            "weniger sicher als die Antworten, von denen höchstens 5% falsch sind, mit 95% Sicherheit, "
            "nach 100 bewerteten Antworten",
        ),
        (
            bound(level=None, missing=7),
            0.9,
            "keine Antwort wird als verlässlich markiert: 100 bewertete Antworten genügen nicht; "
            "nötig sind mindestens 7 weitere",
        ),
        (
            bound(fingerprints=TrustFingerprints("q", "t", "")),
            0.9,
            "keine Antwort wird als verlässlich markiert, weil seit der Bewertung anderes gilt "
            "(Prompts oder Einstellungen und Schema): `tableturn trust fit` noch einmal ausführen",
        ),
    ],
)
def test_the_reason_is_in_the_language_of_the_question(own: TrustBound, confidence: float, reason: str) -> None:
    assert apply_bound(confidence, own, PRINTS, Labels("de")).reason == reason


def test_one_bound_is_kept_for_a_database_and_a_model(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "trust.json"
    for kept in (bound(), bound(model="other"), bound(level=0.7)):
        write_trust_bound(kept, path)
    bounds = read_trust_bounds(path)
    assert len(bounds) == 2
    found = find_trust_bound(bounds, "shop@1", "m")
    assert found is not None
    assert found.level == 0.7
    assert json.loads(path.read_text())["version"] == 1
    assert find_trust_bound(bounds, "zoo@1", "m") is None


def test_bounds_that_two_processes_set_at_once_are_both_kept(tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)  # as another process does that writes
    thread = threading.Thread(target=write_trust_bound, args=(bound(model="mine"), path))
    thread.start()
    thread.join(0.2)
    path.write_text(json.dumps({"version": 1, "bounds": [asdict(bound(model="theirs"))]}))
    os.close(folder)
    thread.join()
    assert {kept.model for kept in read_trust_bounds(path)} == {"mine", "theirs"}


def test_a_file_of_another_version_is_told_and_costs_no_answer(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    path.write_text('{"version": 2, "bounds": []}')
    with pytest.raises(SettingsError, match="set them there"):
        read_trust_bounds(path)
    answer = asked(shop, path)
    assert (answer.status, answer.trusted) == ("converged", None)
    assert "contains no trust bounds that this version can read" in answer.trust


def test_where_bounds_are_kept() -> None:
    assert get_trust_file_path("off") is None
    assert get_trust_file_path("x.json") == Path("x.json")
    found = get_trust_file_path("")
    assert found is not None
    assert found.name == "trust.json"


@pytest.mark.parametrize("level", ["NaN", "Infinity", "1.5", "-0.1"])
def test_a_level_that_is_none_is_refused_as_damaged(tmp_path: Path, level: str) -> None:
    path = tmp_path / "trust.json"
    write_trust_bound(bound(), path)
    path.write_text(path.read_text().replace('"level": 0.9', f'"level": {level}'))
    with pytest.raises(SettingsError, match="contains no trust bounds"):
        read_trust_bounds(path)


def test_another_address_of_the_model_or_other_settings_of_approved_answers_withdraw_it(shop: Path) -> None:
    def prints(url: str, **settings: Any) -> TrustFingerprints:
        key = {"openai_api_key": "x"}
        model = ChatOpenAI(model="m", base_url=url, **key)  # pyright: ignore[reportArgumentType]
        with SQLAgent(shop, model=model, settings=settings) as agent:
            return compute_fingerprints(agent.resources, agent.settings)

    here = prints("http://a.example/v1")
    assert here.list_changed_conditions(prints("http://a.example/v1/")) == []
    assert here.list_changed_conditions(prints("http://b.example/v1")) == ["the model's provider or address"]
    assert here.list_changed_conditions(prints("http://a.example/v1", own_examples=0)) == ["prompts or settings"]
    assert here.list_changed_conditions(prints("http://a.example/v1", verified=False)) == ["prompts or settings"]
