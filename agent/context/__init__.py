"""What a turn knows: the turns before it, the inputs of its prompts, and descriptions of the schema."""
