"""`classify` of the Python and the C++ package beside the same steps by hand: `python -m benchmarks.by_hand`.

MobileNetV2 on a picture in memory, in one process with one thread: resize to 224 x 224, normalize, run, softmax, the
best five. By hand is Pillow, NumPy and ONNX Runtime in Python, and in C++ `by_hand.cpp` with ONNX Runtime's C API. CPU
time, the fastest of several runs, in turns.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import onnxruntime
from PIL import Image

from benchmarks.desk import output_of
from benchmarks.models import MOBILENET, made
from tests.toolchain import command, cpp_packages

SIDE, BEST, LABELS = 224, 5, 1000
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
PHOTOS = ((480, 640), (3024, 4032))
"""height and width"""
PROJECT = f"""[package]
name = "vision"
version = "1.0.0"
[model.classifier]
path = "{{path}}"
[model.classifier.inputs.{{input}}]
kind = "image"
mean = {list(MEAN)}
std = {list(DEVIATION)}
[model.classifier.outputs.{{output}}]
kind = "classes"
labels = "labels.txt"
activation = "softmax"
top-k = {BEST}
[target.python]
[target.cpp]
"""
PROGRAM = Path(__file__).with_suffix(".cpp")


def built(folder: Path) -> Path:
    """The model, beside `dist` with its packages."""
    [found] = made(folder, (MOBILENET,))
    model = found.rename(folder / MOBILENET)
    [given] = session_of(model).get_inputs()
    text = PROJECT.format(path=model.name, input=given.name, output=output_of(model))
    (folder / "mobpack.toml").write_text(text, encoding="utf-8")
    (folder / "labels.txt").write_text("".join(f"label {each}\n" for each in range(LABELS)), encoding="utf-8")
    done = command.run("build", folder=folder)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return model


def session_of(model: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def by_hand(session: onnxruntime.InferenceSession, pixels: Any) -> Any:
    """Numbers of the best classes."""
    small = Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    mean, deviation = (numpy.array(each, numpy.float32) for each in (MEAN, DEVIATION))
    values = (numpy.asarray(small, numpy.float32) / 255 - mean) / deviation
    fed = numpy.ascontiguousarray(values.transpose(2, 0, 1)[None])
    [logits] = session.run(None, {session.get_inputs()[0].name: fed})
    powers = numpy.exp(logits[0] - logits[0].max())
    return numpy.argsort(-powers / powers.sum())[:BEST]


def cpu_ms(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = work()
    return 1000 * (time.process_time() - start), found


def of_python(model: Path, runs: int) -> Iterator[tuple[str, float, float, bool]]:
    """For each picture its size, both times, and whether the best class is the same."""
    [wheel] = (model.parent / "dist" / "python").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(model.parent / "site")
    sys.path.insert(0, str(model.parent / "site"))
    from vision import Classifier, Options  # type: ignore[import-not-found,unused-ignore]

    session, package = session_of(model), Classifier.load(Options(threads=1))
    for height, width in PHOTOS:
        pixels = numpy.random.default_rng(0).integers(0, 256, (height, width, 3), numpy.uint8)
        ours, theirs, same = [], [], []
        for _ in range(runs):
            took, found = cpu_ms(lambda: package.classify(pixels))  # noqa: B023
            ours.append(took)
            took, best = cpu_ms(lambda: by_hand(session, pixels))  # noqa: B023
            theirs.append(took)
            same.append(found[0].index == best[0])
        yield f"{width} x {height}", min(ours), min(theirs), all(same)


def of_cpp(model: Path, runs: int) -> Iterator[tuple[str, float, float, bool]]:
    [tarball] = (model.parent / "dist" / "cpp").glob("*.tgz")
    package = cpp_packages.unpacked(tarball, model.parent / "unpacked")
    root = cpp_packages.root(model.parent / "onnxruntime")
    program = cpp_packages.compiled(package, root, PROGRAM, cpp_packages.gcc(), "-O3", "-march=native")
    done = cpp_packages.ran(program, package, root, model, str(runs))
    if done.returncode != 0:
        raise subprocess.CalledProcessError(done.returncode, str(program), done.stdout, done.stderr)
    for line in done.stdout.splitlines():
        size, ours, theirs, same = line.split("\t")
        yield size, float(ours), float(theirs), same == "1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        model = built(Path(folder))
        print("| package | picture | `classify`, ms | by hand, ms | ratio | same class |\n|---|---|--:|--:|--:|---|")
        for name, sides in (("python", of_python), ("cpp", of_cpp)):
            for size, ours, theirs, same in sides(model, runs):
                words = f"{ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} | {'yes' if same else 'no'}"
                print(f"| {name} | {size} | {words} |", flush=True)


if __name__ == "__main__":
    main()
