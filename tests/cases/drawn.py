"""Random values that several tests try: Hypothesis draws them once, which takes longer than trying them.

A value at which a test fails is told as it was drawn. Tests that draw for themselves get a shorter one.
"""

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from hypothesis import Phase, given, settings
from hypothesis.strategies import SearchStrategy

Value = TypeVar("Value")


@cache
def drawn(strategy: SearchStrategy[Value], count: int) -> Sequence[Value]:
    """`count` values, or all that there are. Nobody may change one."""
    found: list[Value] = []

    @settings(max_examples=count, deadline=None, phases=[Phase.generate], database=None)
    @given(strategy)
    def take(value: Value) -> None:
        found.append(value)

    take()
    assert found
    return tuple(found)
