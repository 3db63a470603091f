"""Golden vectors: the file is safetensors with the same bytes every time, whole samples travel or none, and only what
the reference computes and the shipped files can compute is in it."""

import json
import struct
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from numpy.typing import NDArray

from packager import golden as step
from packager import parity, plan, quantization, vectors
from packager.config import ParityTable
from packager.console import Console
from packager.findings import Report
from packager.golden import golden_vectors
from packager.parity import ParitySettings, Subject, Tolerance
from packager.store import Store
from packager.targets.android import Android
from packager.values import ElementType, Package, Plan, Signature
from packager.vectors import Allowed, Computed, Golden, safetensors
from tests.golden.cases import specs
from tests.onnx_text import linear, loaded, onnx_model

Arrays = Mapping[str, NDArray[Any]]

PACKAGE = Package(name="vision", version="1.0.0", license="")
ABOUT = {"model": "m", "samples": "given"}
EVERY_TYPE: Arrays = {
    "flag": numpy.array([True, False]),
    "i8": numpy.array([-128, 127], numpy.int8),
    "u8": numpy.array([[0, 255]], numpy.uint8),
    "i16": numpy.array([-1, 2], numpy.int16),
    "u16": numpy.array([65535], numpy.uint16),
    "f16": numpy.array([numpy.nan, numpy.inf, 6e-8], numpy.float16),
    "i32": numpy.array(-7, numpy.int32),
    "u32": numpy.array([2**32 - 1], numpy.uint32),
    "f32": numpy.ones((0, 3), numpy.float32),
    "i64": numpy.array([-(2**40)], numpy.int64),
    "u64": numpy.array([2**64 - 1], numpy.uint64),
    "f64": numpy.array([[1e300, -0.0]]),
    "words": numpy.array([["", "日本"], ["a\0b", "🙂"]]),
    "no words": numpy.empty((2, 0), str),
}


