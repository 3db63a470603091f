"""Wheels: what a program passes reaches the graph as it is, and what comes out is what every language gives."""

import json
import re
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from packager.compile.compile import compile_variant
from packager.core.findings import Report
from packager.core.values import Package, baseline
from packager.files.processes.children import python
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets.python import Python
from tests.cases import spoken
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.npm.test_react_native_typed import MODELS, given_texts, made, planned
from tests.toolchain import command, generation_models, stores, typed_models, typed_texts, wheels
from tests.toolchain.generation_models import CONVERSATION, PROMPT, REFUSED, SAID, SEEDS, SPOILT

PROGRAM = Path(__file__).parents[1] / "toolchain" / "python_programs" / "typed.py"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, generation_models.Made]:
    found = generation_models.made(tmp_path_factory.mktemp("tales"), Store(cache_folder() / "store"))
    return {each.plan.model.name: each for each in found}


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> generation_models.Heard:
    return generation_models.heard(tmp_path_factory.mktemp("heard"), Store(cache_folder() / "store"))


@pytest.fixture(scope="module")
def said(
    told: dict[str, generation_models.Made], heard: generation_models.Heard, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Any]:
    """Output of one run of the program."""
    folder = tmp_path_factory.mktemp("typed")
    store = Store(folder / "store")
    tokenizing = (typed_texts.tokens(folder / "tokens"), *typed_texts.lists(folder))
    plans = (
        *(made(name, folder) for name in MODELS),
        *(planned(compile_variant(baseline(each), store)) for each in tokenizing),
        *(each.plan for each in told.values()),
        heard.plan,
    )
    target = Python()
    view = target.view(Package(name="typed", version="1.0.0-rc.1", license=""), plans, Report(parities=()))
    [wheel] = target.assemble(view, target.render(view), store)
    assert wheel.path.name == "typed-1.0.0rc1-py3-none-any.whl"
    texts = folder / "texts.json"
    steps = [0.0 if each != each else each for each in spoken.STEPS]
    given = {**given_texts(), "prompt": PROMPT, "seeds": SEEDS, "steps": steps, "said": SAID, "spoilt": SPOILT}
    texts.write_text(json.dumps(given), encoding="utf-8")
    done = wheels.run(wheel.path, folder / "site", PROGRAM, texts)
    assert done.returncode == 0, done.stderr
    found: Mapping[str, Any] = json.loads(done.stdout)
    return found


def test_texts_give_what_they_give_in_every_language(said: Mapping[str, Any]) -> None:
    found, wanted = said["texts"], typed_texts.listed()
    spans = [
        [label, text, typed_texts.TAGGED.index(text), typed_texts.TAGGED.index(text) + len(text), score]
        for label, text, _, _, score in typed_texts.spans()
    ]
    assert [tuple(each) for each in found["tokens"]] == list(typed_texts.ids())
    assert found["spans"] == spans
    assert found["noted"] == [spans, [ord(each) for each in "before"]]
    assert found["ranked"] == [list(each) for each in typed_texts.RANKED]
    typed_texts.same(found["together"], wanted["embedder"])
    assert found["none"] == []
    assert [f"[{', '.join(each)}]" for each in found["topics"]] == typed_texts.topics()
    for alone, together in (("alone", "together"), ("topic", "topics"), ("judged alone", "judge")):
        assert found[alone] == found[together], alone
    assert found["one topic"] == [1] * len(typed_texts.LISTED)
    longest = max(map(len, wanted["rows"]))
    assert found["rows"] == [each + [0.0] * (longest - len(each)) for each in wanted["rows"]]
    typed_texts.same([[each] for each in found["judge"]], wanted["judge"])
    typed_texts.same(found["judged"], typed_texts.ranked(3))
    assert [found["no pairs"], found["no list"]] == ["bad_input"] * 2


def test_generated_texts_are_those_of_mobpack(
    said: Mapping[str, Any], told: dict[str, generation_models.Made], heard: generation_models.Heard
) -> None:
    found, teller, sampler = said["tales"], told["teller"].steps, told["sampler"].steps
    wanted = [teller.text(prompt) for prompt in (PROMPT, "", "a dog")]
    assert (found["told"], found["told later"]) == (wanted, wanted[0])
    assert found["seeds"] == [sampler.text("a dog", seed) for seed in SEEDS]
    assert found["heard"] == heard.text
    assert found["chat"] == found["chat later"] == sampler.text(CONVERSATION, 7)
    assert found["no chat"] == [f"[bad_input] {each}" for each in REFUSED]


def test_pictures_reach_the_model_as_they_lie_in_memory(said: Mapping[str, Any]) -> None:
    found = said["pictures"]
    assert found["rgb"] == [7.5, 8.5, 9.5, 1, 2, 3, 0, 15, 0, 0, 0, 1, 1]
    assert found["bgr"] == [9.5, 8.5, 7.5, 6, 2, 3, 2, 17, 0, 0, 0, 1, 1]
    assert found["gaps"][6:8] == [6, 9]
    assert found["nv21"] == [9, 9, 9, 1, 2, 4, 9, 9, 30, 20, 3, 1, 2]
    seen, where, vector, words, raw, pixels = found["everything"]
    assert (seen, vector) == ([], [3, 4, 5])
    assert where == [[[1, 1], [5, 5]], [[1, 1], [5, 5]], ["no", "yes"]]
    assert words == ["語a'", pytest.approx(0.1)]
    assert (raw, pixels[1][0]) == (1, [5, 6, 7, 5])
    assert found["boxes"] == [["dog", 1, 0.5, 1, 2, 3, 4], ["", 7, 0.25, 5, 6, 7, 8]]
    assert found["refused"] == ["bad_input"] * 11


