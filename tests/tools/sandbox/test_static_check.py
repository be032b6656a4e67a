"""What the static check refuses, with which message; and what it lets through."""

from __future__ import annotations

import sys
from subprocess import run

import pytest
from tableturn.tools.sandbox import find_code_problem


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, tableturn.tools.sandbox; print({'pandas', 'numpy', 'pyarrow'} & set(sys.modules))"
    assert run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import os", "not allowed: importing 'os'"),
        ("from subprocess import run", "not allowed: importing 'subprocess'"),
        ("from . import x", "not allowed: importing '.'"),
        ("open('x')", "not allowed: `open`"),
        ("x = 1\ny = x.__class__", "not allowed: `__class__` (line 2)"),
        ("pd.read_csv('x')", "not allowed: `read_csv`; the tables are in `db_dict`"),
        ("eval('1')", "not allowed: `eval`"),
        ("x = input()", "not allowed: `input`"),
        ("x = __builtins__", "not allowed: `__builtins__`"),
        ("def", "SyntaxError: invalid syntax (line 1)"),
        ("x = '\0'", "SyntaxError: source code string cannot contain null bytes"),
        ("(" * 500 + ")" * 500, "SyntaxError: too many nested parentheses"),
    ],
)
def test_refused(code: str, problem: str) -> None:
    refused = find_code_problem(code)
    assert refused is not None
    assert refused.startswith(problem)


@pytest.mark.parametrize(
    "code",
    [
        "import pandas as pd, numpy as np\nfrom datetime import date\nresult = pd.DataFrame()",
        "df = db_dict['open']\nresult = df['eval'].sum()",
        "result = db_dict['t'].to_csv()",
        "result = [x for x in range(3)]",
        "result = db_dict['t'].read_count.sum() + db_dict['t'].read_table.max()",
        "input = db_dict['t']\nvars = ['a']\nresult = input[vars]",
        "def f(open):\n    return open - 1\nresult = f(2)",
        "if __name__ == '__main__':\n    result = type(1).__name__",
        "from __future__ import annotations\nimport warnings, copy, math, re, itertools, statistics\n"
        "from collections import Counter\nfrom zoneinfo import ZoneInfo",
        "import pandas as pd, io",
    ],
)
def test_allowed(code: str) -> None:
    assert find_code_problem(code) is None
