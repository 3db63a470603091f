"""Measures the nodes of a contract that prepare a camera's frame: `python -m benchmarks.pictures`.

CPU time of one thread: the frame as RGBA, as NV12, and as NV12 that Pillow converts to RGB first, which is what apps do
where a model takes RGB alone.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy
import onnxruntime
from PIL import Image

from packager.contract.image import PictureInput
from packager.core.contract import CONVERSIONS
from packager.core.signature import ElementType
from packager.graph.writer import Writer
from tests.cases.contract_graphs import graph_of, spec_of

RUNS = 9
FRAMES = ((1080, 1920), (3024, 4032))
"""height and width"""
KINDS = (
    (224, PictureInput()),
    (640, PictureInput(resize="letterbox", antialias=False)),
)
"""side of the model's input, and how a picture becomes it"""
Feeds = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Frame:
    luma: Any
    chroma: Any

    @property
    def rgba(self) -> Feeds:
        return feeds(numpy.dstack([self.rgb["x.pixels"], self.luma]))

    @property
    def rgb(self) -> Feeds:
        """Converted by Pillow, chroma first enlarged to the size of luma."""
        planes = [Image.fromarray(self.luma)]
        for channel in range(2):
            small = Image.fromarray(numpy.ascontiguousarray(self.chroma[..., channel]))
            planes.append(small.resize(planes[0].size, Image.Resampling.BILINEAR))
        return feeds(numpy.asarray(Image.merge("YCbCr", planes).convert("RGB")))

    @property
    def nv12(self) -> Feeds:
        number = CONVERSIONS.index("bt601-full")
        given = {"x.chroma": self.chroma, "x.conversion": numpy.array([0, 1, number])}
        return {**feeds(self.luma[..., None]), "x.channels": numpy.zeros(3, numpy.int64), **given}


def feeds(pixels: Any) -> Feeds:
    return {
        "x.pixels": pixels,
        "x.channels": numpy.array([0, 1, 2]),
        "x.orientation": numpy.array(6),
        "x.chroma": numpy.zeros((1, 1, 1), numpy.uint8),
        "x.conversion": numpy.zeros(3, numpy.int64),
    }


def frame(height: int, width: int) -> Frame:
    made = numpy.random.default_rng(0).integers(0, 256, (height, width), numpy.uint8)
    chroma = made[: height // 2].reshape(height // 2, width // 2, 2)
    return Frame(luma=made, chroma=numpy.ascontiguousarray(chroma))


def session(side: int, kind: PictureInput) -> onnxruntime.InferenceSession:
    """The nodes before a model that takes float [1, 3, side, side]."""
    writer, spec = Writer(scope="x"), spec_of("x", ElementType.FLOAT, 1, 3, side, side)
    value = kind.attach(writer, spec, {}).value
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    graph = graph_of(writer, [(value, ElementType.FLOAT, (1, 3, side, side))])
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def converted_first(nodes: onnxruntime.InferenceSession, seen: Frame) -> None:
    nodes.run(None, seen.rgb)


def milliseconds(work: Callable[[], object]) -> float:
    """Median CPU time."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * statistics.median(times)


def rows() -> Iterator[str]:
    for side, kind in KINDS:
        nodes = session(side, kind)
        for height, width in FRAMES:
            seen = frame(height, width)
            rgba, nv12 = seen.rgba, seen.nv12
            plain = milliseconds(partial(nodes.run, None, rgba))
            yuv = milliseconds(partial(nodes.run, None, nv12))
            first = milliseconds(partial(converted_first, nodes, seen))
            cells = (f"{side} x {side}, {kind.resize}", f"{width} x {height}", f"{plain:.1f}", f"{yuv:.1f}")
            yield f"| {' | '.join((*cells, f'{first:.1f}', f'{yuv / first:.2f}'))} |"


def main() -> None:
    print("| model's input | frame | RGBA, ms | NV12, ms | NV12 through Pillow, ms | ratio |")
    print("|---|---|--:|--:|--:|--:|")
    for row in rows():
        print(row)


if __name__ == "__main__":
    main()