def test_sounds_and_states_reach_the_model(said: Mapping[str, Any]) -> None:
    found = said["sounds"]
    one, two, again = found["heard"]
    assert one == again == [0.75, 2, 2, 8000, 0, 0]
    assert two == [0.75, 2, 1, 44100, 0.75, 1]
    assert found["whole"] == list(spoken.WHOLE)
    assert found["played"] == [spoken.RATE, len(spoken.STEPS) // 2, spoken.CHANNELS]
    assert bytes(found["wav"]) == spoken.wav_file()
    assert found["refused"] == ["bad_input"] * 4


def test_tensors_are_checked_and_runs_are_counted(said: Mapping[str, Any]) -> None:
    found = said["tensors"]
    assert (found["found"], found["later"]) == ([[1, 1, 1, 1]], ["dog"])
    assert found["wrong"] == ["bad_input"] * 2
    assert (found["closed"], found["options"]) == ("closed", ["bad_options"])
    assert found["counts"] == [1, 0, True]
    assert {"mobpack.provider", "mobpack.run.count", "mobpack.run.duration.p99"} <= set(found["attributes"])


PROJECT = """\
[package]
name = "vision"
version = "1.2.0"
license = "Apache-2.0"
description = "Tells the shade of a picture."
url = "https://example.com/reader"

[model.classifier]
path = "classifier.onnx"

[model.classifier.inputs.image]
kind = "image"
size = [8, 8]

[model.classifier.outputs.scores]
kind = "classes"
activation = "softmax"
labels = "labels.txt"

[target.python]
"""
SHADE = """(float[1, 3, 8, 8] image) => (float[1, 3] scores) {
    m = GlobalAveragePool (image) f = Flatten (m) scores = Gemm (f, w) }"""
ASKED = """\
import json, os, signal, sys
from pathlib import Path
import vision
from vision import Classifier, ModelError, Options

model = Classifier.load(Options(providers=["CUDAExecutionProvider"], threads=2))
[best, *others] = model.classify("photo.jpg")
content = Path("photo.jpg").read_bytes()
import PIL.Image
same = [model.classify(each)[0] == best for each in (content, Path("photo.jpg"), PIL.Image.open("photo.jpg"))]
test = model.self_test()
reader, writer = os.pipe()
if not os.fork():
    signal.alarm(60)
    try:
        model.classify(content)
    except ModelError as error:
        os.write(writer, error.code.value.encode())
    sys.exit()  # closes the model, and does not wait for threads of the parent
forked = [os.read(reader, 100).decode(), os.wait()[1]]
file = Path(vision.__file__).parent / "models" / "classifier" / "classifier.onnx"
file.write_bytes(file.read_bytes()[:-1] + b"!")
codes = []
for damage in (lambda: None, file.unlink):
    damage()
    try:
        Classifier.load()
    except ModelError as error:
        codes.append(error.code.value)
left = [str(each) for each in model.info.left_out]
print(json.dumps({"best": [best.label, best.score], "count": len(others), "same": same, "passed": test.passed,
    "tests": len(test.outputs), "forked": forked, "codes": codes, "left": left, "version": vision.__version__}))
"""


SERVED = """
from fastapi.testclient import TestClient

with TestClient(app) as client, open("photo.jpg", "rb") as photo:
    print(json.dumps(client.post("/classify", files={"photo": photo}).json()))
"""
ASKED_OF_SAMPLE = """
    print(client.post("/classify", files={"photo": b"no picture"}).status_code)
    print("<input" in client.get("/").text, client.get("/metrics").json())
"""
SERVER = Path(__file__).parents[2] / "sample_apps" / "server" / "server.py"
LOCK = Path(wheels.__file__).with_name("web_service.txt")


def test_a_wheel_that_pip_installs_judges_files_and_itself(tmp_path: Path) -> None:
    """A provider that is not there is left out, a process that was forked is told so, and a damaged file is found. What
    docs/python.md shows works."""
    saved(tmp_path / "classifier.onnx", onnx_model(SHADE, weights={"w": weight(3, 3)}))
    (tmp_path / "labels.txt").write_text('red\n"green" \\\nblau\n', encoding="utf-8")
    (tmp_path / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    Image.fromarray(np.full((9, 7, 3), (250, 20, 30), np.uint8)).save(tmp_path / "photo.jpg", quality=100)
    built = command.run("build", folder=tmp_path)
    assert built.returncode == 0, built.stderr
    [wheel] = (tmp_path / "dist" / "python").glob("*.whl")
    predicted = json.loads(command.run("predict", "--json", "photo.jpg", folder=tmp_path).stdout)["predictions"][0]
    best = predicted["answers"]["scores"][0]

    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    first, service = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    shown = wheels.run(wheel, tmp_path / "site", "-c", first)
    served = wheels.run(wheel, tmp_path / "site", "-c", f"import json\n{service}{SERVED}", also=stores.packages(LOCK))
    program = f"import json\n{SERVER.read_text(encoding='utf-8')}{SERVED}{ASKED_OF_SAMPLE}"
    sample = wheels.run(wheel, tmp_path / "site", "-c", program, also=stores.packages(LOCK))
    done = wheels.run(wheel, tmp_path / "site", "-c", ASKED)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = archive.read("vision-1.2.0.dist-info/METADATA").decode()
        oldest = "-m mypy --strict --python-version 3.10 -p vision --cache-dir"
        mypy = [*python(), *oldest.split(), str(tmp_path / "mypy")]
    typed = subprocess.run(mypy, cwd=tmp_path / "site", capture_output=True, text=True, check=False)

    assert not list((tmp_path / "home").rglob("*")), "ONNX Runtime's telemetry has started"
    assert shown.stdout.split()[0] == best["label"], shown.stderr
    assert served.returncode == 0, served.stderr
    assert json.loads(served.stdout)[0]["label"] == best["label"]
    assert sample.returncode == 0, sample.stderr
    classes, refused, others = sample.stdout.splitlines()
    assert (json.loads(classes)[0]["label"], refused, others[:4]) == (best["label"], "400", "True")
    assert found["best"] == [best["label"], pytest.approx(best["score"], rel=1e-5)]
    assert found["same"] == [True] * 3
    assert (found["count"], found["passed"]) == (2, True)
    assert found["tests"] > 0
    assert (found["forked"], found["codes"]) == (["forked", 0], ["corrupted", "missing"])
    assert found["left"] == ["CUDAExecutionProvider: the installed ONNX Runtime does not have it"]
    assert found["version"] == "1.2.0"
    assert {"vision/py.typed", "vision-1.2.0.dist-info/sboms/sbom.cdx.json"} <= set(names)
    assert "Requires-Dist: onnxruntime>=" in about
    assert "License-Expression: Apache-2.0\n" in about
    assert typed.returncode == 0, typed.stdout
    assert command.run("verify", folder=tmp_path).returncode == 0


SCANNED = """
import json, sys
import numpy
from models import ModelError, Picture, Scan

def line(item, has_chroma):
    box, seen = item.box.box, item.seen
    corners = " ".join(f"{each:.1f}" for each in (box.left, box.top, box.right, box.bottom))
    tint = " ".join(map(str, seen.tint.reshape(-1))) if has_chroma else "-"
    colour = "null" if item.colour is None else " ".join(f"{each:.6f}" for each in item.colour)
    pixels = " ".join(map(str, seen.seen.reshape(-1)))
    return f"{corners} {item.box.score:.6f} | {seen.size.tolist()} {seen.turned} | {pixels} | {tint} | {colour}"

small = numpy.frombuffer(bytes(json.loads(sys.argv[1])), numpy.uint8)
found = {}
with Scan.load() as scan:
    for turn in range(1, 9):
        rgba = Picture(small[:168].reshape(6, 28)[:, 4:24].reshape(6, 5, 4), orientation=turn)
        camera = Picture(small[:48].reshape(6, 8), "nv21", turn, small[48:72].reshape(3, 4, 2))
        found[turn] = [[line(each, False) for each in scan.run(rgba)], [line(each, True) for each in scan.run(camera)]]
    try:
        scan.run(small[:36].reshape(9, 4))
    except ModelError as error:
        found["many"] = str(error)
try:
    scan.run(small[:36].reshape(6, 6))
except ModelError as error:
    found["closed"] = error.code.value
print(json.dumps(found))
"""


def test_a_pipeline_gives_each_model_the_pixels_in_each_box(tmp_path: Path) -> None:
    store = Store(cache_folder() / "store")
    names = {each.model for each in typed_models.SCANNER.stages}
    plans = tuple(each for each in typed_models.plans(tmp_path / "nets", store) if each.model.name in names)
    package = Package(name="models", version="1.0.0", license="", pipelines=(typed_models.SCANNER,))
    target = Python()
    view = target.view(package, plans, Report(parities=()))
    [wheel] = target.assemble(view, target.render(view), store)
    small = np.random.default_rng(3).integers(0, 256, 200, np.uint8)
    done = wheels.run(wheel.path, tmp_path / "site", "-c", SCANNED, json.dumps(small.tolist()))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    pixels, luma = small[:168].reshape(6, 28)[:, 4:24].reshape(6, 5, 4), small[:48].reshape(6, 8, 1)
    for turn in range(1, 9):
        rgba, camera = found[str(turn)]
        assert rgba == typed_models.scanned(plans, pixels, turn)
        assert camera == typed_models.scanned(plans, luma, turn, small[48:72].reshape(3, 4, 2))
    assert found["many"] == "[bad_input] pipeline `scan`: 9 boxes, and it takes 8 at most"
    assert found["closed"] == "closed"
