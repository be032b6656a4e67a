"""What words mean, taken from a dbt project: descriptions, tests and metrics become definitions that questions rest on.

    python examples/dbt_knowledge.py                                   # what a model would be shown; needs no key
    OPENAI_API_KEY=... python examples/dbt_knowledge.py models/schema.yml "What were the takings by method?"

Each definition is held against the database: what no longer fits is named and left out, here a column that is gone.
For a project's own definitions beside dbt's, a knowledge file begins with `extends: [models/schema.yml]`.
"""

import os
import sys
from pathlib import Path

from tableturn import Database, SQLAgent
from tableturn.tools.knowledge import Knowledge, read_knowledge
from tableturn.tools.sample import build_sample


def show(path: Path, database: Database, question: str) -> None:
    """Prints what of a file holds on a database, and what of that a question needs."""
    knowledge = Knowledge.of(read_knowledge(path), database)
    print(f"{path.name}: {len(knowledge.entries)} definitions hold")
    for problem in knowledge.problems:
        print(f"  left out: {problem}")
    print(f"{question}\n  a model is shown:")
    for entry in knowledge.find(question).entries:
        print(f"  - {entry.line}")


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "dbt/schema.yml"
    question = sys.argv[2] if len(sys.argv) > 2 else "What were the takings from returned orders?"
    where = os.environ.get("TABLETURN_DB") or build_sample("build/kestrel.sqlite")
    with Database.open(where) as database:
        show(path, database, question)
    with SQLAgent(where, knowledge=path) as agent:
        answer = agent.ask(question)
        print(answer.text, answer.sql or "", sep="\n")
        for used in answer.used_knowledge:
            print(f"  by definition: {used.name}: {used.text}")
        if answer.translator == "offline":
            print("Only a model reads definitions: OPENAI_API_KEY or TABLETURN_MODEL chooses one.")
