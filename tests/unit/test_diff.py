"""`mobpack diff`: what has changed between two releases, and whether the version number says so."""

import gzip
import io
import json
import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from click.testing import CliRunner, Result

from packager.cli.diff import diff as command
from packager.core.contract import Contract
from packager.core.errors import ConfigError, GateError, ToolError
from packager.core.findings import OutputError, Parity, Report
from packager.core.values import Artifact, Package, Plan
from packager.description import API, printed
from packager.distribution import release
from packager.distribution.differences import (
    Comparison,
    Level,
    archives,
    compare,
    manifests,
    measurements,
    models,
    read,
    shipping,
)
from packager.distribution.differences.values import Change
from packager.files.hashes import sha256_of
from packager.files.zips import write_zip
from packager.targets import TARGETS, WRAPPERS, Shipped
from packager.targets.typescript.tarball import write_tarball
from tests.cases.differences_cases import ANDROID, IOS, LABELS, REACT_NATIVE, TENSORS, classifier, texts_of
from tests.golden.cases import CLASSES, IMAGE, PIXELS, SCORES, Case, Wrapped, api_of, choice, typed

KINDS = {"android": "aar", "ios": "swift-package", "react_native": "npm-package"}
MANIFEST = (
    '<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="com.example.changes">'
    '<uses-sdk android:minSdkVersion="{min_sdk}" /></manifest>'
)
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><groupId>com.example</groupId>
<artifactId>changes</artifactId><version>{version}</version>
<licenses><license><name>MIT</name></license></licenses>
<dependencies><dependency><groupId>com.microsoft.onnxruntime</groupId><artifactId>onnxruntime-android</artifactId>
<version>{runtime}</version></dependency></dependencies></project>"""
TYPED = classifier("typed")
PARITY = Parity(
    model="typed",
    variant="source",
    runner="cpu",
    sample_count=3,
    samples="3 random",
    tolerance=1e-3,
    outputs=(OutputError(output="logits.scores", max_abs_error=1e-4, max_rel_error=1e-4, scale=1.0, worst_sample=0),),
)


REPORT = Report(parities=(PARITY,))


@dataclass(frozen=True, kw_only=True)
class Build:
    """Ingredients of a release."""

    version: str = "1.2.3"
    plans: tuple[Plan, ...] = (TENSORS, TYPED)
    report: Report = REPORT
    license: str = "MIT"
    min_sdk: int = 24
    runtime: str = "1.29.0"
    processors: tuple[str, ...] = ("arm64-v8a", "x86_64")
    options: Mapping[str, Any] | None = None
    targets: tuple[str, ...] = ("android",)
    warnings: tuple[str, ...] = ()
    size_bytes: int = 100


OLD = Build()
WHOLE = replace(OLD, targets=tuple(KINDS))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return written(OLD, tmp_path / "old")


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """With packages of all targets."""
    return written(WHOLE, tmp_path / "whole")


def written(build: Build, folder: Path) -> Path:
    """A release without the files of models: nothing in them is compared."""
    shipped = [each for target in build.targets for each in PACKED[target](build, folder)]
    package = Package(name="changes", version=build.version, license=build.license)
    text = release.manifest(
        package,
        build.plans,
        build.report,
        shipped,
        options=build.options or {},
        runtimes={"android": f"com.microsoft.onnxruntime:onnxruntime-android:{build.runtime}"},
        warnings=build.warnings,
    )
    (folder / release.MANIFEST).write_text(text, encoding="utf-8")
    found = release.evidence(build.report, warnings=(), contradictions=())
    (folder / release.EVIDENCE).write_text(found, encoding="utf-8")
    return folder


def _android(build: Build, folder: Path) -> list[Shipped]:
    stem = f"android/changes-{build.version}"
    texts = _texts("android", build.plans)
    aar = {
        "META-INF/com.example.changes/api.json": texts[API.name].encode(),
        "AndroidManifest.xml": MANIFEST.format(min_sdk=build.min_sdk).encode(),
        "classes.jar": bytes(build.size_bytes),
        **{f"jni/{each}/libonnxruntime.so": b"" for each in build.processors},
    }
    _zip(folder / f"{stem}.aar", aar)
    _zip(folder / f"{stem}-sources.jar", {"com/example/changes/Typed.kt": b""})
    pom = folder / f"maven/changes-{build.version}.pom"
    pom.parent.mkdir()
    pom.write_text(POM.format(version=build.version, runtime=build.runtime), encoding="utf-8")
    return [
        _shipped(folder, f"{stem}.aar", "android", "aar"),
        _shipped(folder, f"{stem}-sources.jar", "android", "sources-jar"),
        _shipped(folder, pom.relative_to(folder).as_posix(), "android", "maven"),
    ]


def _ios(build: Build, folder: Path) -> list[Shipped]:
    path = f"swift/changes-{build.version}.zip"
    texts = _texts("ios", build.plans)
    _zip(folder / path, {f"changes-{build.version}/{name}": text.encode() for name, text in texts.items()})
    return [_shipped(folder, path, "ios", "swift-package")]


def _react_native(build: Build, folder: Path) -> list[Shipped]:
    path = folder / f"npm/react-native-changes-{build.version}.tgz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for name, text in _texts("react_native", build.plans).items():
            content = text.replace('"version": "1.0.0"', f'"version": "{build.version}"').encode()
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return [_shipped(folder, path.relative_to(folder).as_posix(), "react_native", "npm-package")]


PACKED: Mapping[str, Callable[[Build, Path], list[Shipped]]] = {
    "android": _android,
    "ios": _ios,
    "react_native": _react_native,
}


RENDERED: dict[tuple[str, str], dict[str, str]] = {}


def _texts(target: str, plans: tuple[Plan, ...]) -> dict[str, str]:
    """Every text of a package, rendered once; providers are compared by the manifest alone."""
    alone = tuple(replace(each, choices=(choice("cpu"),)) for each in plans)
    key = target, repr(alone)
    if key not in RENDERED:
        RENDERED[key] = _rendered(target, alone)
    return RENDERED[key]


def _rendered(target: str, plans: tuple[Plan, ...]) -> dict[str, str]:
    android = replace(ANDROID, plans=plans)
    ios = replace(IOS, plans=tuple(replace(each, target="ios") for each in plans))
    cases: dict[str, Case | Wrapped] = {
        "android": android,
        "ios": ios,
        "react_native": replace(REACT_NATIVE, android=android, ios=ios),
    }
    case = cases[target]
    return {**texts_of(case.sources()), API.name: printed(api_of(case))}


def _zip(path: Path, entries: Mapping[str, bytes]) -> None:
    write_zip(path, {PurePosixPath(name): content for name, content in entries.items()})


def _shipped(folder: Path, path: str, target: str, kind: str) -> Shipped:
    file = folder / path
    found = Artifact(target=target, kind=kind, path=file, sha256=sha256_of(file), size_bytes=file.stat().st_size)
    return Shipped(artifact=found, path=path)


def compared(old: Path, build: Build) -> Comparison:
    return compare(read(old), read(written(build, old.parent / "new")))


def of_level(found: Comparison, level: Level) -> list[str]:
    return [f"{each.where}: {each.change}" for each in found.changes if each.level is level]


def with_labels(*labels: str) -> tuple[Plan, ...]:
    return TENSORS, classifier("typed", labels=labels)


def erring(error: float, tolerance: float = 1e-3, agreement: float | None = None) -> Report:
    (output,) = PARITY.outputs
    output = replace(output, max_rel_error=error, top1_agreement=agreement)
    return Report(parities=(replace(PARITY, outputs=(output,), tolerance=tolerance),))


def with_contract(**settings: object) -> dict[str, Any]:
    return {"contract": {"typed": {"inputs": {"image": {"kind": "image", **settings}}, "outputs": {}}}}


def with_outputs(**settings: object) -> dict[str, Any]:
    return {"contract": {"typed": {"inputs": {}, "outputs": {"logits": {"kind": "classes", **settings}}}}}


def with_range(oldest: str) -> dict[str, Any]:
    return {"target": {"android": {"runtime-range": oldest}}}


def provided(*providers: str) -> tuple[Plan, ...]:
    return TENSORS, replace(TYPED, choices=tuple(map(choice, providers)))


def test_packages_of_every_target_are_read_and_equal_releases_differ_in_nothing(whole: Path) -> None:
    assert set(KINDS) | {"web", "flutter", "python", "cpp", "jvm", "node"} == set(TARGETS) | set(WRAPPERS)
    found = compare(read(whole), read(whole))
    assert (found.verdict, found.changes, found.bump.is_enough) == (Level.NONE, (), True)


CASES: Sequence[tuple[str, Build, Build, Level, str]] = (
    ("min sdk", OLD, replace(OLD, min_sdk=26), Level.MAJOR, "android: needs Android API level 26, was 24"),
    ("older sdk", OLD, replace(OLD, min_sdk=21), Level.MINOR, "android: needs Android API level 21, was 24"),
    ("processor gone", OLD, replace(OLD, processors=("x86_64",)), Level.MAJOR, "android: no library for arm64-v8a"),
    (
        "processor new",
        OLD,
        replace(OLD, processors=("arm64-v8a", "armeabi-v7a", "x86_64")),
        Level.MINOR,
        "android: library for armeabi-v7a",
    ),
    ("target gone", WHOLE, replace(OLD, targets=("android", "ios")), Level.MAJOR, "react_native: package is gone"),
    ("target new", OLD, WHOLE, Level.MINOR, "ios: new package"),
    ("model gone", OLD, replace(OLD, plans=(TYPED,)), Level.MAJOR, "android: Kotlin: class Given is gone"),
    ("model new", replace(OLD, plans=(TENSORS,)), OLD, Level.MINOR, "typed: new model"),
    (
        "labels moved",
        OLD,
        replace(OLD, plans=with_labels(LABELS[1], LABELS[0], *LABELS[2:])),
        Level.MAJOR,
        'typed: output logits: labels in another order: cat 0 -> 1, a "dog" 1 -> 0',
    ),
    (
        "label reworded",
        OLD,
        replace(OLD, plans=with_labels("tiger", *LABELS[1:])),
        Level.MAJOR,
        "typed: output logits: other labels: cat -> tiger",
    ),
    ("licence", OLD, replace(OLD, license="AGPL-3.0"), Level.MAJOR, "package: licence AGPL-3.0, was MIT"),
    ("provider new", OLD, replace(OLD, plans=provided("xnnpack", "cpu")), Level.MINOR, "typed on android: providers"),
    ("provider gone", replace(OLD, plans=provided("xnnpack", "cpu")), OLD, Level.MINOR, "typed on android: providers"),
    (
        "order of providers",
        replace(OLD, plans=provided("xnnpack", "nnapi", "cpu")),
        replace(OLD, plans=provided("nnapi", "xnnpack", "cpu")),
        Level.MINOR,
        "typed on android: order of providers nnapi, xnnpack, cpu, was xnnpack, nnapi, cpu",
    ),
    (
        "runtime",
        OLD,
        replace(OLD, runtime="1.30.0"),
        Level.MINOR,
        "android: runs on com.microsoft.onnxruntime:onnxruntime-android 1.30.0, was 1.29.0",
    ),
    (
        "major runtime",
        OLD,
        replace(OLD, runtime="2.0.0"),
        Level.MAJOR,
        "android: runs on com.microsoft.onnxruntime:onnxruntime-android 2.0.0, was 1.29.0",
    ),
    (
        "error beyond the tolerance",
        OLD,
        replace(OLD, report=erring(3e-3, tolerance=2e-3)),
        Level.MINOR,
        "typed: output logits.scores on cpu: worst error 0.003 of the scale, was 0.0001",
    ),
    (
        "error within the tolerance",
        OLD,
        replace(OLD, report=erring(9e-4)),
        Level.PATCH,
        "typed: output logits.scores on cpu: worst error 0.0009 of the scale, was 0.0001",
    ),
    (
        "agreement",
        replace(OLD, report=erring(1e-4, agreement=1.0)),
        replace(OLD, report=erring(1e-4, agreement=0.9)),
        Level.MINOR,
        "typed: output logits.scores on cpu: largest number is the original's in 90.0% of rows, was 100.0%",
    ),
    (
        "normalization",
        replace(OLD, options=with_contract(mean=[0.5])),
        replace(OLD, options=with_contract(mean=[0.4])),
        Level.MINOR,
        "typed: input image: mean [0.5] is now [0.4]",
    ),
    (
        "activation",
        replace(OLD, options=with_outputs(activation="softmax")),
        replace(OLD, options=with_outputs(activation="sigmoid")),
        Level.MAJOR,
        "typed: output logits: activation softmax is now sigmoid",
    ),
    (
        "tokenizer",
        replace(OLD, options=with_contract(tokenizer="t.json", **{"tokenizer-sha256": "a"})),
        replace(OLD, options=with_contract(tokenizer="t.json", **{"tokenizer-sha256": "b"})),
        Level.MINOR,
        "typed: input image: other tokenizer: t.json",
    ),
    (
        "runtime range",
        replace(OLD, options=with_range("1.27")),
        replace(OLD, options=with_range("1.28")),
        Level.MAJOR,
        "android: oldest ONNX Runtime of an app: 1.28, was 1.27",
    ),
    ("size", OLD, replace(OLD, size_bytes=500), Level.PATCH, "android: package"),
    ("warning", OLD, replace(OLD, warnings=("old opset",)), Level.PATCH, "package: new warning: old opset"),
)


@pytest.mark.parametrize(
    ("before", "after", "level", "words"), [each[1:] for each in CASES], ids=[each[0] for each in CASES]
)
def test_a_change_has_its_level(before: Build, after: Build, level: Level, words: str, tmp_path: Path) -> None:
    found = compared(written(before, tmp_path / "old"), after)
    assert found.verdict is level, found.changes
    assert any(each.startswith(words) for each in of_level(found, level)), of_level(found, level)
    assert all(each.reason for each in found.changes)


def test_other_weights_behind_an_equal_interface_are_a_patch(old: Path) -> None:
    model = replace(TYPED.model, sha256="1" * 64)
    found = compared(old, replace(OLD, version="1.2.4", plans=(TENSORS, replace(TYPED, model=model))))
    assert (found.verdict, found.bump.is_enough) == (Level.PATCH, True)
    assert "typed: other graph or weights" in of_level(found, Level.PATCH)


def test_a_model_with_equal_weights_and_another_name_is_renamed(tmp_path: Path) -> None:
    def named(name: str) -> tuple[Plan, ...]:
        made = typed(name, PIXELS, SCORES, Contract(inputs=(IMAGE,), outputs=(CLASSES,)))
        return TENSORS, replace(made, model=replace(made.model, sha256="2" * 64))

    found = compared(written(replace(OLD, plans=named("typed")), tmp_path / "old"), replace(OLD, plans=named("seer")))
    assert "typed: renamed to seer" in of_level(found, Level.MAJOR)
    assert not any("new model" in each.change for each in found.changes)


def test_whether_a_version_is_raised_enough() -> None:
    for old, new, level, is_enough, needed in [
        ("1.2.3", "1.2.4", Level.PATCH, True, "1.2.4"),
        ("1.2.3", "1.2.4", Level.MINOR, False, "1.3.0"),
        ("1.2.3", "1.3.0", Level.MINOR, True, "1.3.0"),
        ("1.2.3", "1.9.0", Level.MAJOR, False, "2.0.0"),
        ("1.2.3", "2.0.0", Level.MAJOR, True, "2.0.0"),
        ("1.2.3", "1.2.3", Level.PATCH, False, "1.2.4"),
        ("1.2.3", "1.2.3", Level.NONE, True, "1.2.3"),
        ("1.2.3", "1.2.2", Level.NONE, False, "1.2.3"),
        ("1.2.3", "2.0.0-beta.1", Level.MAJOR, True, "2.0.0"),
        ("2.0.0-beta.1", "2.0.0-beta.2", Level.MAJOR, True, "2.0.0"),
        ("2.0.0-beta.10", "2.0.0-beta.9", Level.PATCH, False, "2.0.0"),
        ("0.4.1", "0.5.0", Level.MAJOR, True, "0.5.0"),
        ("0.4.1", "0.4.2", Level.MAJOR, False, "0.5.0"),
        ("0.4.1", "0.4.2", Level.MINOR, True, "0.4.2"),
        ("2024.1", "2024.2", Level.PATCH, False, ""),
    ]:
        from packager.distribution.differences.versions import bump

        found = bump(old, new, level)
        assert (found.is_enough, found.needed) == (is_enough, needed)
        assert new in found.sentence or old in found.sentence


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments])


def test_the_result_is_printed_heaviest_first(old: Path) -> None:
    done = run(
        old, written(replace(OLD, version="1.2.4", min_sdk=26, runtime="1.30.0", size_bytes=9), old.parent / "new")
    )
    assert done.exit_code == 0, done.output
    assert done.stdout.index("major") < done.stdout.index("minor") < done.stdout.index("patch")
    assert "major: 1.2.3 -> 1.2.4 is too small a step: use 2.0.0 or later" in done.stdout


def test_json_has_every_change_with_its_reason(old: Path) -> None:
    new = written(replace(OLD, version="2.0.0", min_sdk=26), old.parent / "new")
    document = json.loads(run(old, new, "--json").stdout)
    assert (document["schema-version"], document["verdict"]) == (1, "major")
    assert document["bump"] == {
        "old": "1.2.3",
        "new": "2.0.0",
        "is-enough": True,
        "needed": "2.0.0",
        "sentence": "1.2.3 -> 2.0.0 is enough",
    }
    assert document["changes"][0] == {
        "level": "major",
        "where": "android",
        "change": "needs Android API level 26, was 24",
        "reason": "apps that support older ones cannot take it",
        "is-internal": False,
    }


def test_the_page_is_the_same_every_time_and_escapes_what_it_shows(old: Path, tmp_path: Path) -> None:
    plans = with_labels("<script>", *LABELS[1:])
    new = written(replace(OLD, plans=plans), tmp_path / "new")
    for name in ("a.html", "b.html"):
        assert run(old, new, "--page", tmp_path / name).exit_code == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page == (tmp_path / "b.html").read_text(encoding="utf-8")
    assert "cat -&gt; &lt;script&gt;" in page
    assert "<script" not in page


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (replace(OLD, version="2.0.0", min_sdk=26), "major"),
        (replace(OLD, version="1.2.4", runtime="1.30.0"), "too small a step: use 1.3.0"),
        (replace(OLD, size_bytes=999), "both are 1.2.3"),
    ],
)
def test_the_gate_refuses_major_changes_and_small_steps(old: Path, tmp_path: Path, build: Build, words: str) -> None:
    new = written(build, tmp_path / "new")
    done = run(old, new, "--fail-on-breaking", "--page", tmp_path / "page.html")
    assert isinstance(done.exception, GateError)
    assert words in done.exception.message
    assert done.exception.document["verdict"]
    assert (tmp_path / "page.html").is_file()
    assert run(old, new).exit_code == 0


def test_gates_let_patches_pass_and_others_major_changes(old: Path, tmp_path: Path) -> None:
    major = written(replace(OLD, version="2.0.0", min_sdk=26), tmp_path / "major")
    assert run(old, major, "--fail-on-version").exit_code == 0
    minor = written(replace(OLD, version="1.3.0", min_sdk=26), tmp_path / "minor")
    done = run(old, minor, "--fail-on-version")
    assert isinstance(done.exception, GateError)
    assert done.exception.message == "--fail-on-version: 1.2.3 -> 1.3.0 is too small a step: use 2.0.0 or later"
    new = written(replace(OLD, version="1.2.4", size_bytes=999), tmp_path / "new")
    assert run(old, new, "--fail-on-breaking").exit_code == 0


@pytest.mark.parametrize(("target", "pattern"), [("android", "*.aar"), ("ios", "*.zip"), ("react_native", "*.tgz")])
def test_packages_alone_are_compared_by_what_is_in_them(whole: Path, target: str, pattern: str) -> None:
    new = written(replace(WHOLE, version="2.0.0", plans=(TYPED,), min_sdk=30), whole.parent / "new")
    before, after = (next(each.rglob(pattern)) for each in (whole, new))
    found = compare(read(before), read(after))
    assert (found.verdict, found.bump.old, found.bump.new) == (Level.MAJOR, "1.2.3", "2.0.0")
    assert any("Given" in each.change and "gone" in each.change for each in found.changes)
    assert any("name the dist folders" in each for each in found.not_compared)


def test_a_folder_of_a_maven_repository_is_a_release_and_one_around_it_is_none(old: Path, tmp_path: Path) -> None:
    for version in ("1.0.0", "1.1.0"):
        home = tmp_path / f"maven/com/example/changes/{version}"
        home.mkdir(parents=True)
        for file in [*old.glob("android/*"), *old.glob("maven/*")]:
            shutil.copy(file, home / file.name.replace("1.2.3", version))
    home = tmp_path / "maven/com/example/changes"
    assert compare(read(home / "1.0.0"), read(home / "1.1.0")).verdict is Level.NONE
    with pytest.raises(ConfigError, match="2 libraries") as caught:
        read(tmp_path / "maven")
    assert "com/example/changes/1.0.0" in caught.value.hint
    pom = next(old.rglob("*.pom"))
    for aar in old.glob("android/*"):
        shutil.copy(aar, pom.parent)
    with pytest.raises(ConfigError, match="is not a release, but") as caught:
        read(old.parent)
    assert caught.value.hint == f"name {old}"


@pytest.mark.parametrize("pattern", ["*.aar", "*.tgz", "*.zip"])
def test_a_package_of_an_earlier_mobpack_is_refused(whole: Path, pattern: str) -> None:
    package = next(whole.rglob(pattern))
    entries = archives.contents(package).texts
    texts = {name: text.encode() for name, text in entries.items() if not name.endswith(API.name)}
    if pattern == "*.tgz":
        write_tarball(package, {PurePosixPath(name).relative_to("package"): text for name, text in texts.items()})
    else:
        _zip(package, texts)
    with pytest.raises(ConfigError, match=r"has no api\.json") as caught:
        read(package)
    assert "build a package of an earlier mobpack again" in caught.value.hint


def test_equal_kinds_and_changes_are_compared_once(whole: Path, old: Path) -> None:
    with pytest.raises(ConfigError, match="single package"):
        compare(read(whole), read(next(whole.rglob("*.aar"))))
    with pytest.raises(ConfigError, match="nothing to compare"):
        compare(read(next(whole.rglob("*.aar"))), read(next(whole.rglob("*.zip"))))
    found = compared(old, replace(OLD, plans=(TENSORS, classifier("typed", top_k=1))))
    assert len(found.changes) == len(set(found.changes))
    assert Change in {type(each) for each in found.changes}


def edited(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    path = folder / release.MANIFEST
    document = json.loads(path.read_text(encoding="utf-8"))
    edit(document)
    path.write_text(json.dumps(document), encoding="utf-8")


BROKEN: Mapping[str, Callable[[Path], object]] = {
    "no such file or folder": shutil.rmtree,
    "is not a release of mobpack": lambda old: (old / "manifest.json").unlink(),
    "is not a manifest of mobpack": lambda old: (old / "manifest.json").write_text("[" * 5000),
    "is not a manifest": lambda old: (old / "manifest.json").write_text('{"schema-version": 1}'),
    "is not a manifest of": lambda old: edited(old, lambda found: found.update(models=3)),
    "has schema version 3": lambda old: edited(old, lambda found: found.update({"schema-version": 3})),
    "names a file outside": lambda old: edited(old, lambda found: found["artifacts"][0].update(path="../x.aar")),
}


@pytest.mark.parametrize("words", BROKEN)
def test_what_is_no_release_is_refused_and_nothing_is_written(old: Path, tmp_path: Path, words: str) -> None:
    new = written(replace(OLD, version="1.2.4"), tmp_path / "new")
    BROKEN[words](old)
    done = run(old, new, "--page", tmp_path / "page.html")
    assert isinstance(done.exception, ConfigError)
    assert words in done.exception.message
    assert done.exception.hint
    assert not (tmp_path / "page.html").exists()


def places(found: object, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Paths of all values in JSON; of a list, the last entry is shown for all."""
    inside: Sequence[tuple[str | int, object]] = ()
    if isinstance(found, dict):
        inside = list(found.items())
    elif isinstance(found, list):
        inside = list(enumerate(found))[-1:]
    for key, value in inside:
        yield (*above, key)
        yield from places(value, (*above, key))


