"""Versions, the changelog, and what `make release` refuses."""

from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path

import pytest
import tableturn

from tests.support.release import ROOT, changelog, faults, obstacles

ENTRIES = changelog((ROOT / "CHANGELOG.md").read_text("utf-8"))


def test_the_changelog_begins_with_what_is_not_released_then_this_version() -> None:
    assert [entry.version for entry in ENTRIES[:2]] == ["Unreleased", tableturn.__version__]


def test_releases_are_dated_newest_first() -> None:
    assert ENTRIES[0].date is None
    dates = [date.fromisoformat(entry.date or "") for entry in ENTRIES[1:]]
    assert dates == sorted(dates, reverse=True)


def test_releases_keep_to_the_form_s_kinds_of_change() -> None:
    kinds = {line for entry in ENTRIES for line in entry.text.splitlines() if line.startswith("### ")}
    assert kinds <= {f"### {kind}" for kind in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository that may be released."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "tableturn"\nversion = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-31\n\n- All.\n")
    (tmp_path / ".gitignore").write_text("build/\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "All"]):
        git(tmp_path, *words)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "tested").write_text(git(tmp_path, "rev-parse", "HEAD"))
    return tmp_path


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    return subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True).stdout


def test_a_committed_and_tested_state_may_be_released(checkout: Path) -> None:
    assert list(obstacles(checkout)) == []


def test_each_obstacle_is_told_with_what_to_do(checkout: Path) -> None:
    git(checkout, "tag", "v1.2.0")
    (checkout / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n\n- All.\n")
    (checkout / "build" / "tested").write_text("another commit")
    told = list(obstacles(checkout))
    assert [line.split(":")[1].split()[0] for line in told] == ["commit", "raise", "move", "run"]


PLAIN: tuple[str, ...] = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "constraints.txt")
METADATA = b"Metadata-Version: 2.4\nName: tableturn\nVersion: 1.2.0\n\nAll about it."


def test_archives_hold_what_is_tracked_and_nothing_else(checkout: Path) -> None:
    (checkout / "serve").mkdir()
    (checkout / "serve" / "page.html").write_text("A page.")
    (checkout / "evals" / "lab").mkdir(parents=True)
    (checkout / "evals" / "lab" / "bench.py").write_text("")
    git(checkout, "add", ".")
    sdist = dict.fromkeys((*PLAIN, "serve/page.html", "evals/lab/bench.py"), b"text")
    wheel = {"tableturn/serve/page.html": b"text", "tableturn-1.2.0.dist-info/METADATA": METADATA}
    assert list(faults(checkout, sdist, wheel)) == []
    poor = {
        "tableturn/evals/lab/bench.py": b"",
        "tableturn/tests.py": f"{checkout}/data".encode(),
        "tableturn-1.2.0.dist-info/METADATA": METADATA,
    }
    assert list(faults(checkout, sdist | {"tests/test_it.py": b""}, poor)) == [
        "the wheel lacks tableturn/serve/page.html",
        "the wheel holds tableturn/evals/lab/bench.py, which is not the package's",
        "the wheel holds tableturn/tests.py, which is not the package's",
        "the sdist holds tests/test_it.py",
        f"tableturn/tests.py names {checkout}",
    ]


def test_metadata_that_no_index_takes_are_told(checkout: Path) -> None:
    wheel = {"tableturn-1.2.0.dist-info/METADATA": METADATA.replace(b"1.2.0", b"newest")}
    (told,) = faults(checkout, dict.fromkeys(PLAIN, b"text"), wheel)
    assert "metadata are not valid" in told
