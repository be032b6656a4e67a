"""A draw of names, docstrings, messages and sentences of docs, mixed with others' for readers to judge.

`python -m tableturn.evals.lab.words SEED OUT FOLDER...` writes OUT/items.json, which hides where each item comes from,
and OUT/key.json, which tells.
"""

from __future__ import annotations

import ast
import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

OURS = Path(__file__).parents[2]
ROOMS = ("agent", "tools", "prompts", "serve", "evals")
# From this package; as many from the others together.
DRAWN = {"docstring": 80, "name": 80, "message": 40, "sentence": 20}

Item = tuple[str, str]  # kind, text
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def read_items(file: Path) -> Iterator[Item]:
    """Yield the names, docstrings and messages, or the sentences of a page, each with its kind."""
    if file.suffix == ".md":
        prose = re.sub(r"^```.*?^```|^[|#].*?$", "", file.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        sentences = (" ".join(text.split()) for text in re.split(r"(?<=\.)\s+|\n\s*(?:\n|[-*] )", prose))
        yield from (("sentence", text) for text in sentences if len(text.split()) > 4 and text.endswith("."))
        return
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, Definition) and not node.name.startswith("__"):
            yield "name", _format_signature(node)
            if text := ast.get_docstring(node):
                yield "docstring", f"{_format_signature(node)}\n    {text.splitlines()[0]}"
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            texts = [_extract_text(argument) for argument in node.exc.args[:1]]
            yield from (("message", text) for text in texts if len(text.split()) > 2)


def _format_signature(node: Definition) -> str:
    if isinstance(node, ast.ClassDef):
        return f"class {node.name}"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"def {node.name}({ast.unparse(node.args)}){returns}"


def _extract_text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_extract_text(part) if isinstance(part, ast.Constant) else "{...}" for part in node.values)
    return ""


def draw_items(seed: int, others: list[Path]) -> list[tuple[Item, str]]:
    """Draw items at random; return each with its origin: `ours`, or the folder's name."""
    random_ = random.Random(seed)  # noqa: S311 - a draw, no secret
    own = [item for room in (*ROOMS, "docs") for file in _list_files(OURS / room) for item in sorted(read_items(file))]
    pools = {each.name: [item for file in _list_files(each) for item in read_items(file)] for each in others}
    drawn: list[tuple[Item, str]] = []
    for kind, number in DRAWN.items():
        for origin, items, share in [("ours", own, number), *((k, v, number // len(pools)) for k, v in pools.items())]:
            fitting = [item for item in items if item[0] == kind]
            drawn += [(item, origin) for item in random_.sample(fitting, min(share, len(fitting)))]
    random_.shuffle(drawn)
    return drawn


def _list_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.suffix in (".py", ".md") and "reference" not in file.parts)


def main(seed: str, out: str, *folders: str) -> None:
    """Write the drawn items, and a key file with the origin of each item."""
    drawn, target = draw_items(int(seed), list(map(Path, folders))), Path(out)
    target.mkdir(parents=True, exist_ok=True)
    items = [{"number": number, "kind": item[0], "text": item[1]} for number, (item, _) in enumerate(drawn)]
    (target / "items.json").write_text(json.dumps(items, indent=1), "utf-8")
    (target / "key.json").write_text(json.dumps([origin for _, origin in drawn]), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
