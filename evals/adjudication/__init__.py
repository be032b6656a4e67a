"""Verdicts beside gold: what readers, or a model that is checked by them, say of answers that gold calls wrong."""
