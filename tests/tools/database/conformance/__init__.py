"""What every engine must do, asked of every engine.

To add an engine:

1. Write `candidates/NAME.py` with a class that has what `candidate.Candidate` asks for: how to tell whether the engine
   can be tested here, how to make the tables of `tables.STATEMENTS` in it natively (not through tableturn), how another
   program would change them, and the attacks that only this engine's SQL allows.
2. Add an instance to `conftest.CANDIDATES`.

Every test of this folder then runs against it. What an engine cannot do at all is said by an attribute of the
candidate (`restricts`, `has_state`, `counts_rows`, `keeps_keys`), never by an exception inside a test.
"""
