"""Imports of functions of JAX and of flax's modules, with the real ones."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from packager.core.console import Console
from packager.workflows.conversion.graph import ports
from packager.workflows.importing import ImportRequest, starting, steps
from tests.toolchain.importing import answers_of
from tests.toolchain.jax_models import SOURCES

Answers = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jax")


@pytest.fixture(scope="module")
def answers(folder: Path) -> Answers:
    return answers_of("tests.toolchain.jax_models", "jax", folder)


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "nets:corners": {"image": ("batch", 12, 12, 1), "output": ("batch", 4)},
        "nets:two": {"left": ("batch", 4), "right": ("batch", 3), "largest": ("batch",), "sum": ("batch", 3)},
    }.items(),
)
def test_jax_and_the_onnx_agree(name: str, expected: dict[str, Any], answers: Answers, folder: Path) -> None:
    answer, place = starting.answer_of(answers[name]), folder / "imported" / name
    proto = steps.read(place, answer)
    assert {each.name: each.dimensions for each in (*ports(proto.graph.input), *ports(proto.graph.output))} == expected
    request = ImportRequest(source=name, folder=folder, output=folder / "model.onnx")
    errors = steps.compare(proto, answer, place, request, Console(quiet=True))
    assert [each.name for each in errors] == list(answer.outputs)
    assert all(each.max_share < 0.5 for each in errors)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nets:number", "the function nets:number returned int"),
        ("nets:fails", "ValueError: no weights"),
        ("nets:missing", "no function 'missing' in 'nets'"),
    ],
)
def test_every_bad_function_has_its_words(name: str, words: str, answers: Answers) -> None:
    assert answers[name].get("failed") == "ConfigError", answers[name]
    assert words in answers[name]["message"]


def test_every_function_is_tried(answers: Answers) -> None:
    assert set(answers) == set(SOURCES)