def parsed(path: Path) -> tuple[dict[str, Any], bytes]:
    """Header and values of a file, read by the published description of the format."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def test_file_is_safetensors_as_published(tmp_path: Path) -> None:
    safetensors.write(tmp_path / "file", EVERY_TYPE, ABOUT)

    header, values = parsed(tmp_path / "file")

    about = header.pop("__metadata__")
    assert about | ABOUT == about
    assert all(isinstance(text, str) for text in about.values())
    ends = [0, *(entry["data_offsets"][1] for entry in header.values())]
    assert [entry["data_offsets"][0] for entry in header.values()] == ends[:-1], "values lie without gaps"
    assert ends[-1] == len(values)
    assert (len((tmp_path / "file").read_bytes()) - len(values)) % 8 == 0, "values start at a multiple of 8"
    names = {"flag": "BOOL", "f16": "F16", "f32": "F32", "f64": "F64", "u64": "U64", "i8": "I8", "words": "U8"}
    assert {name: header[name]["dtype"] for name in names} == names
    for name, array in EVERY_TYPE.items():
        start, end = header[name]["data_offsets"]
        assert start % array.dtype.itemsize == 0 or array.dtype.kind == "U", name
        if array.dtype.kind != "U":
            assert header[name]["shape"] == list(array.shape)
            found = numpy.frombuffer(values[start:end], array.dtype).reshape(array.shape)
            assert found.tobytes() == array.tobytes(), name


def test_strings_are_bytes_behind_their_length_and_have_their_shape_in_the_metadata(tmp_path: Path) -> None:
    safetensors.write(tmp_path / "file", EVERY_TYPE, ABOUT)

    header, values = parsed(tmp_path / "file")

    assert json.loads(header["__metadata__"]["strings"]) == {"words": [2, 2], "no words": [2, 0]}
    start, end = header["words"]["data_offsets"]
    assert header["words"]["shape"] == [end - start]
    assert values[start:end] == b"\0\0\0\0\6\0\0\0" + "日本".encode() + b"\3\0\0\0a\0b\4\0\0\0" + "🙂".encode()


def test_reading_says_where_every_tensor_lies(tmp_path: Path) -> None:
    safetensors.write(tmp_path / "file", EVERY_TYPE, ABOUT)

    about, places = safetensors.read(tmp_path / "file")

    assert about == ABOUT
    assert {name: place.shape for name, place in places.items()} == {n: a.shape for n, a in EVERY_TYPE.items()}
    kinds = (places["words"].element, places["f16"].element, places["flag"].element, places["u8"].element)
    assert kinds == (ElementType.STRING, ElementType.FLOAT16, ElementType.BOOL, ElementType.UINT8)
    content = (tmp_path / "file").read_bytes()
    f64 = places["f64"]
    assert content[f64.offset : f64.offset + f64.size_bytes] == EVERY_TYPE["f64"].tobytes()


def test_same_tensors_in_another_order_or_byte_order_give_the_same_bytes(tmp_path: Path) -> None:
    foreign = {name: array.astype(array.dtype.newbyteorder(">")) for name, array in EVERY_TYPE.items()}
    safetensors.write(tmp_path / "one", EVERY_TYPE, ABOUT)
    safetensors.write(tmp_path / "two", dict(reversed(foreign.items())), dict(reversed(ABOUT.items())))

    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert safetensors.size_of(EVERY_TYPE, ABOUT) == (tmp_path / "one").stat().st_size


SIGNATURE = Signature(
    inputs=specs("input", ("x", ElementType.FLOAT, ("n",)), ("y", ElementType.FLOAT, ("n",))),
    outputs=specs("output", ("z", ElementType.FLOAT, ("n",)), ("dice", ElementType.FLOAT, ())),
)


def computed(folder: Path, *sizes: int, other: int = 0, left_out: frozenset[int] = frozenset()) -> Computed:
    """A sample of every size: two inputs of so many numbers, and two outputs. `other` is what `y` has more."""
    samples, outputs = [], []
    for number, size in enumerate(sizes):
        numbers = numpy.random.default_rng(number).standard_normal(size + other).astype(numpy.float32)
        samples.append(folder / f"{number}.npz")
        numpy.savez(samples[-1], x=numbers[:size], y=numbers)
        outputs.append(folder / f"outputs-{number}")
        outputs[-1].mkdir()
        numpy.save(outputs[-1] / "0.npy", numbers[:size] * 2)
        numpy.save(outputs[-1] / "1.npy", numpy.float32(number))
    return Computed(samples=tuple(samples), outputs=tuple(outputs), left_out=left_out)


def test_samples_that_fit_travel_whole_and_others_stay(tmp_path: Path) -> None:
    reason = vectors.write(tmp_path / "file", SIGNATURE, computed(tmp_path, 8, 9000, 16), ABOUT, max_bytes=4096)

    file = vectors.read(tmp_path / "file")

    assert reason == ""
    assert [sample.inputs["x"].shape for sample in file.samples] == [(8,), (16,)]
    assert [sorted(sample.outputs) for sample in file.samples] == [["dice", "z"]] * 2
    assert file.size_bytes == (tmp_path / "file").stat().st_size <= 4096


def test_the_cap_holds_to_the_byte(tmp_path: Path) -> None:
    both = computed(tmp_path, 100, 100)
    assert vectors.write(tmp_path / "all", SIGNATURE, both, ABOUT, max_bytes=1 << 20) == ""
    size = (tmp_path / "all").stat().st_size

    vectors.write(tmp_path / "same", SIGNATURE, both, ABOUT, max_bytes=size)
    vectors.write(tmp_path / "less", SIGNATURE, both, ABOUT, max_bytes=size - 1)

    assert [len(vectors.read(tmp_path / name).samples) for name in ("all", "same", "less")] == [2, 2, 1]


@pytest.mark.parametrize("size", [300, 300_000])
def test_no_file_is_written_when_no_sample_fits(tmp_path: Path, size: int) -> None:
    reason = vectors.write(tmp_path / "file", SIGNATURE, computed(tmp_path, size), ABOUT, max_bytes=2048)

    assert reason == "no sample fits into 2 KiB with its outputs; raise golden-max-kib in [parity]"
    assert not (tmp_path / "file").exists()


def test_random_outputs_stay_at_home(tmp_path: Path) -> None:
    made = computed(tmp_path, 4)
    vectors.write(tmp_path / "file", SIGNATURE, replace(made, left_out=frozenset({1})), ABOUT, max_bytes=4096)
    assert list(vectors.read(tmp_path / "file").samples[0].outputs) == ["z"]

    everything = replace(made, left_out=frozenset({0, 1}))
    reason = vectors.write(tmp_path / "none", SIGNATURE, everything, ABOUT, max_bytes=4096)
    assert reason == "all its outputs are random"


def test_a_self_test_is_short(tmp_path: Path) -> None:
    vectors.write(tmp_path / "file", SIGNATURE, computed(tmp_path, *[2] * 12), ABOUT, max_bytes=1 << 20)
    assert len(vectors.read(tmp_path / "file").samples) == vectors.MAX_SAMPLES == 8


def test_a_sample_that_no_app_could_pass_stays(tmp_path: Path) -> None:
    reason = vectors.write(tmp_path / "file", SIGNATURE, computed(tmp_path, 4, other=1), ABOUT, max_bytes=4096)
    assert reason == "the samples give dimension 'n' several sizes, an app gives it one"


BRANCHES = "(float[1, 64] x) => (float[1, 64] y, float[1, 64] r) { y = Abs (x) r = RandomNormalLike (x) }"
PICKY = "(float[2] x, int64[1] s) => (float[n] y) { y = Reshape (x, s) }"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the store lies that the tests share."""
    return tmp_path_factory.mktemp("golden")


