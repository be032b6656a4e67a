"""The published Spider-family evaluators' judgement in our own code, their faults included: EX, EM and difficulty.

The test-suite evaluator (Zhong et al., 2020) defines it, EM and difficulty after Spider's first (Yu et al., 2018).
"""
