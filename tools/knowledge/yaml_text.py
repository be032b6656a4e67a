"""YAML as text alone: codes such as `NO`, `1` and `2024-01-01` stay what was written, and nothing is given twice."""

from __future__ import annotations

from typing import Any

from ..errors import KnowledgeError

MOST = 1_000_000
"""Values in one file, repeated ones counted each time: a page of aliases can stand for billions."""


def load_yaml(text: str, place: str) -> object:
    """The content of a YAML or JSON text, every scalar as text.

    Raises:
        KnowledgeError: It is not YAML, or gives a key twice; the message has the line.
    """
    import yaml
    from yaml.nodes import MappingNode, Node, SequenceNode

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

    def size(node: Node, known: dict[int, int]) -> int:
        """How many values a node stands for, those that it repeats by aliases counted each time."""
        if id(node) not in known:
            known[id(node)] = MOST  # of a node within itself
            parts: list[Any] = []
            if isinstance(node, SequenceNode):
                parts = node.value
            elif isinstance(node, MappingNode):
                parts = [part for pair in node.value for part in pair]
            known[id(node)] = 1 + sum(size(part, known) for part in parts)
        return known[id(node)]

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    try:
        loader = Loader(text)
        root = loader.get_single_node()
        if root is not None and size(root, {}) > MOST:
            raise KnowledgeError(f"{place} stands for more than {MOST:,} values with what its aliases repeat")
        return None if root is None else loader.construct_document(root)
    except yaml.YAMLError as error:
        raise KnowledgeError(f"{place} is not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise KnowledgeError(f"{place} is nested too deeply") from None