@pytest.fixture(scope="module")
def one(folder: Path) -> Plan:
    """y = x @ w + b, with a file for XNNPACK and one for the CPU."""
    return planned(folder, linear(), "xnnpack")


def planned(folder: Path, proto: onnx.ModelProto, *providers: str, name: str = "m") -> Plan:
    model = loaded(folder, proto, name)
    target = Android(providers=providers)
    return plan.make(quantization.own_numbers(model, "source"), target, Store(folder / "store"), lambda text: None)


def on_cpu(plan: Plan) -> Plan:
    """`plan` with the CPU's file alone."""
    return replace(plan, choices=plan.choices[-1:])


def settings_of(subject: Subject) -> ParitySettings:
    return ParitySettings(tolerance=parity.default_tolerance(subject.variant))


def made(folder: Path, one: Plan, **keys: Any) -> tuple[Golden, list[str]]:
    """The vectors, and what the user is told. `keys` are those of [parity]."""
    console = Console(quiet=True)
    table = ParityTable(**{key.replace("_", "-"): value for key, value in keys.items()})
    return golden_vectors([one], table, settings_of, Store(folder / "store"), console), console.warnings


def only(golden: Golden) -> vectors.GoldenFile:
    (file,) = {each.golden.sha256: each.golden for each in golden.values()}.values()
    return file


def numbers(file: vectors.GoldenFile, place: safetensors.Place) -> NDArray[numpy.float32]:
    return numpy.frombuffer(file.path.read_bytes(), numpy.float32, prod(place.shape), place.offset).reshape(place.shape)


def test_every_file_of_a_model_gets_two_random_samples_and_what_the_original_makes_of_them(
    folder: Path, one: Plan
) -> None:
    golden, warnings = made(folder, one)

    assert warnings == []
    assert len(golden) == 2
    assert set(golden) == {("m", each.sha256) for each in one.files}
    assert all(each.allowed == {"y": Allowed(share=1e-3)} for each in golden.values())
    file = only(golden)
    w, b = (onnx.numpy_helper.to_array(each) for each in linear().graph.initializer)
    for sample in file.samples:
        x, y = (numbers(file, place) for place in (sample.inputs["x"], sample.outputs["y"]))
        assert numpy.allclose(y, x @ w + b, atol=1e-5)
    assert len(file.samples) == 2
    assert file.about == {
        "model": "m",
        "model-sha256": one.model.sha256,
        "variant": "source",
        "samples": "2 random, seed 0",
        "seed": "0",
        "tolerance": '{"y": 0.001}',
    }


def test_vectors_are_kept_by_content(folder: Path, one: Plan) -> None:
    first, _ = made(folder, on_cpu(one))
    kept = {path: path.stat().st_mtime_ns for path in (folder / "store" / "golden").iterdir()}

    again, _ = made(folder, on_cpu(one))
    assert again == first
    assert {path: path.stat().st_mtime_ns for path in (folder / "store" / "golden").iterdir()} == kept

    other, _ = made(folder, on_cpu(one), seed=1)
    assert only(other).sha256 != only(first).sha256


def test_the_users_samples_stay_at_home_unless_asked_for(folder: Path, one: Plan) -> None:
    secret = numpy.full((1, 64), 0.125, numpy.float32)
    numpy.savez(folder / "secret.npz", x=secret)

    closed, _ = made(folder, on_cpu(one), samples=folder / "secret.npz", seed=2)
    told, _ = made(folder, on_cpu(one), samples=folder / "secret.npz", golden="samples")

    assert secret.tobytes() not in only(closed).path.read_bytes()
    assert len(only(closed).samples) == 2
    assert numpy.array_equal(numbers(only(told), only(told).samples[0].inputs["x"]), secret)
    assert (len(only(told).samples), "seed" in only(told).about) == (1, False)


