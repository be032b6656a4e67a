"""Personal data by its form: e-mail addresses, card numbers, IBANs, telephone numbers.

A pattern finds what looks like one, wherever it stands; it is no proof that nothing else does. Columns that hold such
data are better kept in by their level of egress.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from .database.egress import MaskKind
from .database.secret_columns import is_iban

_PATTERNS: Mapping[MaskKind, re.Pattern[str]] = {
    # No top-level domain is asked for: an address that was cut short is one.
    "email": re.compile(r"[\w.!#$%&*+/=?^`{|}~-]*[\w+-]@[\w-][\w.-]*"),
    "iban": re.compile(r"(?<![^\W_])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?(?![^\W_])"),
    "card": re.compile(r"(?<!\d)\d(?:[ -]?\d){11,18}(?!\d)"),
    "phone": re.compile(
        r"(?<![\w.])(?:\+|00)\d[\d ()/.-]{6,18}\d(?!\w)"
        r"|(?<![\w.])\(?0?\d{2,4}\)?[ /.-]\d{3,4}[ .-]\d{3,5}(?!\w)"
        r"|(?<![\w.])0\d{1,4}[ /-]\d{4,9}(?!\w)"
    ),
}
_ISO_DATE = re.compile(r"(?:19|20)\d\d-\d\d-\d\d")


def _check_luhn(text: str) -> bool:
    digits = [int(digit) for digit in reversed(text) if digit.isdigit()]
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


_PROOFS: Mapping[MaskKind, Callable[[str], bool]] = {
    "card": _check_luhn,
    "iban": lambda text: is_iban(re.sub(r"[ -]", "", text).upper()),
    "phone": lambda text: _ISO_DATE.match(text) is None,
}


def mask(text: str, kinds: Collection[MaskKind]) -> str:
    """Return the text with masked data replaced by its kind, as in `[email]`."""
    for kind in kinds:
        text = _PATTERNS[kind].sub(lambda hit, kind=kind: f"[{kind}]" if _is_proven(kind, hit[0]) else hit[0], text)
    return text


@dataclass
class Placeholders:
    """Numbered masks, which can be turned back into the masked texts."""

    kinds: Collection[MaskKind]
    _by_text: dict[str, str] = field(default_factory=dict[str, str])

    def hide(self, text: str) -> str:
        """Return the text with masked data replaced, as in `[email-1]`."""
        for kind in self.kinds:
            text = _PATTERNS[kind].sub(lambda hit, kind=kind: self._replace_text(kind, hit[0]), text)
        return text

    def restore(self, text: str) -> str:
        """Return the text with placeholders turned back into what they mask."""
        for hidden, placeholder in self._by_text.items():
            text = text.replace(placeholder, hidden)
        return text

    def _replace_text(self, kind: MaskKind, text: str) -> str:
        if not _is_proven(kind, text):
            return text
        return self._by_text.setdefault(text, f"[{kind}-{len(self._by_text) + 1}]")


def _is_proven(kind: MaskKind, text: str) -> bool:
    proof = _PROOFS.get(kind)
    return proof is None or proof(text)
