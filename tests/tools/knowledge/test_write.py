"""Adding to a knowledge file: what people wrote stays, and nothing that somebody else adds meanwhile is lost."""

from __future__ import annotations

import json
import multiprocessing
import stat
from pathlib import Path
from typing import Any, cast, get_args, get_origin

import pytest
from pydantic import BaseModel
from tableturn.tools.errors import KnowledgeError
from tableturn.tools.knowledge import Entry, read_knowledge
from tableturn.tools.knowledge.read import KnowledgeFile
from tableturn.tools.knowledge.write import KnowledgeWriter, build_knowledge_content

EACH = 12


def _adding(path: Path, person: str) -> None:
    for number in range(EACH):
        KnowledgeWriter(path, person).add(Entry("term", f"{person} {number}", "something"))


def test_what_several_processes_add_at_once_is_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "shop.knowledge.yaml"
    context = multiprocessing.get_context("spawn")
    people = [context.Process(target=_adding, args=(path, person)) for person in ("ann", "bo", "cy")]
    for one in people:
        one.start()
    for one in people:
        one.join()
    (layer,) = read_knowledge(path)
    assert len(layer) == 3 * EACH
    assert [each.name for each in tmp_path.iterdir()] == [path.name], "no lock and no partial file is left"


def test_a_term_is_replaced_whatever_its_capitals_and_comments_and_other_words_stay(tmp_path: Path) -> None:
    path = tmp_path / "k.yaml"
    path.write_text("terms:\n  Active:  # as the board has it\n    means: old\n    sql: a.b = 1\n    also: [live]\n")
    KnowledgeWriter(path).add(Entry("term", "active", "new"))
    text = path.read_text()
    assert "# as the board has it" in text
    ((entry,),) = read_knowledge(path)
    assert (entry.name, entry.text, entry.sql, entry.also) == ("Active", "new", "", ("live",))


def test_a_rule_that_is_there_is_not_written_twice(tmp_path: Path) -> None:
    path = tmp_path / "k.yaml"
    path.write_text("conventions:\n- A rule.  # why\n")
    KnowledgeWriter(path).add(Entry("convention", "a Rule.", "a Rule."))
    assert path.read_text() == "conventions:\n- A rule.  # why\n"


def test_fields_with_nothing_after_them_are_as_good_as_not_there(tmp_path: Path) -> None:
    path = tmp_path / "k.yaml"
    path.write_text("# begun\nterms:\nconventions:\ntables: {people: {columns: {age: }}}\n")
    assert read_knowledge(path) == ((),)
    KnowledgeWriter(path).add(Entry("term", "active", "new"))
    assert path.read_text().startswith("# begun\nterms:\n  active:\n")


def test_codes_that_look_like_numbers_are_written_over_and_keep_their_comments(tmp_path: Path) -> None:
    path = tmp_path / "k.yaml"
    path.write_text("tables:\n  people:\n    columns:\n      kind:\n        values:\n          1: one # first\n")
    entry = Entry("column", "people.kind", about=(("people", "kind"),), values=(("1", "uno"), ("2", "due")))
    KnowledgeWriter(path).add(entry)
    assert "1: uno # first" in path.read_text()
    ((read,),) = read_knowledge(path)
    assert read.values == (("1", "uno"), ("2", "due"))


def test_a_json_file_stays_json_and_a_link_and_rights_stay_what_they_are(tmp_path: Path) -> None:
    held, link = tmp_path / "held.json", tmp_path / "link.json"
    held.write_text('{"terms": {"a": "b"}}')
    held.chmod(0o640)
    link.symlink_to(held)
    KnowledgeWriter(link, "ann").add(Entry("term", "c", "d"))
    assert json.loads(held.read_text())["terms"]["c"]["author"] == "ann"
    assert link.is_symlink()
    assert stat.S_IMODE(held.stat().st_mode) == 0o640


@pytest.mark.parametrize(("name", "text"), [("k.md", "- **a**: b\n"), ("schema.yml", "version: 2\nmodels: []\n")])
def test_files_of_other_kinds_are_not_written_to(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(KnowledgeError, match=r"extends: \[" + name):
        KnowledgeWriter(path).add(Entry("term", "c", "d"))
    assert path.read_text() == text


def test_a_page_of_aliases_is_not_unfolded_and_no_device_is_read(tmp_path: Path) -> None:
    lines = ["conventions:", "- &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"- &{new} [{', '.join([f'*{old}'] * 10)}]" for old, new in zip("abcdefg", "bcdefgh", strict=True)]
    path = tmp_path / "k.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(KnowledgeError, match="aliases"):
        read_knowledge(path)
    path.write_text("terms: &t {a: *t}")
    with pytest.raises(KnowledgeError, match="aliases"):
        read_knowledge(path)
    path.write_text("extends: [/dev/zero]")
    with pytest.raises(KnowledgeError, match="not a regular file"):
        read_knowledge(path)


def fill(model: type[BaseModel], place: str = "") -> dict[str, Any]:
    """Every field of a section, with texts that stand nowhere else."""
    return {name: fill_one(field.annotation, f"{place}_{name}") for name, field in model.model_fields.items()}


def fill_one(kind: Any, place: str) -> Any:
    """A value of a field's type."""
    match get_origin(kind), get_args(kind):
        case None, _:
            return fill(kind, place) if isinstance(kind, type) and issubclass(kind, BaseModel) else place
        case origin, (inner,) if origin is list:
            return [fill_one(inner, place)]
        case origin, (_, inner) if origin is dict:
            return {f"{place}_key": fill_one(inner, place)}
        case _, (inner, *_):
            return fill_one(inner, place)
        case _:
            raise AssertionError(kind)


def list_texts(value: Any) -> list[str]:
    """All keys of a person's own and all texts in a part of a file."""
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value)
        return [key for key in parts if key.endswith("_key")] + list_texts(list(parts.values()))
    return [value] if isinstance(value, str) else [text for part in value for text in list_texts(part)]


def test_no_field_is_lost_in_an_export(tmp_path: Path) -> None:
    # Each entry names its author, an export is one file, and its rights are the reader's.
    whole = {name: value for name, value in fill(KnowledgeFile).items() if name not in ("author", "extends")}
    path = tmp_path / "k.json"
    path.write_text(json.dumps(whole))
    (layer,) = read_knowledge(path)
    exported = json.dumps(build_knowledge_content(layer))
    lost = [text for text in list_texts(whole) if text not in exported]
    assert [text for text in lost if not text.endswith("_rights")] == []
