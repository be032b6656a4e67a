"""The laboratory: what measures tableturn and fits what it carries.

It is in the repository and the source distribution, not in the wheel: `python -m tableturn.evals.lab NAME` in a clone.
"""