def test_without_vectors_nothing_is_run(tmp_path: Path, one: Plan) -> None:
    assert made(tmp_path, one, golden="none") == ({}, [])
    assert not (tmp_path / "store").exists()


def test_a_random_output_is_left_out(folder: Path) -> None:
    golden, warnings = made(folder, planned(folder, onnx_model(BRANCHES), name="branches"))

    assert [list(sample.outputs) for sample in only(golden).samples] == [["y"], ["y"]]
    assert warnings == []


def test_a_model_whose_samples_are_too_large_has_no_vectors_and_the_user_is_told(folder: Path) -> None:
    few = onnx_model("(float[1, 300] x) => (float[1, 300] y) { y = Relu (x) }")
    golden, warnings = made(folder, planned(folder, few, name="few"), golden_max_kib=1)
    assert golden == {}
    assert warnings == [
        "model 'few' has no self-test on android: no sample fits into 1 KiB with its outputs; "
        "raise golden-max-kib in [parity]"
    ]


def test_a_model_that_refuses_random_inputs_has_no_vectors(folder: Path) -> None:
    golden, warnings = made(folder, planned(folder, onnx_model(PICKY), name="picky"))

    assert golden == {}
    (warning,) = warnings
    assert warning.startswith("model 'picky' has no self-test on android: the original model 'picky' runs on none of")


def test_what_a_shipped_file_does_not_compute_is_no_vector(folder: Path, one: Plan) -> None:
    foreign = planned(folder, linear(seed=5), name="foreign").cpu
    wrong = replace(one.choices[-1], compiled=replace(foreign, variant=one.cpu.variant))

    golden, warnings = made(folder, replace(one, choices=(wrong,)))

    assert golden == {}
    (warning,) = warnings
    where = "model 'm' has no self-test on android: the fixed file, on 2 random, seed 0: output 'y': max abs error"
    assert warning.startswith(where)
    assert 'golden = "samples"' in warning


def test_an_output_is_allowed_what_the_user_allows_it() -> None:
    assert step.share(Tolerance(max_rel_error=0.25), general=1e-3, measured=0.1) == 0.25
    assert step.share(Tolerance(min_cosine=0.99), general=1e-3, measured=1e-6) == 1e-3
    assert step.share(Tolerance(min_cosine=0.99), general=1e-3, measured=0.1) == 0.2


def test_files_that_are_compared_with_different_graphs_have_vectors_of_their_own(folder: Path, one: Plan) -> None:
    """A variant with weights of its own is compared with its own graph, a file of the float model with the model."""
    other = replace(one.cpu.variant, graph=b"another", weights=folder / "weights")
    quantized = replace(one.cpu, variant=other, sha256="0" * 64)
    both = replace(one, choices=(*one.choices[:-1], replace(one.choices[-1], compiled=quantized)))

    families = step.families(both)

    assert [each.original.graph for each in families] == [one.model.graph, b"another"]
    assert [[subject.sha256 for subject in each.subjects] for each in families] == [
        [one.choices[0].compiled.sha256],
        ["0" * 64],
    ]


def test_a_package_carries_its_vectors_as_assets_and_its_classes_know_them(folder: Path, one: Plan) -> None:
    golden, _ = made(folder, one)
    target = Android(providers=("xnnpack",))

    view = target.view(PACKAGE, (one,), Report(parities=()), golden=golden)
    sources = target.render(view)

    (asset,) = [each for each in view.assets if each.path.endswith(".safetensors")]
    assert asset.path == "mobpack/vision/m.golden.safetensors"
    assert asset.file.stat().st_size == asset.size_bytes
    (text,) = [text for path, text in sources.texts.items() if path.name == "M.kt"]
    assert asset.sha256 in text
    assert "public fun selfTest(): SelfTest" in text
    assert any(path.name == "SelfTest.kt" for path in sources.texts)
    assert any(str(path).endswith(asset.path) for path in sources.files)


def test_a_model_with_vectors_for_some_of_its_files_only_has_no_self_test(folder: Path, one: Plan) -> None:
    golden, _ = made(folder, one)
    target = Android(providers=("xnnpack",))

    view = target.view(PACKAGE, (one,), Report(parities=()), golden=dict(list(golden.items())[:1]))

    sources = target.render(view)
    assert not [each.path for each in view.assets if each.path.endswith(".safetensors")]
    assert not any("selfTest" in text or path.name == "SelfTest.kt" for path, text in sources.texts.items())
