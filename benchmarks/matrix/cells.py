"""Fills the cells of a row: the commands of mobpack that a user would type, each measured from outside."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy

from benchmarks.matrix.rows import Row
from benchmarks.zoo import building, models, packages
from benchmarks.zoo.independent import drawings, opened
from packager.engines.environments.framework import Framework
from packager.importers import FRAMEWORKS

ROOT = Path(__file__).parents[2]
TORCH = Framework(
    name="matrix",
    about="torchvision, timm, torchaudio, transformers and diffusers beside PyTorch of mobpack[torch]",
    lock=Path(__file__).with_name("torch.txt"),
    trial="import safetensors, huggingface_hub",
    borrowed="torch",
)
IMPORTING = {"transformers": "huggingface", "keras": "keras", "scikit-learn": "tabular", "boosters": "tabular"}
"""family -> the environment of the importer"""
WITHOUT_KOTLIN = ("ios", "web", "python", "cpp", "node")
"""targets whose packages need no compiler"""
WITH_KOTLIN = ("android", "jvm", "react_native", "flutter")
LEAST_DB = {"int8": 20.0, "dynamic": 20.0, "float16": 40.0, "int4": 10.0}
"""signal to noise of a quantized net's outputs beside the float one's, in decibels; less is beyond the tolerance"""
MOST_NOISE = 4
"""A kernel of integers may round another way than the graph says: the largest difference of a file, as a multiple of
the noise that quantizing adds."""
QUANTIZERS = {"int8": "static-qdq", "dynamic": "dynamic", "float16": "float16", "int4": "weight-only"}
CELLS = ("made", "packages", "kotlin", *QUANTIZERS)
DRAWN = 8

State = Literal["ok", "refused", "wrong", "beyond tolerance", "failed", "over the limit"]


@dataclass(frozen=True, kw_only=True)
class Cell:
    state: State
    reason: str = ""
    """why it is not `ok`: mobpack's message, or the end of its output"""
    wall_s: float = 0.0
    peak_bytes: int = 0
    number: float | None = None
    """of packages the largest error as a share of the output's largest number, of quantizers decibels"""
    code: str
    """hash of mobpack's code"""
    date: str


