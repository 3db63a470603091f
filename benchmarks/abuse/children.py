"""Other people's code, strangers on ports, and what children get of the environment."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.abuse import secrets, strangers
from benchmarks.abuse.command import Place, run
from benchmarks.abuse.hostile import PROJECT, model
from benchmarks.abuse.result import Result

CODE = "open('ran.txt', 'w').close()\n"
NAMED = {
    "samples": '[variant.v]\nquantizer = "static-qdq"\ncalibration = "mine:samples"\n',
    "a metric": '[variant.v]\nquantizer = "auto"\ncalibration = "samples"\nmetric = "mine:score"\nmax-drop = 0.1\n',
    "an interpreter": '[parity.interpreters]\ncuda = "./mine.py"\n',
}
"""Code of a project -> tables that name it."""
RUNNING = (("build",), ("check",), ("release", "--first"), ("verify", "--rebuild"))
ARTIFACT = {"target": "ios", "kind": "swift-package", "path": "swift/p-1.0.0.zip", "sha256": "0" * 64}


LOOP = """g (float[1, 4] x) => (float[1, 4] y) {
  c = Constant <value = bool {1}> ()
  y = Loop (, c, x) <
    body = body (int64 i, bool go, float[1, 4] state) => (bool on, float[1, 4] next) {
      on = Identity (go)
      next = Tanh (state)
    }
  >
}"""
LARGE = """g (float[1, 4] x) => (float[1, 4] y) {
  size = Constant <value = int64[2] {50000, 40000}> ()
  one = Constant <value = float[1] {1.0}> ()
  large = Expand (one, size)
  sum = ReduceSum <keepdims = 0> (large)
  y = Add (x, sum)
}"""
GREEDY = {
    "an endless loop": (LOOP, {"MOBPACK_MODEL_SECONDS": "2"}, "took more than 2 s and was ended"),
    "8 GB of numbers": (LARGE, {"MOBPACK_MODEL_MEMORY": "1GB"}, "memory ran out"),
}
"""A model, limits, and words of the refusal."""


def attack(place: Place) -> Iterator[Result]:
    yield code_of_projects(place)
    yield greedy_models(place)
    yield strangers.attack()
    yield secrets.attack(place.folder / "secrets")


def code_of_projects(place: Place) -> Result:
    """Projects that name code, in every command that would run it."""
    exceptions = []
    cases = [(what, tables, command) for what, tables in NAMED.items() for command in RUNNING]
    for number, (what, tables, command) in enumerate(cases):
        folder = place.folder / f"code-{number}"
        (folder / "dist").mkdir(parents=True)
        (folder / "dist" / "manifest.json").write_text(json.dumps({"artifacts": [ARTIFACT]}), encoding="utf-8")
        (folder / "mobpack.toml").write_text(PROJECT + tables, encoding="utf-8")
        (folder / "m.onnx").write_bytes(model())
        (folder / "mine.py").write_text(CODE, encoding="utf-8")
        answer = run([*command, "--no-code"], Place(folder=folder, cache=place.cache), folder.with_suffix(".txt"))
        if answer.fault or answer.code != 2 or "--no-code refuses to run" not in answer.text or _has_run(folder):
            exceptions.append(f"{what}, `{command[0]}`: {answer.fault or f'ended with {answer.code}'}")
    return Result(attack="code that projects name, with `--no-code`", tries=len(cases), exceptions=tuple(exceptions))


def greedy_models(place: Place) -> Result:
    """Models that would run for ever, or take all memory, while they are compared."""
    exceptions = []
    cases = [(what, command) for what in GREEDY for command in (("check",), ("bench", "m.onnx"))]
    for number, (what, command) in enumerate(cases):
        text, variables, words = GREEDY[what]
        folder = place.folder / f"greedy-{number}"
        folder.mkdir()
        (folder / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
        (folder / "m.onnx").write_bytes(model(text))
        os.environ.update(variables)
        try:
            answer = run(list(command), Place(folder=folder, cache=place.cache), folder.with_suffix(".txt"))
        finally:
            for name in variables:
                del os.environ[name]
        if answer.fault or answer.code != 3 or words not in answer.text:
            exceptions.append(f"{what}, `{command[0]}`: {answer.fault or f'ended with {answer.code}'}")
    return Result(attack="models that take all time or memory", tries=len(cases), exceptions=tuple(exceptions))


def _has_run(folder: Path) -> bool:
    return (folder / "ran.txt").exists()
