"""The papers' tables and figures as runs of the agent, their numbers beside ours."""
