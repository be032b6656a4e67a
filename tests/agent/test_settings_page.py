"""docs/settings.md says of every setting what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from tableturn.agent.settings import PRESETS, Settings

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def row(name: str) -> str:
    """The page's line for a setting: name, default, what else it may be, description."""
    field = Settings.model_fields[name]
    schema = Settings.model_json_schema()["properties"][name]
    may = " ".join(f"`{value}`" for value in schema.get("enum", ())) or "on, off"
    if "minimum" in schema or "exclusiveMinimum" in schema:
        least = schema.get("minimum", schema.get("exclusiveMinimum"))
        most = schema.get("maximum", schema.get("exclusiveMaximum"))
        may = f"{least:,} to {most:,}"
    default = (
        {True: "on", False: "off"}.get(field.default, field.default) if type(field.default) is bool else field.default
    )
    if schema.get("type") == "string" and "enum" not in schema:
        default, may = "empty", "a file, `off`"
    if schema.get("type") == "array":
        default, may = "none", "a list of names"
    return f"| `{name}` | {default} | {may} | {field.description} |"


def preset_row(name: str) -> str:
    """The page's line for a setting that some paper changes."""
    values = [str(fields[name]) for fields in PRESETS.values()]
    return f"| `{name}` | {' | '.join(values)} |"


def differing() -> list[str]:
    return [name for name in PRESETS["full"] if name != "preset" and len({str(f[name]) for f in PRESETS.values()}) > 1]


def test_every_setting_is_on_the_page_as_it_is() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    missing = [line for line in map(row, Settings.model_fields) if line not in lines]
    assert not missing, "put these lines into docs/settings.md:\n" + "\n".join(missing)


def test_every_preset_is_on_the_page_as_it_is() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    missing = [line for line in map(preset_row, differing()) if line not in lines]
    assert not missing, "put these lines into docs/settings.md:\n" + "\n".join(missing)


def test_the_page_names_no_setting_that_is_not_there() -> None:
    named = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) == set(Settings.model_fields)
