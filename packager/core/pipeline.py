"""Pipelines: models of a package that run one after the other, the first on a picture, the others on its parts.

The first stage finds boxes in the picture. Each other stage runs on the part of the picture in each box. The result is
a list of items in the order of the boxes: the box, and the result of each stage.
"""

from dataclasses import dataclass

from packager.core.class_names import ITEM, pipeline_class_name


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One model of a pipeline."""

    name: str
    """as in mobpack.toml"""
    identifier: str
    """camelCase name of the model in the class, and of its result in an item"""
    model: str
    """name of the model"""
    min_score: float | None = None
    """smallest score of a box that it runs on: the items of other boxes have no result of the stage; None for all"""


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """A tree of models: one finds boxes in a picture, the others run on each of them."""

    name: str
    """as in mobpack.toml"""
    finder: Stage
    """gets the whole picture and finds the boxes"""
    readers: tuple[Stage, ...]
    """get the part of the picture in each box"""
    max_items: int
    """largest number of boxes: more are an error"""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """In the order in which they run."""
        return (self.finder, *self.readers)

    @property
    def class_name(self) -> str:
        return pipeline_class_name(self.name)

    @property
    def item_class_name(self) -> str:
        """Type of the items."""
        return f"{self.class_name}{ITEM}"
