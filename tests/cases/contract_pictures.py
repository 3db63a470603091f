"""A picture input in front of a core that returns its input, and pictures for it."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy
import numpy.typing

from packager.contract.image import PictureInput
from packager.contract.kind import AttachedInput
from packager.core.signature import Dimension, ElementType
from packager.graph.writer import Writer
from tests.cases.contract_graphs import Array, Ran, graph_of, spec_of

Pixels = numpy.typing.NDArray[numpy.uint8]

UPRIGHT = 1
RGB = (0, 1, 2)


@dataclass(frozen=True)
class Attached:
    """A kind in a graph."""

    parts: AttachedInput
    model: Ran

    def run(
        self,
        pixels: Pixels,
        channels: tuple[int, int, int] = RGB,
        orientation: int = UPRIGHT,
        *,
        chroma: Pixels | None = None,
        conversion: tuple[int, int, int] = (0, 0, 0),
    ) -> dict[str, Array]:
        feeds: dict[str, Array] = {
            "x.pixels": pixels,
            "x.channels": numpy.array(channels),
            "x.orientation": numpy.array(orientation),
            "x.chroma": numpy.zeros((1, 1, 1), numpy.uint8) if chroma is None else chroma,
            "x.conversion": numpy.array(conversion),
        }
        return self.model(feeds)

    def core(self, *args: Any, **kwargs: Any) -> Array:
        """The core's input."""
        return self.run(*args, **kwargs)[self.parts.value]

    def places(self, *args: Any) -> tuple[float, ...]:
        """Scale and offset in x, then in y."""
        placement = self.parts.placement
        assert placement is not None
        found = self.run(*args)
        names = (placement.made_width, placement.offset_x, placement.made_height, placement.offset_y)
        made_width, offset_x, made_height, offset_y = (found[name].item() for name in names)
        width, height = (found[name].item() for name in (placement.width, placement.height))
        return made_width / width, offset_x, made_height / height, offset_y


@cache
def attached(*sizes: Dimension, element: ElementType = ElementType.UINT8, **keys: Any) -> Attached:
    kind = PictureInput(**keys)
    writer = Writer(scope="x")
    spec = spec_of("x", element, *sizes)
    parts = kind.attach(writer, spec, {"x": spec})
    assert parts.placement is not None
    placement = parts.placement
    made = (placement.made_width, placement.made_height, placement.offset_x, placement.offset_y)
    numbers = [(name, ElementType.INT64, (None,)) for name in (*made, placement.width, placement.height)]
    shape = kind.shapes(spec, {"x": spec})["x"]
    return Attached(parts, Ran(graph_of(writer, [(parts.value, element, shape), *dict.fromkeys(numbers)])))


def noise(height: int, width: int, channels: int = 3) -> Pixels:
    return numpy.random.default_rng(height * 4099 + width).integers(0, 256, (height, width, channels), numpy.uint8)
