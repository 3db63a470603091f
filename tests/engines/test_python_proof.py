"""Wheels prove providers: a plug-in that lies is left out, and the reason is said."""

import json
import re
from pathlib import Path

import pytest

from tests.cases import liar
from tests.cases.liar import BEHAVIOURS, NAME, WITHOUT_DEVICE
from tests.cases.onnx_text import saved
from tests.toolchain import command, wheels

PROJECT = """\
[package]
name = "products"

[model.products]
path = "products.onnx"

[target.python]
"""
PROGRAM = """\
import json, sys
import onnxruntime
from products import Options, Products

name, library, behaviours = json.loads(sys.argv[1])
onnxruntime.register_execution_provider_library(name, library)
found = {}
for each in behaviours:
    settings = {"LiarExecutionProvider": {"behaviour": each}}
    given = Options(providers=["LiarExecutionProvider"], provider_options=settings)
    with Products.load(given) as model:
        found[each] = [model.info.provider, [left.reason for left in model.info.left_out], model.self_test().passed]
print(json.dumps(found))
"""
SAID = [each for each in BEHAVIOURS if not each.is_alone and each.name != "few nodes"]
"""The number of nodes that a provider takes is not compared: packages for Python are planned for the CPU."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("products")
    saved(folder / "products.onnx", liar.model())
    (folder / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    built = command.run("build", folder=folder)
    assert built.returncode == 0, built.stderr
    return folder


def test_a_provider_that_lies_is_left_out(project: Path) -> None:
    [wheel] = (project / "dist" / "python").glob("*.whl")
    found = {}
    for name, names in (
        (NAME, [each.name for each in SAID if each.name != "no device"]),
        (WITHOUT_DEVICE, ["no device"]),
    ):
        done = wheels.run(wheel, project / "site", "-c", PROGRAM, json.dumps([name, str(liar.library()), names]))
        assert done.returncode == 0, done.stderr
        found.update(json.loads(done.stdout))
    for each in SAID:
        provider, reasons, passed = found[each.name]
        wanted = "the installed ONNX Runtime does not have it" if each.name == "no device" else each.reason
        assert (provider, passed) == (NAME if each.is_proved else "CPUExecutionProvider", True), each.name
        assert [bool(re.fullmatch(wanted, reason, re.DOTALL)) for reason in reasons] == [True] * (not each.is_proved), (
            reasons
        )
