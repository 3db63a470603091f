"""A page read by a pipeline's wheel beside RapidOCR with the same two models: `python -m benchmarks.ocr`.

The project is that of docs/pipelines.md, with the finder's size of each row. Both sides run in one environment and on
one thread, from pixels in memory to texts. Figures are the least CPU seconds of five pages in turns. RapidOCR
enlarges a page until its shorter side has 736 pixels; the rows "its size" give the finder as many.
"""

import json
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from packager.files.processes import downloads

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "pipelines.md"
RAPIDOCR = ("rapidocr==3.10.0", "opencv-python-headless==5.0.0.93")
MODELS = ("rapidocr/models/PP-OCRv6_det_small.onnx", "rapidocr/models/PP-OCRv6_rec_small.onnx")
SENTENCES = ROOT / "benchmarks" / "tasks" / "sentences.txt"
PAGE = "skimage/data/page.png"
WIDTH, HEIGHT, LINES, POINTS = 1240, 1754, 36, 26
"""of the page that is drawn: A4 at 150 dots per inch, and its text"""
RAN = """
import json, sys, time
import numpy

pages = numpy.load(sys.argv[1])
if sys.argv[2] == "rapidocr":
    import cv2
    from rapidocr import RapidOCR
    cv2.setNumThreads(1)
    threads = {f"EngineConfig.onnxruntime.{each}_op_num_threads": 1 for each in ("intra", "inter")}
    engine = RapidOCR(params={**threads, "Global.use_cls": False, "Global.log_level": "error"})
    read = lambda page: list(engine(page[:, :, ::-1]).txts or ())
else:
    import importlib
    module = importlib.import_module(sys.argv[2])
    pipeline = module.Ocr.load(module.Options(threads=1))
    read = lambda page: [each.text.text for each in pipeline.run(page) if each.text]
page = pages[sys.argv[3]]
seconds = []
for _ in range(5):
    begin = time.process_time()
    texts = read(page)
    seconds.append(time.process_time() - begin)
print(json.dumps({"seconds": min(seconds), "texts": texts}))
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    name: str
    page: str
    size: tuple[int, int]
    """height and width that the finder gets"""
    package: str


ROWS = (
    Row(name="`page.png` of scikit-image, 384 x 191, the guide's size", page="small", size=(320, 640), package="ocr"),
    Row(name="`page.png`, its size", page="small", size=(736, 1472), package="ocrlarge"),
    Row(name=f"{LINES} sentences, {WIDTH} x {HEIGHT}, its size", page="drawn", size=(1760, 1248), package="ocrpage"),
)


@dataclass(frozen=True, kw_only=True)
class Side:
    seconds: float
    texts: tuple[str, ...]


def main() -> None:
    sentences = SENTENCES.read_text(encoding="utf-8").split("\n")[:LINES]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        python = environment(folder)
        numpy.savez(folder / "pages.npz", small=small(), drawn=drawn(sentences))
        print("\n".join(table(folder, python, sentences)))


def environment(folder: Path) -> Path:
    """Python of an environment with RapidOCR and the wheel of each row."""
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    wheels = [built(row, folder / row.package) for row in ROWS]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *RAPIDOCR, *wheels], check=True)
    return python


def built(row: Row, folder: Path) -> Path:
    """The wheel of the guide's project."""
    folder.mkdir()
    with zipfile.ZipFile(downloads.fetch("model-ocr")) as wheel:
        for name in MODELS:
            (folder / Path(name).name).write_bytes(wheel.read(name))
    guide = re.findall(r"^```toml\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    [text] = [each for each in guide if "[package]" in each]
    for before, after in (
        ('name = "ocr"', f'name = "{row.package}"'),
        ("size = [320, 640]", f"size = {list(row.size)}"),
        ("[target.android]\nproviders = []", "[target.python]"),
    ):
        assert before in text, before
        text = text.replace(before, after)
    (folder / "mobpack.toml").write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "packager.cli", "build"], cwd=folder, stdout=sys.stderr, check=True)
    [wheel_file] = (folder / "dist" / "python").glob("*.whl")
    return wheel_file


def small() -> NDArray[numpy.uint8]:
    with zipfile.ZipFile(downloads.fetch("data-pictures")) as wheel, wheel.open(PAGE) as file:
        return numpy.asarray(Image.open(file).convert("RGB"))


def drawn(sentences: list[str]) -> NDArray[numpy.uint8]:
    page = Image.new("RGB", (WIDTH, HEIGHT), "white")
    font, pen = ImageFont.load_default(POINTS), ImageDraw.Draw(page)
    for number, each in enumerate(sentences):
        pen.text((70, 60 + number * (HEIGHT - 120) // LINES), each, "black", font)
    return numpy.asarray(page)


def ran(folder: Path, python: Path, side: str, page: str) -> Side:
    command: list[str | Path] = [python, "-c", RAN, folder / "pages.npz", side, page]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return Side(seconds=said["seconds"], texts=tuple(said["texts"]))


def table(folder: Path, python: Path, sentences: list[str]) -> Iterator[str]:
    yield "| page | RapidOCR | pipeline | ratio | texts: RapidOCR, pipeline, equal | right |"
    yield "|---|---:|---:|---:|---:|---:|"
    for row in ROWS:
        theirs, ours = (ran(folder, python, side, row.page) for side in ("rapidocr", row.package))
        equal = len({*theirs.texts} & {*ours.texts})
        right = [str(len({*each.texts} & {*sentences})) for each in (theirs, ours)]
        yield (
            f"| {row.name} | {theirs.seconds:.2f} s | {ours.seconds:.2f} s | {ours.seconds / theirs.seconds:.2f} "
            f"| {len(theirs.texts)}, {len(ours.texts)}, {equal} | {', '.join(right) if row.page == 'drawn' else ''} |"
        )
        for text in sorted({*theirs.texts} ^ {*ours.texts}):
            print(f"{row.name}: {'RapidOCR' if text in theirs.texts else 'pipeline'} alone: {text!r}", file=sys.stderr)


if __name__ == "__main__":
    main()
