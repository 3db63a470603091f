"""Android: the Kotlin view of a contract, before a template prints it."""

import re
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from packager.core.contract import Contract, TensorInput, TensorOutput
from packager.core.errors import ModelError
from packager.core.findings import Report
from packager.core.values import ElementType, Plan, Signature, TensorSpec
from packager.targets.android import Android
from packager.targets.kotlin.sources import RESOURCES_ROOT
from packager.targets.kotlin.view import ModelView, TypedView
from tests.golden.cases import (
    AUDIO,
    BOXES,
    CASES,
    CLASSES,
    IMAGE,
    IMAGE_CLASSIFIER,
    MASK,
    NEXT_STATES,
    PIXELS,
    PLACES,
    SCORES,
    SOUND,
    STATE,
    STATES,
    plan,
    reshaped,
    specs,
)

PACKAGE = CASES["contracts"].package
BASE = PurePosixPath("src/main/kotlin/com/example/contracts")
TYPED_FILES = set(
    """
    Classification CodePoints Detection Entity Mask Orientation Picture PixelFormat Ranked Reading Similarity Sound
    """.split()
)


def with_contract(
    inputs: tuple[TensorSpec, ...], outputs: tuple[TensorSpec, ...], contract: Contract, name: str = "net"
) -> Plan:
    made = plan(name, Signature(inputs=inputs, outputs=outputs))
    return replace(made, model=replace(made.model, contract=contract))


CLASSIFIER = with_contract(PIXELS, SCORES, Contract(inputs=(IMAGE,), outputs=(CLASSES,)))


def shown(made: Plan, report: Report | None = None) -> ModelView:
    return Android().view(PACKAGE, (made,), report or Report(parities=())).models[0]


def method(made: Plan, report: Report | None = None) -> TypedView:
    view = shown(made, report).typed
    assert view is not None
    return view


def files(*plans: Plan) -> set[str]:
    """Names of the Kotlin files that concern contracts."""
    target = Android()
    texts = target.render(target.view(PACKAGE, plans, Report(parities=()))).texts
    return {path.stem for path in texts if path.parent == BASE} & (TYPED_FILES | {"Values"})


def test_a_package_has_the_files_that_its_contracts_need_and_no_others() -> None:
    listener = with_contract(SOUND, SCORES, Contract(inputs=(AUDIO,), outputs=(CLASSES,)), name="listener")
    detector = with_contract(PIXELS, (), Contract(inputs=(IMAGE,), outputs=(BOXES,)), name="detector")
    detector = replace(detector, model=replace(detector.model, signature=CASES["contracts"].plans[1].model.signature))
    assert files(CLASSIFIER) == {"Classification", "Orientation", "Picture", "PixelFormat", "Values"}
    assert files(listener) == {"Classification", "Sound", "Values"}
    assert files(detector) == {"Detection", "Orientation", "Picture", "PixelFormat", "Values"}
    assert files(*CASES["contracts"].plans) == TYPED_FILES | {"Values"}
    made = [plan(name, Signature(inputs=PIXELS, outputs=SCORES)) for name in ("picture", "mask", "net")]
    assert files(*made) == set()
    named = [each.class_name for each in Android().view(PACKAGE, tuple(made), Report(parities=())).models]
    assert named == ["PictureModel", "MaskModel", "Net"]
    assert IMAGE_CLASSIFIER.plans[0].model.contract is None


def test_types_and_names_of_contracts_hide_nothing() -> None:
    made = (plan("picture", Signature(inputs=PIXELS, outputs=SCORES)), CLASSIFIER)
    named = [each.class_name for each in Android().view(PACKAGE, made, Report(parities=())).models]
    assert named == ["PictureModel", "Net"]
    samples = replace(SOUND[0], element=ElementType.INT16)
    audio = replace(AUDIO, samples=samples)
    view = method(with_contract((samples, SOUND[1]), SCORES, Contract(inputs=(audio,), outputs=(CLASSES,))))
    assert view.arguments[0].value == "audio.shorts()"


def test_every_tensor_and_size_of_an_input_comes_from_a_parameter_or_a_state() -> None:
    audio = Contract(inputs=(AUDIO, STATE), outputs=(CLASSES,))
    view = method(with_contract((*SOUND, *STATES), (*SCORES, *NEXT_STATES), audio))
    assert {each.identifier: each.value for each in view.arguments} == {
        "audioSamples": "audio.floats()",
        "audioRate": "audio.rateTensor",
        "state": "carried.state",
        "audioFrames": "audio.frames",
        "audioChannels": "audio.channels",
    }
    assert [(each.identifier, each.kotlin_type) for each in view.parameters] == [("audio", "Sound")]


def test_no_parameter_hides_what_the_method_calls_and_no_size_hides_a_tensor() -> None:
    names = ("run", "session", "classify", "top", "batch")
    inputs = specs("input", *((name, ElementType.FLOAT, ("batch", "run")) for name in names))
    contract = Contract(
        inputs=tuple(TensorInput(identifier=spec.identifier, spec=spec) for spec in inputs), outputs=(CLASSES,)
    )
    view = method(with_contract(inputs, SCORES, contract))
    assert [each.identifier for each in view.parameters] == [
        "run2",
        "session2",
        "classify2",
        "top",
        "batch",
        "batch2",
        "run22",
    ]
    assert view.top == "top2"
    assert view.about.endswith("[top2] limits their number.")
    assert {each.identifier: each.value for each in view.arguments}["run"] == "run2"


