"""Whether texts that give orders stay inside the fences that prompts put around them."""

from __future__ import annotations

import re

from .corpus import corpus
from .registry import BenchOptions

_BLOCK = re.compile(r"<([a-z][a-z0-9-]*)>\n(.*?)\n</\1>", re.DOTALL)
_BUDGET = 1_000_000


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `prompts` rendered, `cells` that gave orders, and `escaped`, prompts in which one was outside a fence.

    A prompt is read as a model would: a block ends at the first tag that answers its opening one. An order in the
    system message has escaped, and so has one that no longer stands anywhere.
    """
    poisoned = corpus("poisoned")
    orders = poisoned.orders()[: options.limit]
    prompts = escaped = 0
    for text in orders:
        for _, task in poisoned.tasks(text):
            system, *others = task.render(_BUDGET).messages
            said = "\n".join(message.content for message in others)
            prompts += 1
            inside = any(poisoned.MARK in block[1] for block in _BLOCK.findall(said))
            outside = poisoned.MARK in _BLOCK.sub("", said) or poisoned.MARK in system.content
            escaped += outside or not inside
    return {"prompts": prompts, "cells": len(orders), "escaped": escaped}
