"""EX, EM and difficulty as Spider's published evaluators judge them, faults included.

The test-suite evaluator (Zhong et al., 2020) defines it, EM and difficulty after Spider's first (Yu et al., 2018).
"""
