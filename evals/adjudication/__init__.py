"""Verdicts beside gold: rulings by people or a model on answers that gold calls wrong."""
