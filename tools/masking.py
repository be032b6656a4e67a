"""Personal data by its form: e-mail addresses, card numbers, IBANs, telephone numbers.

A pattern finds what looks like one, wherever it stands; it is no proof that nothing else does. Columns that hold such
data are better kept in by their level of egress.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from .database.egress import MaskKind
from .database.secret_columns import is_iban

# Each is looked for in turn, in this order: the digits of an IBAN may look like a card's. What fails its proof may hold
# personal data further on: group 1 is passed over, else all.
_PATTERNS: Mapping[MaskKind, tuple[re.Pattern[str], ...]] = {
    # Each run of such signs is read once, whether or not it is an address: from each sign of it, time would be squared.
    # No top-level domain is asked for: an address that was cut short is one.
    "email": (re.compile(r"[\w.!#$%&*+/=?^`{|}~-]+(?:(?<=[\w+-])@[\w-][\w.-]*)?"),),
    "iban": (
        re.compile(r"(?<![^\W_])([A-Za-z]{2}\d{2})(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,3})?(?![^\W_])"),
    ),
    "card": (
        re.compile(r"(?<!\d)(\d{4})[ -]\d{4}[ -]\d{4}[ -]\d{4}(?!\d)"),
        re.compile(r"(?<!\d)(?:\d{4}[ -]\d{6}[ -]\d{4,5}|\d{12,19})(?!\d)"),
        re.compile(r"(?<!\d)\d(?:[ -]?\d){11,18}(?!\d)"),
    ),
    "phone": (
        re.compile(
            r"(?<![\w.])(?:\+|00)\d[\d ()/.-]{6,18}\d(?!\w)"
            r"|(?<![\w.])\(?0?\d{2,4}\)?[ /.-]\d{3,4}[ .-]\d{3,5}(?!\w)"
            r"|(?<![\w.])0\d{1,4}[ /-]\d{4,9}(?!\w)"
        ),
    ),
}
_ISO_DATE = re.compile(r"(?:19|20)\d\d-\d\d-\d\d")


def _has_valid_luhn_checksum(text: str) -> bool:
    digits = [int(digit) for digit in reversed(text) if digit.isdigit()]
    doubles = [2 * digit - 9 * (digit > 4) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubles)) % 10 == 0


_PROOFS: Mapping[MaskKind, Callable[[str], bool]] = {
    "email": lambda text: "@" in text,
    "card": _has_valid_luhn_checksum,
    "iban": lambda text: is_iban(re.sub(r"[ -]", "", text).upper()),
    "phone": lambda text: _ISO_DATE.match(text) is None,
}


def mask(text: str, kinds: Collection[MaskKind]) -> str:
    """Replace personal data in a text with the kind of the data, as in `[email]`."""
    for kind in filter(kinds.__contains__, _PATTERNS):
        text = _replace(kind, text, lambda _, kind=kind: f"[{kind}]")
    return text


def _replace(kind: MaskKind, text: str, make_replacement: Callable[[str], str]) -> str:
    proof = _PROOFS[kind]
    for pattern in _PATTERNS[kind] if kind != "email" or "@" in text else ():
        pieces, start, position = list[str](), 0, 0
        while hit := pattern.search(text, position):
            match, position = hit[0], hit.end(hit.lastindex or 0)
            while kind == "iban" and " " in match and not proof(match):
                match = match.rpartition(" ")[0]  # the next word may look like its last group
            if proof(match):
                pieces += text[start : hit.start()], make_replacement(match)
                start = position = hit.start() + len(match)
        text = "".join(pieces) + text[start:]
    return text


@dataclass
class PersonalDataPlaceholders:
    """Numbered placeholders for personal data, which can be turned back into the original text."""

    kinds: Collection[MaskKind]
    _by_text: dict[str, str] = field(default_factory=dict[str, str])

    def hide(self, text: str) -> str:
        """Replace personal data in a text with numbered placeholders, as in `[email-1]`."""
        for kind in filter(self.kinds.__contains__, _PATTERNS):
            text = _replace(kind, text, partial(self._make_placeholder, kind))
        return text

    def restore_text(self, text: str) -> str:
        """Replace the placeholders in a text with the original data."""
        for original, placeholder in self._by_text.items():
            text = text.replace(placeholder, original)
        return text

    def _make_placeholder(self, kind: MaskKind, text: str) -> str:
        return self._by_text.setdefault(text, f"[{kind}-{len(self._by_text) + 1}]")
