"""The context of a turn: earlier turns, inputs of prompts, and descriptions of the schema."""
