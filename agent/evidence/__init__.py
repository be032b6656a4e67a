"""The judgement of attempts: comparison, choice, confidence and feedback."""
