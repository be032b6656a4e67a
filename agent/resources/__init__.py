"""The resources of the nodes: database, models, stores."""

from .resources import Resources, Run

__all__ = ["Resources", "Run"]
