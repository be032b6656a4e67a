"""Judging attempts: assessing, comparing, choosing, confidence, convergence, and the feedback to the next one."""
