"""Mutants, and a plugin of pytest that plants them: once the tests are collected, each runs in a fork of the process.

A fork replaces the code of one function and runs the tests that call it. What a test starts as a program of its own is
not mutated.
"""

from __future__ import annotations

import ast
import copy
import functools
import json
import os
import random
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, cast

import pytest

MUTANTS = "TABLETURN_MUTANTS"
"""The variable that names the file of mutants, which is overwritten with which of them were killed."""

_ROOT = Path(__file__).resolve().parents[2]
_PROCESSOR, _WALL = 60, 600  # seconds after which a mutant counts as killed: it does not end

_Place = tuple[str, str]


@dataclass(frozen=True)
class Mutant:
    """A file with one small fault in a function."""

    area: str
    path: str
    function: str
    line: int
    change: str
    source: str


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run, for each mutant, the tests that call its function, until one fails."""
    plan = Path(os.environ[MUTANTS])
    mutants = [Mutant(**each) for each in json.loads(plan.read_text("utf-8"))]
    calls = plan.with_suffix(".calls")
    if status := _in_fork(lambda: _trace(session, {mutant.path for mutant in mutants}, calls)):
        raise session.Failed(f"status {status} without a mutant: run these tests by themselves")
    called: list[list[list[str]]] = json.loads(calls.read_text("utf-8"))
    outcomes: list[bool] = []
    for number, mutant in enumerate(mutants, 1):
        place = [mutant.path, mutant.function]
        items = _tests_of(place, session.items, called)
        outcomes.append(bool(_in_fork(lambda mutant=mutant, items=items: _run_with(mutant, session, items))))
        said = "killed" if outcomes[-1] else f"survives {len(items)} tests: {mutant.path}:{mutant.line} {mutant.change}"
        print(f"{mutant.area} {number}/{len(mutants)} {said}", file=sys.stderr, flush=True)
    plan.write_text(json.dumps(outcomes), "utf-8")
    return True


def _tests_of(place: list[str], items: list[pytest.Item], called: list[list[list[str]]]) -> list[pytest.Item]:
    """Return the tests that call a function, and then the others of their files, whose calls may have been missed."""
    calling = [item for item, places in zip(items, called, strict=True) if place in places]
    files = {item.path for item in calling}
    return calling + [item for item in items if item.path in files and item not in calling]


def _in_fork(do: Callable[[], bool]) -> int:
    """Return 0 where a function says True in a process of its own, and another number where it fails or never ends."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    fine = False
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR, _PROCESSOR))
        signal.alarm(_WALL)
        fine = do()
    finally:
        os._exit(0 if fine else 1)


def _run(session: pytest.Session, items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Run tests until one fails, and yield each that passed."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return
        yield item


def _trace(session: pytest.Session, paths: set[str], calls: Path) -> bool:
    """Write which functions of some files each test calls; return whether all tests pass."""
    files = {str(_ROOT / path): path for path in paths}
    called: set[_Place] = set()

    def see(frame: FrameType, event: str, arg: object) -> None:
        if path := files.get(frame.f_code.co_filename):
            called.add((path, frame.f_code.co_qualname))

    written: list[list[_Place]] = []
    threading.settrace(see)
    sys.settrace(see)
    for _ in _run(session, session.items):
        written.append(sorted(called))
        called.clear()
        sys.settrace(see)  # Python takes it off where it fails, as every function does in too deep a recursion
    calls.write_text(json.dumps(written), "utf-8")
    return not session.testsfailed


def _run_with(mutant: Mutant, session: pytest.Session, items: list[pytest.Item]) -> bool:
    module = next(
        each for each in list(sys.modules.values()) if getattr(each, "__file__", None) == str(_ROOT / mutant.path)
    )
    found: object = module
    for name in mutant.function.split("."):
        found = vars(found)[name]
    compiled = compile(mutant.source, str(_ROOT / mutant.path), "exec", dont_inherit=True)
    _function(found).__code__ = next(code for code in _codes(compiled) if code.co_qualname == mutant.function)
    return sum(1 for _ in _run(session, items)) == len(items)


def _function(found: Any) -> FunctionType:
    """Return the function behind decorators."""
    while not isinstance(found, FunctionType) or hasattr(found, "__wrapped__"):
        if isinstance(found, property):
            found = found.fget
        elif isinstance(found, functools.cached_property):
            found = cast("Any", found).func
        else:
            found = cast("Any", found).__wrapped__  # of a class method or a cached function, too
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def sample_mutants(areas: Mapping[str, Sequence[str]], number: int, chance: random.Random) -> list[Mutant]:
    """Return mutants drawn evenly from the areas of code, each at a place of its own."""
    share = -(-number // len(areas))
    mutants: list[Mutant] = []
    for name, code in areas.items():
        places = [
            (path, place)
            for pattern in code
            for path in sorted(_ROOT.glob(pattern))
            for place in range(sum(1 for _ in _mutations(ast.parse(path.read_text("utf-8")))))
        ]
        for path, place in chance.sample(places, min(share, len(places))):
            mutants.append(_plant(name, path, place))
    return mutants[:number] if len(mutants) <= number else chance.sample(mutants, number)


def _plant(area: str, path: Path, place: int) -> Mutant:
    tree = ast.parse(path.read_text("utf-8"))
    function, node, mutate = next(each for number, each in enumerate(_mutations(tree)) if number == place)
    before = ast.unparse(node)
    mutate()
    change = f"{before.splitlines()[0][:80]} -> {ast.unparse(node).splitlines()[0][:80]}"
    source = ast.unparse(ast.fix_missing_locations(tree))
    return Mutant(area, str(path.relative_to(_ROOT)), function, getattr(node, "lineno", 0), change, source)


_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def _mutations(tree: ast.Module) -> Iterator[tuple[str, ast.AST, Callable[[], None]]]:
    """Yield each node that can be mutated, with the function it is in and what mutates it in place."""
    for name, function in _functions(tree.body):
        for statement in function.body:
            for node in ast.walk(statement):
                if mutate := _mutation_of(node):
                    yield name, node, mutate


def _functions(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield functions and methods by their qualified names; those within others are parts of these."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{within}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{within}{node.name}", node


def _mutation_of(node: ast.AST) -> Callable[[], None] | None:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _OPPOSITES:
            return lambda: setattr(node, "ops", [_OPPOSITES[type(operator)]()])
        case ast.BoolOp(op=operator):
            return lambda: setattr(node, "op", ast.And() if isinstance(operator, ast.Or) else ast.Or())
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), copy.deepcopy(test)))
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            return lambda: setattr(node, "value", ast.Constant(None))
        case ast.Expr(value=ast.Call()):
            return lambda: setattr(node, "value", ast.Constant(None))
        case ast.Constant(value=bool() as value):
            return lambda: setattr(node, "value", not value)
        case ast.Constant(value=int() as value):
            return lambda: setattr(node, "value", value + 1)
        case ast.BinOp(op=ast.Add() | ast.Sub() as operator):
            return lambda: setattr(node, "op", ast.Sub() if isinstance(operator, ast.Add) else ast.Add())
        case _:
            return None


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
