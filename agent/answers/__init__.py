"""What a person or a program gets back: answers, events, phrasing, approval, and what approved answers teach."""
