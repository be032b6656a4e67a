"""YAML as text alone: codes such as `NO`, `1` and `2024-01-01` stay what was written, and nothing is given twice."""

from __future__ import annotations

from typing import Any

from ..errors import KnowledgeError


def load_yaml(text: str, place: str) -> object:
    """The content of a YAML or JSON text, every scalar as text.

    Raises:
        KnowledgeError: It is not YAML, or gives a key twice; the message has the line.
    """
    import yaml

    class Loader(yaml.BaseLoader):
        """Refuses what is given twice: the first would be lost without a word."""

    def mapping(loader: Any, node: Any) -> dict[str, object]:
        found: dict[str, object] = {}
        for key_node, value_node in node.value:
            key = str(loader.construct_object(key_node, deep=True))
            if key in found:
                line = key_node.start_mark.line + 1
                raise KnowledgeError(f"{place}, line {line}: {key!r} stands there twice; keep one of them")
            found[key] = loader.construct_object(value_node, deep=True)
        return found

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    try:
        return yaml.load(text, Loader)  # noqa: S506 - a base loader makes texts, lists and mappings alone
    except yaml.YAMLError as error:
        raise KnowledgeError(f"{place} is not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise KnowledgeError(f"{place} is nested too deeply") from None
