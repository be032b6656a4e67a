"""Files that are written whole or not at all, and by one writer at a time."""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from pathlib import Path

import pytest
from tableturn.tools.annotations import Annotations, AnnotationStore
from tableturn.tools.errors import SettingsError
from tableturn.tools.whole_files import append_lines, lock_folder_of_file, replace_file, write_text_atomically


def test_what_is_broken_off_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_text_atomically(path, "before")
    with pytest.raises(KeyboardInterrupt), replace_file(path):
        raise KeyboardInterrupt
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.json", "before")]


def test_links_and_rights_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "a.json", tmp_path / "link.json"
    write_text_atomically(path, "old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_text_atomically(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_writer_waits_for_other_processes(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)  # as another process holds it
    entered = threading.Event()

    def write() -> None:
        with lock_folder_of_file(tmp_path / "a.json"):
            entered.set()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert not entered.wait(0.2)
    finally:
        os.close(folder)
    thread.join()
    assert entered.is_set()


def test_annotations_of_two_stores_are_all_kept(tmp_path: Path) -> None:
    stores = [AnnotationStore("key", tmp_path) for _ in range(2)]
    for number, store in enumerate(stores):
        store.add(Annotations({f"t{number}": "a table"}, {}))
    assert set(AnnotationStore("key", tmp_path).read().tables) == {"t0", "t1"}


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x00",
        b"a note\nof two lines",
        b'{\n "name": 1\n}\n',
        b"{% if a %}",
        b'{"a": 1},\n{"b": 2},',
        b'{"a": [1, 2],}',
        b'{"a": ' + b"9" * 5_000,
        b'{"a":' * 100_000,
    ],
)
def test_lines_are_appended_to_no_other_file(tmp_path: Path, content: bytes) -> None:
    (path := tmp_path / "p.png").write_bytes(content)
    with pytest.raises(SettingsError, match="is not a file of JSON lines, and is not changed: name another file"):
        append_lines(path, '{"a": 1}\n')
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "content", ["", '{"b": 1}', '{"b": 1}\n', '\ufeff{"b": 1}\n', '{"b": 1}\n{"c', '{"c', '{"b": 1}\n\0\0']
)
def test_lines_are_appended_to_whole_ones(tmp_path: Path, content: str) -> None:
    (path := tmp_path / "a.jsonl").write_text(content)
    append_lines(path, '{"a": 1}\n')
    whole = content.partition('{"c')[0].rstrip("\0")
    assert path.read_text() == whole + "\n" * (whole.endswith("}")) + '{"a": 1}\n'
