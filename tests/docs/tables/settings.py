"""Tables of the settings, and of where presets differ."""

from __future__ import annotations

from tableturn.agent.settings import PRESETS, Settings

from .markdown import table


def settings(first: str, last: str) -> str:
    """The settings from one to another, in the order of the forms."""
    names = list(Settings.model_json_schema()["properties"])
    chosen = names[names.index(first) : names.index(last) + 1]
    return table(("setting", "default", "may be", "what it does"), map(_row, chosen))


def presets() -> str:
    """The settings in which presets differ."""
    differing = [name for name in PRESETS["full"] if len({str(fields[name]) for fields in PRESETS.values()}) > 1]
    rows = [
        (f"`{name}`", *(str(fields[name]) for fields in PRESETS.values())) for name in differing if name != "preset"
    ]
    return table(("setting", *(f"`{name}`" for name in PRESETS)), rows)


def _row(name: str) -> tuple[str, str, str, str]:
    field = Settings.model_fields[name]
    schema = Settings.model_json_schema()["properties"][name]
    default, may = str(field.default), " ".join(f"`{value}`" for value in schema.get("enum", ()))
    match schema:
        case {"type": "boolean"}:
            default, may = "on" if field.default else "off", "on, off"
        case {"type": "array"}:
            default, may = "none", "a list of names"
        case {"type": "string"} if not may:
            default, may = "empty", "a locale" if name == "locale" else "a file, `off`"
        case {"type": "integer" | "number"}:
            least = f"{schema['minimum']:,}" if "minimum" in schema else f"above {schema['exclusiveMinimum']:,}"
            most = f"{schema['maximum']:,}" if "maximum" in schema else f"below {schema['exclusiveMaximum']:,}"
            may = f"{least} to {most}"
        case _:
            pass
    return f"`{name}`", default, may, field.description or ""