def test_whatever_a_manifest_says_is_compared_or_refused_in_words(tmp_path: Path) -> None:
    options = {**with_contract(mean=[0.5]), **with_range("1.27")}
    old = written(replace(OLD, options=options, plans=provided("xnnpack", "cpu")), tmp_path / "old")
    text = (old / release.MANIFEST).read_text(encoding="utf-8")
    before = manifests.read(old)
    refused = tried = 0
    odd: object
    for path, odd in product(places(json.loads(text)), (3, None, [{}], {"x": 3})):
        document = json.loads(text)
        inside = document
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = odd
        (old / release.MANIFEST).write_text(json.dumps(document), encoding="utf-8")
        tried += 1
        after = None
        with suppress(ConfigError):
            after = manifests.read(old)
        if after is None:
            refused += 1
            continue
        for one, other in ((before, after), (after, before)):
            found = [*models.changes(one.models, other.models), *measurements.changes(one, other)]
            found += [*shipping.manifests(one, other)]
            assert all(each.reason for each in found), (path, odd)
    assert 0 < refused < tried > 400


@pytest.mark.parametrize("pattern", ["*.aar", "*.tgz", "*.zip"])
@pytest.mark.parametrize("alone", [True, False])
def test_damaged_packages_are_refused(whole: Path, pattern: str, alone: bool) -> None:
    path = next(whole.rglob(pattern))
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(ToolError) as caught:
        read(path if alone else whole)
    assert caught.value.hint
    assert str(path) in caught.value.message


