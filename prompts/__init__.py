"""What is said to a model and how its reply is read: one task per file; docs/prompts.md lists them."""
