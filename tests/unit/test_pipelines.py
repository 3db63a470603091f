"""Pipelines: mistakes in their tables, models that do not fit, parts of pictures, and the order of stages."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from packager import config
from packager.core.contract import Contract
from packager.core.crops import Region, StoredArrays, region_of
from packager.core.errors import ConfigError, ModelError
from packager.core.pipeline import Pipeline, Stage
from packager.description import Language
from packager.samples.sample import Arrays
from packager.targets import KNOWN_TARGETS
from packager.targets.cpp import Cpp
from packager.verification.pipelines import Outputs, run
from packager.workflows.pipelines import pipeline_of, refuse_unpipelined
from tests.golden import cases

CONTRACTS: Mapping[str, Contract | None] = {
    "finder": Contract(inputs=(cases.IMAGE,), outputs=(cases.BOXES,)),
    "reader": Contract(inputs=(cases.IMAGE,), outputs=(cases.TEXT,)),
    "pose": Contract(inputs=(cases.IMAGE,), outputs=(cases.KEYPOINTS,)),
    "voice": Contract(inputs=(cases.AUDIO,), outputs=(cases.CLASSES,)),
    "both": Contract(inputs=(cases.IMAGE,), outputs=(cases.BOXES, cases.CLASSES)),
    "moving": Contract(inputs=(cases.IMAGE, cases.STATE), outputs=(cases.CLASSES,)),
    "bare": None,
}
MODELS = "".join(f'[model.{name}]\npath = "{name}.onnx"\n' for name in CONTRACTS)
STAGES = {"line": 'model = "finder"', "text": 'model = "reader"\neach = "line"'}


def project(folder: Path, *, name: str = "ocr", stages: Mapping[str, str] = STAGES, keys: str = "") -> config.Config:
    tables = "".join(f"[pipeline.{name}.stages.{stage}]\n{table}\n" for stage, table in stages.items())
    text = f'[package]\nname = "p"\n{MODELS}[pipeline.{name}]\n{keys}\n{tables}'
    (folder / "mobpack.toml").write_text(text, encoding="utf-8")
    return config.load(folder / "mobpack.toml")


@pytest.mark.parametrize(
    ("stages", "message", "hint"),
    [
        (
            {**STAGES, "text": 'model = "raeder"\neach = "line"'},
            "pipeline.ocr.stages.text.model: the project has no model 'raeder'",
            "did you mean 'reader'?",
        ),
        (
            {**STAGES, "text": 'model = "reader"\neach = "lines"'},
            "pipeline.ocr.stages.text.each: no stage 'lines'",
            "did you mean 'line'?",
        ),
        (
            {"a": 'model = "finder"\neach = "b"', "b": 'model = "reader"\neach = "a"'},
            "pipeline.ocr.stages: the stages form a cycle: a -> b -> a",
            "remove 'each' of the stage that gets the whole picture",
        ),
        (
            {"line": 'model = "finder"', "text": 'model = "reader"'},
            "pipeline.ocr.stages: line and text get the whole picture, and one stage alone can",
            'let the others run on its boxes: each = "line"',
        ),
        (
            {**STAGES, "word": 'model = "reader"\neach = "text"'},
            "pipeline.ocr.stages.word.each: 'text' runs on each box itself, and lists within lists are not supported",
            'each = "line"',
        ),
        (
            {"line": 'model = "finder"'},
            "pipeline.ocr.stages: a pipeline of 1 stages",
            "add a stage that runs on each box of the first one",
        ),
        (
            {**STAGES, "line": 'model = "finder"\nmin-score = 0.5'},
            "pipeline.ocr.stages.line: 'min-score' has no effect without 'each'",
            "remove it, or set score-threshold of the model's output",
        ),
        (
            {**STAGES, "text": 'model = "reader"\neach = "line"\nwhen = 1'},
            "pipeline.ocr.stages.text: unknown key 'when'",
            "known: model, each, min-score",
        ),
        (
            {**STAGES, "self-test": 'model = "reader"\neach = "line"'},
            "pipeline.ocr.stages.self-test: generated code uses the name 'selfTest' itself",
            "name the stage after what it finds, for example line or text",
        ),
        (
            {**STAGES, "a-b": 'model = "reader"\neach = "line"', "a_b": 'model = "reader"\neach = "line"'},
            "pipeline.ocr.stages: 'a-b' and 'a_b' have the same name in generated code, aB",
            "rename one of them",
        ),
    ],
)
def test_mistakes_in_the_tables_are_named(tmp_path: Path, stages: Mapping[str, str], message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as error:
        project(tmp_path, stages=stages)
    assert (error.value.message, error.value.hint) == (message, hint)


@pytest.mark.parametrize("name", ["finder", "Finder", "finder-outputs"])
def test_a_pipeline_has_a_class_of_its_own(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"pipeline.{name} and model.finder have the same class name"):
        project(tmp_path, name=name)


@pytest.mark.parametrize(
    ("finder", "reader", "message", "hint"),
    [
        (
            "reader",
            "reader",
            """line: model 'reader' gives text (kind = "text"), and boxes (kind = "boxes") are what 'text' gets""",
            "these models fit: finder",
        ),
        (
            "both",
            "reader",
            'line: model \'both\' gives boxes (kind = "boxes") and classes (kind = "classes"), and boxes '
            "(kind = \"boxes\") are what 'text' gets",
            "these models fit: finder",
        ),
        (
            "finder",
            "voice",
            "text: each box of 'line' gives a picture (kind = \"image\"), and model 'voice' takes audio "
            '(kind = "audio")',
            "these models fit: finder, reader, pose, both",
        ),
        (
            "bare",
            "reader",
            "line: the stage gets a picture (kind = \"image\"), and model 'bare' takes tensors: it has no contract",
            "these models fit: finder, reader, pose, both",
        ),
        (
            "finder",
            "moving",
            "text: each box of 'line' gives a picture (kind = \"image\"), and model 'moving' takes a state from run to "
            "run",
            "these models fit: finder, reader, pose, both",
        ),
        (
            "finder",
            "pose",
            "text: model 'pose' gives keypoints (kind = \"keypoints\"): places in the part of the picture, not in the "
            "picture",
            "use a model without places in each box, for example of classes, an embedding or a text",
        ),
    ],
)
def test_models_that_do_not_fit_are_named_with_those_that_do(
    tmp_path: Path, finder: str, reader: str, message: str, hint: str
) -> None:
    found = project(tmp_path, stages={"line": f'model = "{finder}"', "text": f'model = "{reader}"\neach = "line"'})
    with pytest.raises(ConfigError) as error:
        pipeline_of("ocr", found.pipeline["ocr"], CONTRACTS)
    assert (error.value.message, error.value.hint) == (f"pipeline.ocr.stages.{message}", hint)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_box_of_the_upright_picture_is_the_same_pixels_of_the_stored_one(orientation: int) -> None:
    upright = np.arange(5 * 7, dtype=np.uint8).reshape(5, 7, 1)
    swaps = orientation >= 5
    turned = upright
    if orientation in (3, 4, 7, 8):
        turned = turned[::-1]
    if orientation in (2, 3, 6, 7):
        turned = turned[:, ::-1]
    stored = turned.swapaxes(0, 1) if swaps else turned
    found = region_of((1.2, 0.9, 3.1, 2.0), stored.shape[1], stored.shape[0], orientation)
    cut = stored[found.top : found.bottom, found.left : found.right]
    assert sorted(cut.reshape(-1)) == sorted(upright[0:2, 1:4].reshape(-1))


def test_a_box_always_has_a_pixel_of_the_picture_and_whole_samples_of_chroma() -> None:
    nan, inf = float("nan"), float("inf")
    assert region_of((-5, 3, -1, 2), 8, 6) == Region(0, 3, 1, 4)
    assert region_of((90, 90, 95, 95), 8, 6) == Region(7, 5, 8, 6)
    assert region_of((nan, -inf, inf, nan), 8, 6) == Region(0, 0, 1, 1)
    assert region_of((3.5, 1, 5, 2), 8, 6, is_even=True) == Region(2, 0, 6, 2)


PIPELINE = Pipeline(
    name="ocr",
    finder=Stage(name="line", identifier="line", model="finder"),
    readers=(
        Stage(name="text", identifier="text", model="reader", min_score=0.7),
        Stage(name="kind", identifier="kind", model="reader"),
    ),
    max_items=3,
)


def ran(scores: Sequence[float]) -> tuple[list[tuple[str, list[tuple[int, ...]]]], Mapping[str, Sequence[int]]]:
    """Models that ran, with the shapes of what they got, and the boxes that each stage has results of."""
    calls: list[tuple[str, list[tuple[int, ...]]]] = []

    def compute(name: str, given: Sequence[Arrays]) -> Sequence[Outputs]:
        calls.append((name, [each[cases.IMAGE.pixels.name].shape for each in given]))
        boxes: NDArray[np.float32] = np.array([[0, 0, 2 + each, 3] for each in range(len(scores))], np.float32)
        found = {cases.BOXES.boxes.name: boxes.reshape(-1, 4), cases.BOXES.scores.name: np.array(scores, np.float32)}
        return [found for _ in given]

    picture = StoredArrays(
        pixels=np.zeros((10, 10, 4), np.uint8),
        channels=np.array([0, 1, 2]),
        chroma=np.zeros((1, 1, 1), np.uint8),
        conversion=np.zeros(3, np.int64),
        orientation=np.array(1),
    )
    contracts = {name: each for name, each in CONTRACTS.items() if each}
    found = run(PIPELINE, contracts, picture, compute)
    return calls, {name: [*each] for name, each in found.read.items()}


def test_stages_run_on_the_part_in_each_box_in_the_order_of_boxes() -> None:
    calls, read = ran([0.9, 0.7, 0.6999])
    assert calls == [
        ("finder", [(10, 10, 4)]),
        ("reader", [(3, 2, 4), (3, 3, 4)]),
        ("reader", [(3, 2, 4), (3, 3, 4), (3, 4, 4)]),
    ]
    assert read == {"text": [0, 1], "kind": [0, 1, 2]}


def test_no_boxes_give_no_items_and_too_many_are_refused() -> None:
    assert ran([])[1] == {"text": [], "kind": []}
    with pytest.raises(ModelError) as error:
        ran([0.9] * 4)
    assert error.value.message == ("pipeline 'ocr': stage 'line' found 4 boxes, and the pipeline takes 3")
    assert error.value.hint == "raise max in [pipeline.ocr], or score-threshold of model 'finder'"


def test_a_language_without_pipelines_refuses_a_project_that_has_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Plain(Cpp):
        LANGUAGE = Language(name="plain")

    monkeypatch.setitem(KNOWN_TARGETS, "plain", Plain)
    refuse_unpipelined(project(tmp_path), ["cpp", "node"])
    with pytest.raises(ConfigError, match=r"pipeline\.ocr: the code for plain cannot run pipelines yet") as raised:
        refuse_unpipelined(project(tmp_path), ["plain", "android"])
    assert "these can: " in str(raised.value.hint)
