"""Fitting the models that ship, and fine-tuning."""