@dataclass(frozen=True, kw_only=True)
class Filling:
    """The work on one row, in a folder of its own that keeps the model for later cells."""

    row: Row
    folder: Path
    zoo: Path
    """where the zoo keeps its files"""
    code: str
    limit_s: float

    @property
    def model(self) -> Path:
        return self.folder / "model.onnx"

    def fill(self, cell: str) -> Cell:
        if cell == "made":
            return self.made()
        if cell == "packages":
            return self.built(self.model, WITHOUT_KOTLIN)
        if cell == "kotlin":
            return self.built(self.model, WITH_KOTLIN)
        return self.quantized(cell)

    def made(self) -> Cell:
        """The model in the folder, with samples beside it."""
        ways: Mapping[str, Callable[[], Cell]] = {"export": self.exported, "import": self.imported, "file": self.found}
        return ways[self.row.way]()

    def exported(self) -> Cell:
        code = "from functools import partial\n\nfrom benchmarks.matrix.nets import made\n\n"
        (self.folder / "nets.py").write_text(f"{code}net = partial(made, {self.row.family!r}, {self.row.net!r})\n")
        command = ["export", "nets:net", "-o", "model.onnx", "--keep-samples", "kept"]
        return self.run(command, {"PYTHONPATH": os.pathsep.join([str(TORCH.folder()), torch_folder(), str(ROOT)])})

    def imported(self) -> Cell:
        framework = FRAMEWORKS[IMPORTING[self.row.family]]
        places = [torch_folder()] if framework.borrowed == "torch" else []
        variables = dict(framework.variables())
        variables["PYTHONPATH"] = os.pathsep.join([variables["PYTHONPATH"], *places, str(ROOT)])
        program = ["-m", "benchmarks.matrix.saved", self.row.family, self.row.net, str(self.folder)]
        watched = building.watch([*framework.command(), *program], self.folder, variables, limit_s=self.limit_s)
        said = (self.folder / "stdout.txt").read_text(encoding="utf-8").strip()
        if watched.exit_code != 0:
            complained = (self.folder / "stderr.txt").read_text(encoding="utf-8", errors="replace").strip()
            last = building.FOLDERS.sub("", (complained.splitlines() or [""])[-1][-400:])
            return self.cell("failed", f"{self.row.family} cannot save it: {last}", watched)
        source = said.splitlines()[-1]
        command = ["import", source, "-o", "model.onnx", "--keep-samples", "kept", "--allow-code"]
        return self.run(command, {"PYTHONPATH": os.pathsep.join([*places, str(ROOT)])})

    def found(self) -> Cell:
        every = models.read().models
        [entry] = (each for each in every if each.name == self.row.net)
        file = packages.model_file(entry, every, self.zoo)
        for path in file.parent.iterdir():
            place = self.folder / ("model.onnx" if path == file else path.name)
            place.unlink(missing_ok=True)
            place.symlink_to(path)
        return self.cell("ok")

    def built(self, model: Path, targets: tuple[str, ...]) -> Cell:
        """Builds packages of `model`, and has the zoo's independent program compare them with it."""
        options = [part for target in targets for part in ("--target", target)]
        made = self.run(["build", model.name, *options, "--out", "dist", *self.known_samples()])
        if made.state != "ok":
            return made
        found = building.answer(
            "benchmarks.zoo.independent", str(model), str(self.folder / "dist"), str(building.node_program())
        )
        state: State = "wrong" if found["state"] == "differs" else "ok"
        reason = "" if found["state"] == "agrees" else f"{found['state']}: {found['reason']}"
        return self.changed(made, state=state, reason=reason, number=found.get("worst"))

    def quantized(self, name: str) -> Cell:
        """Quantizes the model, and builds a package of the result."""
        samples = self.samples()
        command = ["quantize", "model.onnx", "-q", QUANTIZERS[name], "-o", f"{name}.onnx"]
        made = self.run([*command, *(["--calibration", str(samples)] if samples else [])])
        if made.state != "ok":
            return made
        report = json.loads((self.folder / "stdout.txt").read_text(encoding="utf-8"))
        value = (report.get("score") or {}).get("value")
        number = float("inf") if value == "infinity" else value
        if number is not None and number < LEAST_DB[name]:
            why = f"{number:.1f} dB, at least {LEAST_DB[name]:.0f} are asked for"
            return self.changed(made, state="beyond tolerance", reason=why, number=number)
        ships = self.built(self.folder / f"{name}.onnx", ("python",))
        noise = 10 ** (-number / 20) if number is not None else 0.0
        if ships.state == "wrong" and ships.number is not None and ships.number <= MOST_NOISE * noise:
            ships = self.changed(ships, state="ok", reason="")
        return self.changed(ships, wall_s=made.wall_s + ships.wall_s, number=number)

    def known_samples(self) -> list[str]:
        """Options for the inputs that an export or import has kept: not every net takes random ones."""
        return ["--set", "parity.samples=kept/samples"] if (self.folder / "kept" / "recorded").exists() else []

    def samples(self) -> Path | None:
        """Inputs to calibrate with: those of the export or import, else drawn ones; None where none can be drawn."""
        kept = self.folder / "kept" / "samples"
        if not kept.exists():
            kept.mkdir(parents=True)
            drawn = drawings(opened(self.model, is_optimized=False), "")
            for number, (given, _) in zip(range(DRAWN), drawn, strict=False):
                numpy.savez(kept / f"sample-{number}.npz", **dict(given))
        return kept if any(kept.iterdir()) else None

    def run(self, arguments: list[str], variables: Mapping[str, str] | None = None) -> Cell:
        """One command of mobpack."""
        command = [sys.executable, "-P", "-W", "ignore", "-m", "packager.cli", *arguments, "--json"]
        watched = building.watch(command, self.folder, variables or {}, limit_s=self.limit_s)
        said = (self.folder / "stdout.txt").read_text(encoding="utf-8", errors="replace")
        complained = (self.folder / "stderr.txt").read_text(encoding="utf-8", errors="replace")
        state = building.state_of(watched, complained)
        if state == "shipped":
            return self.cell("ok", watched=watched)
        return self.cell(state, " ".join(building.reason(said, complained).split())[:600], watched)

    def cell(self, state: State, reason: str = "", watched: building.Watched | None = None) -> Cell:
        return Cell(
            state=state,
            reason=reason,
            wall_s=watched.wall_s if watched else 0.0,
            peak_bytes=watched.peak_bytes if watched else 0,
            code=self.code,
            date=f"{datetime.now(UTC):%Y-%m-%d}",
        )

    def changed(self, cell: Cell, **changes: Any) -> Cell:
        return Cell(**{**vars(cell), **changes})


def torch_folder() -> str:
    """The folder with PyTorch: that of this Python, else the one of the tests."""
    if found := find_spec("torch"):
        return str(Path(str(found.origin)).parents[1])
    from tests.toolchain import torch

    return torch.variables()["PYTHONPATH"].split(os.pathsep)[0]


def environments(rows: list[Row]) -> Iterator[str]:
    """Installs what `rows` need; yields the names of what is missing, with the reason."""
    from packager.core.errors import ToolError

    wanted = {IMPORTING[row.family]: FRAMEWORKS[IMPORTING[row.family]] for row in rows if row.way == "import"}
    if any(row.way == "export" for row in rows):
        wanted["matrix"] = TORCH
    for name, framework in wanted.items():
        if not framework.folder().is_dir():
            try:
                framework.install()
            except ToolError as error:
                yield f"{name}: {error.message}"
