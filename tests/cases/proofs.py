"""Packages with the provider that lies, and what programs say that load its model with a proof.

They print a line for each load: the behaviour, a tab, and facts as JSON.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cases import liar
from tests.cases.liar import BEHAVIOURS, Behaviour
from tests.cases.onnx_text import saved
from tests.toolchain import command, with_liar

PLUGGED = Path(__file__).parents[1] / "toolchain" / "plugged.c"
"""ONNX Runtime's functions, which start the provider from its library"""
PROJECT = """\
[package]
name = "proved"

[model.products]
path = "products.onnx"

[target.ios]
providers = ["liar"]
format = "onnx"

[target.flutter]
"""
TOGETHER = tuple(each for each in BEHAVIOURS if not each.is_alone)
"""one process has room for all of them"""
CRASH, HANG = (each for each in BEHAVIOURS if each.is_alone)

Loads = list[tuple[str, dict[str, Any]]]


def built(folder: Path, *targets: str) -> Path:
    """The folder `dist` of a project in `folder`."""
    saved(folder / "products.onnx", liar.model())
    (folder / "mobpack.toml").write_text(PROJECT, encoding="utf-8", newline="\n")
    options = [word for target in targets for word in ("--target", target)]
    done = command.run("build", *options, folder=folder, program=Path(with_liar.__file__))
    assert done.returncode == 0, done.stderr
    return folder / "dist"


def promise(source: Path, before: str, nodes: str) -> None:
    """Has generated code expect as many nodes as a build sees that knows the provider's rules."""
    text = source.read_text(encoding="utf-8")
    assert text.count(before) == 1
    source.write_text(text.replace(before, nodes + before), encoding="utf-8", newline="\n")


def loads(output: str) -> Loads:
    found = [line.partition("\t") for line in output.splitlines() if "\t{" in line]
    return [(behaviour, json.loads(facts)) for behaviour, _, facts in found]


def check(behaviour: Behaviour, facts: Mapping[str, Any]) -> None:
    """The provider is left out for the reason of the table, which everyone is told, and the model computes right."""
    [proof] = facts["proofs"]
    assert re.fullmatch(behaviour.reason, proof["reason"], re.DOTALL), proof
    assert proof["isProved"] is behaviour.is_proved
    assert proof["isMeasured"] is (behaviour.is_proved or proof["reason"].startswith("slower"))
    assert facts["provider"] == ("liar" if behaviour.is_proved else "cpu")
    assert facts["fallbacks"] == facts["told"] == ([] if behaviour.is_proved else [proof["reason"]])
    assert facts["isRight"], facts
