"""Imports of Hugging Face's folders, with the real transformers, optimum and PyTorch."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError, ToolError
from packager.files.store import Store
from packager.workflows.conversion.graph import ports
from packager.workflows.importing import ImportRequest, run, starting, steps
from tests.toolchain.huggingface_models import SOURCES
from tests.toolchain.importing import answers_of

Answers = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("huggingface")


@pytest.fixture(scope="module")
def answers(folder: Path) -> Answers:
    return answers_of("tests.toolchain.huggingface_models", "huggingface", folder)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        (
            "bert",
            {
                **dict.fromkeys(("input_ids", "attention_mask", "token_type_ids"), ("batch", "sequence_length")),
                "logits": ("batch", 3),
            },
        ),
        ("vit", {"pixel_values": ("batch", 3, 32, 32), "logits": ("batch", 5)}),
    ],
)
def test_transformers_and_the_onnx_agree(
    name: str, shapes: dict[str, Any], answers: Answers, folder: Path, tmp_path: Path
) -> None:
    place = shutil.copytree(folder / "imported" / name, tmp_path / "made")
    answer = starting.answer_of(answers[name])
    proto = steps.read(place, answer)
    request = ImportRequest(source=name, folder=folder, output=tmp_path / "model.onnx")
    [error] = steps.compare(proto, answer, place, request, Console(quiet=True))
    assert error.max_share < 0.1
    assert len(answer.sizes) == 4
    assert {each.name: each.dimensions for each in (*ports(proto.graph.input), *ports(proto.graph.output))} == shapes


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("t5", ModelError, "t5 makes texts step by step (text2text-generation"),
        ("own_code", ConfigError, "needs Python code of its own (config.json: auto_map), which is not run"),
        ("cut", ModelError, "transformers cannot load cut: "),
        ("no_config", ModelError, "config.json cannot be read"),
    ],
)
def test_every_bad_folder_has_its_words(name: str, kind: type, words: str, answers: Answers) -> None:
    answer = answers[name]
    assert answer.get("failed") == kind.__name__, answer
    assert words in answer["message"]
    assert answer["hint"]
    assert set(answers) == set(SOURCES)


def test_without_pytorch_it_says_how_to_get_it(folder: Path, answers: Answers, tmp_path: Path) -> None:
    del answers
    request = ImportRequest(source="bert", folder=folder, output=tmp_path / "model.onnx")
    with pytest.raises(ToolError, match="transformers is without the package torch") as error:
        run(request, Store(tmp_path / "store"), Console(quiet=True))
    assert error.value.hint == "run: pip install 'mobpack[torch]'"
