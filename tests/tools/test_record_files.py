"""What a person's file is instead of what was asked for is told in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest
from tableturn.tools.errors import SettingsError
from tableturn.tools.record_files import read_records, read_toml_file


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"\x89PNG\r\n", "a.json is not a text file in UTF-8"),
        ("a.json", b'[{"a": 1},\n {"b": }]', "a.json is not JSON: line 2, column 8"),
        ("a.json", b"[" + b"9" * 5_000 + b"]", "a.json, line 1: its parts are nested too deeply, or a number is"),
        ("a.jsonl", b'{"a": 1}\n\n{"b"', "a.jsonl is not JSON: line 3, column 5"),
        ("a.csv", b" \n", "a.csv is empty"),
        ("a.csv", b'a,b\n1,"2\n3,4\n', "a.csv, line 2: a quotation mark is not closed"),
        ("a.yaml", b"- a: [b\n", "a.yaml is not YAML: line 2, column 1"),
        ("a.toml", b"a = ", "a.toml is not TOML: Invalid value"),
        ("a.toml", b"a = " + b"[" * 10_000, "a.toml: its parts are nested too deeply"),
        ("", b"", "is a folder, not a file"),
        ("none.csv", b"", "there is no file "),
    ],
)
def test_what_a_file_is_instead(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    if content:
        path.write_bytes(content)
    with pytest.raises(SettingsError) as error:
        (read_toml_file if path.suffix == ".toml" else read_records)(path)
    assert message in str(error.value)


def test_files_of_spreadsheets_on_windows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes('\ufeffa,b\r\n"1\r\n2",3\r\n'.encode())
    assert read_records(tmp_path / "a.csv") == [{"a": "1\n2", "b": "3"}]