def test_a_bitmap_is_taken_where_a_picture_is_all_that_there_is_to_pass() -> None:
    lengths = specs("input", ("lengths", ElementType.INT64, (2,)))
    more = Contract(inputs=(IMAGE, TensorInput(identifier="lengths", spec=lengths[0])), outputs=(CLASSES,))
    with_more = with_contract((*PIXELS, *lengths), SCORES, more)
    for made, takes_bitmap in ((CLASSIFIER, True), (with_more, False)):
        view = shown(made)
        assert view.typed is not None
        assert view.typed.takes_bitmap is takes_bitmap
        assert ("android.graphics.Bitmap" in view.imports) is takes_bitmap


def test_inputs_of_fixed_sizes_need_no_shape_and_numbers_are_those_of_kotlin() -> None:
    places = tuple(replace(spec, shape=(4, 6)) for spec in PLACES)
    mask = replace(MASK, classes=places[0], scores=places[1])
    fixed = method(with_contract(PIXELS, places, Contract(inputs=(IMAGE,), outputs=(mask,))))
    dynamic = method(with_contract(PIXELS, PLACES, Contract(inputs=(IMAGE,), outputs=(MASK,))))
    assert fixed.results[0].value == "maskOf(output.maskClasses, output.maskScores, longArrayOf(4, 6), emptyList())"
    assert dynamic.results[0].value.endswith("output.maskScores, output.maskClassesShape, emptyList())")
    for threshold, printed in [
        (0.0, "0.0f"),
        (0.25, "0.25f"),
        (1e-7, "1e-07f"),
        (-3.4028234663852886e38, "-Float.MAX_VALUE"),
    ]:
        classes = replace(CLASSES, threshold=threshold)
        view = method(with_contract(PIXELS, SCORES, Contract(inputs=(IMAGE,), outputs=(classes,))))
        assert view.results[0].value == f"classificationsOf(output.logitsScores, {LABELS}, top, {printed})"


def test_states_are_copied_and_tensors_bring_their_shape() -> None:
    contract = Contract(inputs=(AUDIO, STATE), outputs=(CLASSES,))
    made = with_contract((*SOUND, *STATES), (*SCORES, *NEXT_STATES), contract)
    assert method(made).states[0].is_pinned
    assert not method(made, reshaped("net", "stateN")).states[0].is_pinned
    raw = specs("output", ("raw", ElementType.FLOAT, ("n",)), ("rawShape", ElementType.FLOAT, (2,)))
    outputs = tuple(TensorOutput(identifier=spec.identifier, spec=spec) for spec in raw)
    view = method(with_contract(PIXELS, raw, Contract(inputs=(IMAGE,), outputs=outputs)))
    assert [each.identifier for each in view.results] == ["raw", "rawShape2", "rawShape"]
    assert (view.verb, view.kotlin_type, view.top) == ("predict", "Prediction", "")


LABELS = 'linesOf("com/example/contracts/Net.logits.labels.txt")'


def test_labels_lie_in_a_file_among_javas_resources_whatever_they_are() -> None:
    labels = ("", 'a "dog"', "größe\\$x", "x" * 500, "", "")
    made = with_contract(PIXELS, SCORES, Contract(inputs=(IMAGE,), outputs=(replace(CLASSES, labels=labels),)))
    target = Android()
    texts = target.render(target.view(PACKAGE, (made,), Report(parities=()))).texts
    (path,) = [path for path in texts if path.is_relative_to(RESOURCES_ROOT)]
    assert texts[path] == "".join(f"{label}\n" for label in labels)
    (kotlin,) = [text for text in texts.values() if f'linesOf("{path.relative_to(RESOURCES_ROOT)}")' in text]
    assert "größe" not in kotlin


def test_a_label_with_a_line_break_is_refused() -> None:
    with pytest.raises(ModelError, match="model 'net': 'logits': label 1 has a line break"):
        method(
            with_contract(
                PIXELS, SCORES, Contract(inputs=(IMAGE,), outputs=(replace(CLASSES, labels=("a", "b\nc", "d", "e")),))
            )
        )


ANSWERS_AT_ONCE = {"chat", "generate", "reset", "allocate", "stream"}
"""functions that neither suspend nor block: they make a Flow, memory, a first state, or a stream"""
FUNCTION = re.compile(
    r"((?:^ +@\w+(?:\(.*\))?(?: @.*)?\n)*)^ +public (?:open )?(suspend )?fun (?:<[^>]*> )?(\w+)\(", re.MULTILINE
)


@pytest.mark.parametrize("case", ["contracts", "everything", "delivered"])
def test_plain_names_suspend_and_those_that_block_say_so_in_name_and_annotation(case: str) -> None:
    texts = CASES[case].texts()
    models = [text for text in texts.values() if "companion object : ModelLoader<" in text]
    bases = [texts[path] for path in texts if path.stem in ("ModelLoader", "SelfTestingModel", "TypedModel")]
    assert models
    for text in models:
        found = FUNCTION.findall("".join([*bases, text]))
        suspending = {name for _, suspends, name in found if suspends}
        blocking = {name: annotations for annotations, suspends, name in found if not suspends}
        assert {name for name in blocking if not name.endswith("Blocking")} <= ANSWERS_AT_ONCE
        assert {name.removesuffix("Blocking") for name in blocking if name.endswith("Blocking")} == suspending
        assert all("@WorkerThread" in each for name, each in blocking.items() if name.endswith("Blocking"))
        assert {"load", "run", "warmUp", "profile", "removeDownloads"} <= suspending
