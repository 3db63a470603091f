"""Bars of a drawing in SVG."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class BarView:
    x: str
    y: str
    width: str
    height: str
    tone: str
    """CSS class: `poor`, `fair`, `good`, `exact`"""
    title: str
    """tooltip"""


@dataclass(frozen=True, kw_only=True)
class Canvas:
    """A drawing of bars side by side, which is stretched to the width of the page."""

    width: int
    height: int
    slots: int
    """number of bars"""
    gap: float
    """share of a bar's slot that stays empty"""
    least: float
    """height of the smallest bar, so that it can be seen"""

    @property
    def room(self) -> float:
        """Width of a slot."""
        return self.width / self.slots

    def bar(self, slot: int, share: float, *, tone: str, title: str) -> BarView:
        """A bar of a share of the height, from 0 to 1."""
        height = max(self.least, self.height * share)
        return BarView(
            x=f"{(slot + self.gap / 2) * self.room:.2f}",
            y=f"{self.height - height:.2f}",
            width=f"{self.room * (1 - self.gap):.2f}",
            height=f"{height:.2f}",
            tone=tone,
            title=title,
        )
