"""What is wrong with a value is said in words for whoever wrote it, not in pydantic's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from tableturn.agent.settings import Settings, make_settings
from tableturn.tools.database.permissions_file import PermissionsFile
from tableturn.tools.errors import SettingsError
from tableturn.tools.validation import describe_fault


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({"max_attempts": "abc"}, "max_attempts must be a whole number from 1 to 20, not 'abc'"),
        ({"max_attempts": 50}, "max_attempts must be a whole number from 1 to 20, not 50"),
        ({"query_seconds": 0}, "query_seconds must be a number, more than 0 and at most 3,600, not 0"),
        ({"ledger": "x"}, "ledger must be 'off', 'auto' or 'full', not 'x'"),
        ({"gate": "perhaps", "locale": 3}, "gate must be true or false, not 'perhaps'; locale must be text, not 3"),
        ({"locale": "x" * 50}, "locale must have at most 35 characters"),
    ],
)
def test_a_setting_says_what_it_takes(setting: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        make_settings(setting)
    assert str(caught.value) == f"wrong settings: {says}"
    with pytest.raises(SettingsError, match=re.escape(str(caught.value))):
        Settings(**setting)


def test_a_permissions_file_says_what_it_takes(tmp_path: Path) -> None:
    path = tmp_path / "people.toml"
    for content, says in (
        ("[default]\nallow = 3", "default.allow must be a list, not 3"),
        ("[egress]\ndefault = 'all'", "egress.default must be 'values', 'statistics' or 'none', not 'all'"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(SettingsError) as caught:
            PermissionsFile.read(path)
        assert says in str(caught.value)


def test_a_fault_without_words_of_ours_is_told_plainly() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(complex).validate_python("x")
    assert describe_fault(caught.value.errors()[0]) == "this is not valid: 'x'"
