"""A data set of your own: questions with the queries you hold right, asked, judged and reported.

    python examples/own_questions.py                                   # without a model, as a floor
    OPENAI_API_KEY=... python examples/own_questions.py openai:gpt-5-mini

Needs `pip install 'tableturn[evals]'`. The questions could stand in a CSV, JSON or YAML file of the same fields.
A second model, named after the first, is compared with it question by question. The report is build/own/report.html.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tableturn.tools.sample import build_sample

OPEN = "SELECT COUNT(*) FROM orders WHERE status = 'open'"
QUESTIONS: list[dict[str, object]] = [
    {"question": "How many customers are there?", "sql": "SELECT COUNT(*) FROM customers"},
    {"question": "How many orders are open?", "sql": OPEN},
    {
        "question": "Which store has the most orders?",
        "sql": "SELECT name FROM stores JOIN orders USING (store_id) GROUP BY store_id ORDER BY COUNT(*) DESC LIMIT 1",
    },
    {
        "question": "What did we take in 2024?",
        "evidence": "what customers paid in that year",
        "sql": ["SELECT SUM(amount) FROM payments WHERE paid_on LIKE '2024%'"],  # any of a list is right
    },
    # Turns of one conversation share `interaction`.
    {
        "question": "Show the names of the stores in Germany",
        "interaction": "stores",
        "sql": "SELECT name FROM stores WHERE country_code = 'DE'",
    },
    {
        "question": "How about Italy?",
        "interaction": "stores",
        "sql": "SELECT name FROM stores WHERE country_code = 'IT'",
    },
    {"question": "How many customers will we have next year?", "expects": "decline"},
]


def tableturn(*arguments: object) -> None:
    """Runs a command as at a terminal; one that fails ends this program with its exit code."""
    code = subprocess.run([sys.executable, "-m", "tableturn", *map(str, arguments)], check=False).returncode
    if code:
        sys.exit(code)


if __name__ == "__main__":
    database = os.environ.get("TABLETURN_DB") or str(build_sample("build/kestrel.sqlite").absolute())
    folder = Path("build/own")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "questions.json"
    file.write_text(json.dumps([{"database": database, **question} for question in QUESTIONS], indent=2))
    runs: list[Path] = []
    for model in sys.argv[1:] or [os.environ.get("TABLETURN_MODEL", "offline")]:
        runs.append(folder / model.replace(":", "-").replace("/", "-"))
        tableturn("eval", "--dataset", file, "--model", model, "--out", runs[-1])
    tableturn("report", *runs, "--out", folder / "report.html")
