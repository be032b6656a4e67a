"""The judgement of attempts: comparison, choice, confidence and feedback."""

from .trust import TrustBound, compute_fingerprints, get_trust_file_path, read_trust_bounds, write_trust_bound

__all__ = ["TrustBound", "compute_fingerprints", "get_trust_file_path", "read_trust_bounds", "write_trust_bound"]
