"""What is kept with the data that it was worked out of."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tableturn.tools.derived import cache_in_first_argument


@dataclass(frozen=True)
class Item:
    value: object


def test_it_is_made_once_an_object_and_its_arguments() -> None:
    calls: list[object] = []

    @cache_in_first_argument
    def made(item: Item, times: int = 1) -> str:
        calls.append(item.value)
        return repr(item.value) * times

    one, equal = Item(1), Item(True)
    assert one == equal
    assert [made(one), made(one), made(equal), made(one, 2)] == ["1", "1", "True", "11"]
    assert calls == [1, True, 1]
    assert made(replace(one)) == "1"
    assert len(calls) == 4
