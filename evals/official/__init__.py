"""The published Spider-family evaluators' judgement in our own code, their faults included: EX, EM and difficulty.

The tool that defines it is the test-suite evaluator (Zhong et al., 2020), which took over exact set match and
difficulty from Spider's first evaluator (Yu et al., 2018). Where it errs, this package errs in the same way, and the
docstring there says so.
"""
