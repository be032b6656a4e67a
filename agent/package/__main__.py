"""`python -m tableturn`: the command line."""

from tableturn.agent.cli import main

main()
