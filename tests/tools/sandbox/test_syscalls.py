"""The filter program, run by an interpreter of its own."""

from __future__ import annotations

import struct

import pytest
from tableturn.tools.sandbox.syscalls import MACHINES, build_filter_program


@pytest.mark.parametrize("files", [False, True])
@pytest.mark.parametrize("machine", MACHINES)
def test_filter_allows_what_is_listed_and_nothing_else(machine: str, files: bool) -> None:
    target = MACHINES[machine]
    steps = list(struct.iter_unpack("<HBBI", build_filter_program(target, files)))

    def verdict(number: int, protection: int = 0, audit: int = target.audit) -> int:
        data = struct.pack("<IIQ6Q", number, audit, 0, 0, 0, protection, 0, 0, 0)
        accumulator, at = 0, 0
        while True:
            code, if_true, if_false, value = steps[at]
            if code == 0x06:
                return value
            if code == 0x20:
                (accumulator,) = struct.unpack_from("<I", data, value)
                at += 1
            else:
                holds = accumulator == value if code == 0x15 else bool(accumulator & value)
                at += 1 + (if_true if holds else if_false)

    allowed = {*target.calls.values(), *(target.files.values() if files else ())}
    for number in [*range(600), 0x40000000, 0x40000001, 2**32 - 1]:
        assert (verdict(number) == 0x7FFF0000) is (number in allowed)
    assert verdict(target.calls["mmap"], protection=4) == 0x00050001
    assert verdict(target.calls["mprotect"], protection=7) == 0x00050001
    for advice, allowed_advice in ((0, True), (1, False), (4, True), (8, True), (12, False), (15, True), (100, False)):
        assert (verdict(target.calls["madvise"], advice) == 0x7FFF0000) is allowed_advice
    assert verdict(target.calls["read"], protection=4) == 0x7FFF0000
    assert verdict(target.calls["read"], audit=0x40000003) == 0x80000000
