"""A made-up target in a language of its own, added to a copy of mobpack by the recipe of docs/architecture.md."""

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import numpy
import pytest

from packager.engines.environments.environment import ensure
from packager.engines.environments.runtime import Runtime
from packager.files.processes.children import python
from tests.cases.onnx_text import linear, saved, weight
from tests.cases.scratch_copy import scratch_copy

FILES = Path(__file__).parents[1] / "made_up_language"
LINE = (
    (
        "from packager.targets.web import Web\n",
        "from packager.targets.snake.target import Snake\nfrom packager.targets.web import Web\n",
    ),
    ("    Web.NAME: target_of(Web),\n", "    Web.NAME: target_of(Web),\n    Snake.NAME: target_of(Snake),\n"),
)
"""the line of packager/targets/__init__.py, with its import"""
PROJECT = """\
[package]
name = "tower"
version = "1.0.0"

[model.tower]
path = "tower.onnx"

[model.plain]
path = "plain.onnx"

[model.tower.outputs.y]
kind = "classes"
activation = "softmax"
top-k = 3
labels = "labels.txt"

[target.snake]
prepacking = "on"
"""
PROGRAM = """\
import json
from dataclasses import asdict

import numpy

import tower

x = numpy.load("x.npz")["x"]
classes = tower.Tower().classify(x)
print(json.dumps({"classes": [asdict(each) for each in classes], "plain": tower.Plain().run(x).y.tolist()}))
"""


def test_a_made_up_target_language_is_a_folder_its_templates_and_a_line(tmp_path: Path) -> None:
    copy = scratch_copy(tmp_path, PROJECT)
    folder, templates = copy.root / "packager/targets/snake", copy.root / "templates/snake"
    folder.mkdir()
    shutil.copy(FILES / "target.py", folder)
    shutil.copytree(FILES / "templates", templates)
    copy.edit("targets/__init__.py", *LINE)
    assert len([*folder.iterdir(), *templates.iterdir()]) <= 25

    for name in ("tower", "plain"):
        saved(copy.project / f"{name}.onnx", linear(columns=8))
    labels = [f'class "{index}"' for index in range(8)]
    (copy.project / "labels.txt").write_text("\n".join(labels), encoding="utf-8")
    x = weight(1, 64, seed=5)
    numpy.savez(copy.project / "x.npz", x=x)

    copy.run("build", "--target", "snake")
    copy.run("verify")
    predicted = json.loads(copy.run("predict", "x.npz", "--model", "tower", "--json"))["predictions"][0]["answers"]["y"]
    compared = json.loads(copy.run("diff", "dist", "dist", "--json"))
    manifest = json.loads((copy.project / "dist/manifest.json").read_text(encoding="utf-8"))
    report = json.loads((copy.project / "dist/report.json").read_text(encoding="utf-8"))

    [wheel] = copy.project.glob("dist/snake/*.whl")
    with zipfile.ZipFile(wheel) as archive:
        [api] = [json.loads(archive.read(name)) for name in archive.namelist() if name.endswith("/api.json")]
    ran = answers_of(wheel, copy.project, tmp_path / "site")

    given, w, b = (each.astype(numpy.float64) for each in (x, weight(64, 8), weight(8, seed=1)))
    scores = (given @ w + b)[0]
    shares = numpy.exp(scores - scores.max())
    shares /= shares.sum()
    best = [int(index) for index in numpy.argsort(-shares)[:3]]
    expected = [{"label": labels[each], "index": each, "score": pytest.approx(shares[each], rel=1e-5)} for each in best]
    assert ran == {"classes": expected, "plain": [pytest.approx(scores, rel=1e-5)]}
    assert predicted == expected
    assert (compared["verdict"], compared["changes"]) == ("none", [])
    assert manifest["options"]["target"]["snake"]["prepacking"] == "on"
    assert {each["kind"] for each in manifest["artifacts"] if each["target"] == "snake"} >= {"wheel", "sbom"}
    assert (api["language"], [each["method"] for each in api["models"]]) == ("Snake", ["", "classify"])
    assert {each["target"] for each in report["plans"]} == {"snake"}
    assert "snake" in (copy.project / "dist/report.html").read_text(encoding="utf-8")


def answers_of(wheel: Path, project: Path, site: Path) -> object:
    """The answers of PROGRAM where pip has installed the wheel beside the ONNX Runtime that it depends on."""
    ensure(Runtime())
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site), str(wheel)]
    subprocess.run([*python(), *install], check=True)
    variables = Runtime().variables()
    done = subprocess.run(
        [*Runtime().command(), "-c", PROGRAM],
        cwd=project,
        env={**variables, "PYTHONPATH": f"{site}:{variables['PYTHONPATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