def test_a_package_that_is_cut_or_not_the_manifests_is_refused(whole: Path, old: Path, tmp_path: Path) -> None:
    path = next(whole.rglob("*.tgz"))
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ToolError, match=r"cannot read .*\.tgz"):
        read(path)
    other = written(replace(OLD, size_bytes=7), old.parent / "other")
    shutil.copy(next(other.rglob("*.aar")), next(old.rglob("*.aar")))
    with pytest.raises(ToolError, match=r"not the file that manifest\.json describes"):
        read(old)
    _zip(tmp_path / "other.zip", {"other-1.0/Package.swift": b"// swift-tools-version: 5.9"})
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        entry = tarfile.TarInfo("package/package.json")
        entry.size = 2
        tar.addfile(entry, io.BytesIO(b"{}"))
    (tmp_path / "other.tgz").write_bytes(gzip.compress(content.getvalue()))
    (tmp_path / "other.txt").write_text("no package")
    for name in ("other.zip", "other.tgz", "other.txt"):
        with pytest.raises(ConfigError, match="not a package") as caught:
            read(tmp_path / name)
        assert caught.value.hint


def test_labels_that_an_older_manifest_lacks_are_said_not_to_be_compared(old: Path) -> None:
    options = with_contract()
    old = written(replace(OLD, options=options), old.parent / "before")
    edited(old, lambda found: [each.pop("contract", None) for each in found["models"]])
    found = compared(old, replace(OLD, options=options, plans=with_labels(*LABELS[::-1])))
    assert any("labels and kinds of typed" in each for each in found.not_compared)
    assert not any("labels" in each.change for each in found.changes)
