"""What the nodes reach the world through."""

from .resources import Resources, Run

__all__ = ["Resources", "Run"]
