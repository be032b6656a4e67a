"""What a person or a program gets back: answers, events, phrasing, and what approved answers teach."""
