"""Swift code of contracts: parameters, answers, and the names of classes."""

import re
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from packager.core.contract import Contract, TensorInput, TypedInput
from packager.core.errors import ModelError
from packager.core.findings import Report
from packager.core.values import ElementType, Package, Plan
from packager.targets.ios import Ios
from packager.targets.ios.answers import packed
from tests.golden.cases import CLASSES, CONTRACTS, IMAGE, PIXELS, SCORES, choice, on_ios, specs, typed

HOME = PurePosixPath("Sources/PicturesKit")
DIFFICULT = (
    "",
    "cat",
    " two  words ",
    'a "dog" \\ \\n \\(x)',
    "größe",
    "日本",
    "\U0001f408",
    "",
    "tab\tbed ",
    "",
    "$x#",
)


def texts(*plans: Plan) -> dict[str, str]:
    """Swift files by name."""
    target = Ios(providers=())
    view = target.view(Package(name="pictures", version="1.0.0", license=""), plans, Report(parities=()))
    return {path.stem: text for path, text in target.render(view).texts.items() if path.parent == HOME}


def classifier(**changes: object) -> Plan:
    """A picture in, classes out."""
    classes = replace(CLASSES, **changes)  # type: ignore[arg-type]
    return on_ios(typed("net", PIXELS, SCORES, Contract(inputs=(IMAGE,), outputs=(classes,))), choice("cpu"))


def read_back(lines: list[str]) -> list[str]:
    """The text that Swift reads in a literal of these lines."""
    known = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
    text = re.sub(
        r"\\(?:u\{([0-9A-F]+)\}|(.))",
        lambda found: chr(int(found[1], 16)) if found[1] else known[found[2]],
        "\n".join(lines),
    )
    return text.split("\n")


def test_names_of_classes_are_in_their_literal_or_refused() -> None:
    for count in range(1, len(DIFFICULT) + 1):
        for labels in (DIFFICULT[:count], DIFFICULT[-count:], DIFFICULT[:count] * 30):
            lines = list(packed(labels))
            assert read_back(lines) == list(labels)
            assert not [line for line in lines if line.endswith((" ", "\t")) or '"' in line.replace('\\"', "")]
    lines = list(packed(tuple(f"class number {number}" for number in range(1000))))
    assert len(lines) == 200
    assert max(map(len, lines)) <= 108
    long = "x" * 300
    assert list(packed(("a", long, "b"))) == ["a", long, "b"]
    assert list(packed((long, ""))) == [f"{long}\\n"], "no line of nothing"
    with pytest.raises(ModelError, match="has a line break"):
        texts(classifier(labels=("a\nb", "c", "d", "e")))
    text = texts(classifier(labels=("", "", "", "")))["Net"]
    assert "classificationsOf(output.logitsScores, [], top: top, threshold: 0.0)" in text
    assert "Labels" not in text


def test_a_package_has_the_files_of_its_kinds_alone() -> None:
    of_pictures = {"Picture", "Pixels", "SystemPictures", "Classification", "Labels"}
    others = {"Sound", "Detection", "Mask", "Reading", "Entity", "Ranked", "Similarity"}
    found = set(texts(classifier()))
    assert of_pictures <= found
    assert not others & found
    plain = replace(classifier(), model=replace(classifier().model, contract=None))
    assert not (of_pictures | others) & set(texts(plain))
    assert "case invalid" in texts(classifier())["ModelError"]
    assert "case invalid" not in texts(plain)["ModelError"]
    by_name = {plan.model.name: set(texts(on_ios(plan, choice("cpu")))) for plan in CONTRACTS}
    assert {"Sound", "Classification"} <= by_name["listener"]
    assert not of_pictures & by_name["listener"] - {"Classification", "Labels"}
    assert not {"Classification", "Labels"} & by_name["embedder"]
    assert {"Entity", "Labels", "CodePoints"} <= by_name["tagger"]
    assert {"Ranked", "Similarity", "CodePoints"} <= by_name["embedder"]
    assert not {"Similarity", "Entity", "Labels"} & by_name["ranker"]
    assert "Ranked" in by_name["ranker"]
    assert "case invalid" in texts(on_ios(CONTRACTS[5], choice("cpu")))["ModelError"]


def test_no_name_hides_another_and_numbers_are_swifts() -> None:
    taken = ("top", "output", "tensors", "cancellation", "carried", "answer")
    more = specs("input", *((name, ElementType.FLOAT, ("top", name)) for name in taken))
    inputs: list[TypedInput] = [IMAGE, *(TensorInput(identifier=spec.identifier, spec=spec) for spec in more)]
    made = typed("net", (*PIXELS, *more), SCORES, Contract(inputs=tuple(inputs), outputs=(CLASSES,)))
    text = texts(on_ios(made, choice("cpu")))["Net"]
    [method] = re.findall(r"private func answer\((.*?)\) throws", text, re.DOTALL)
    names = re.findall(r"_ (\w+):", method)
    assert len(names) == len(set(names)) == 1 + 2 * len(taken) + 1
    found = re.search(r"let (\w+) = try self.outputs\(of: (\w+), until: cancellation3\)", text)
    assert found
    assert f"let {found[2]}: [any Tensor] = [" in text
    assert not {found[1], found[2], "cancellation3"} & set(names)
    more = specs("input", ("words", ElementType.INT64, ("image", 2)))
    two_inputs = (IMAGE, TensorInput(identifier="words", spec=more[0]))
    by_path = texts(
        on_ios(typed("net", (*PIXELS, *more), SCORES, Contract(inputs=two_inputs, outputs=(CLASSES,))), choice("cpu"))
    )
    assert re.search(r"classify\(\s*image: some PictureConvertible, words: \[Int64\], image2: Int = 1,", by_path["Net"])
    assert 'Fed("words", words, [image2, 2])' in by_path["Net"]
    for threshold, written in [
        (0.25, "0.25"),
        (-1e39, "-3.4028234663852886e+38"),
        (float("inf"), "3.4028234663852886e+38"),
        (1e-7, "1e-07"),
    ]:
        assert f"threshold: {written})" in texts(classifier(threshold=threshold))["Net"]


def test_examples_pass_sizes_and_apples_types() -> None:
    more = specs("input", ("words", ElementType.INT64, ("batch", "length")))
    given = TensorInput(identifier="words", spec=more[0])
    text = texts(on_ios(typed("net", more, SCORES, Contract(inputs=(given,), outputs=(CLASSES,))), choice("cpu")))[
        "Net"
    ]
    assert "/// print(try await model.classify(words: words, length: 128))\n" in text
    assert "public func classify(words: [Int64], batch: Int = 1, length: Int, top: Int = 3) throws" in text
    assert texts(classifier())["Net"].count("_ image: some PictureConvertible") == 2
    files = texts(on_ios(CONTRACTS[-1], choice("cpu")))
    assert "predict(image: some PictureConvertible, lengths: [Int64], batch: Int = 1) throws" in files["Several"]
    for made in ("CVPixelBuffer", "CGImage", "UIImage"):
        assert f"extension {made}: PictureConvertible {{" in files["SystemPictures"]
