"""Golden vectors: the file is safetensors with the same bytes every time, whole samples ship or none, random inputs
as recipes, and only values that both the reference and the shipped files can compute."""

import json
import re
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from numpy.typing import NDArray

from packager import vectors
from packager.compile import plan
from packager.config.checks import ParityTable
from packager.core.console import Console
from packager.core.findings import Report
from packager.core.values import ElementType, Package, Plan, Signature, baseline
from packager.engines.runners import RUNNERS, Runnable
from packager.files.store import Store
from packager.targets.android import Android
from packager.vectors import Allowed, Computed, Golden, ValuesRecipe, generated, safetensors
from packager.verification import golden as step
from packager.verification import golden_tolerances, parity
from packager.verification.golden import golden_vectors
from packager.verification.parity import ParitySettings, Subject, Tolerance
from tests.golden.cases import specs
from tests.onnx_text import linear, loaded, onnx_model, weight
from tests.toolchain.forks import forked

__all__ = ["forked"]
processes = pytest.mark.processes
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


@pytest.mark.parametrize("name", EVERY_TYPE)
def test_values_are_read_as_they_were_written(tmp_path: Path, name: str) -> None:
    safetensors.write(tmp_path / "file", EVERY_TYPE, ABOUT)
    _, places = safetensors.read(tmp_path / "file")

    found = safetensors.values(tmp_path / "file", places[name])

    assert (found.shape, found.dtype.kind) == (EVERY_TYPE[name].shape, EVERY_TYPE[name].dtype.kind)
    if found.dtype.kind == "U":
        assert found.tolist() == EVERY_TYPE[name].tolist()
    else:
        assert found.tobytes() == EVERY_TYPE[name].tobytes()


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
    assert reason == "the samples have several sizes for dimension 'n', an app has one"


def with_recipes(made: Computed, *inputs: str) -> Computed:
    """`made`, with inputs that are what recipes make."""
    recipes = []
    for number, path in enumerate(made.samples):
        with numpy.load(path) as arrays:
            own = {name: arrays[name] for name in arrays.files}
        recipes.append({name: floats(*own[name].shape, seed=number) for name in inputs})
        numpy.savez(path, **{**own, **{name: generated.values(each) for name, each in recipes[-1].items()}})
    return replace(made, recipes=tuple(recipes))


def floats(*shape: int, seed: int) -> ValuesRecipe:
    return ValuesRecipe(element=ElementType.FLOAT, shape=shape, seed=seed, low=-1, high=1, row=0)


def test_random_inputs_travel_as_recipes_that_make_them_anew(tmp_path: Path) -> None:
    made = with_recipes(computed(tmp_path, 500, 600), "x")
    assert vectors.write(tmp_path / "file", SIGNATURE, made, ABOUT, max_bytes=1 << 20) == ""

    file = vectors.read(tmp_path / "file")

    header, _ = parsed(tmp_path / "file")
    assert sorted(name for name in header if name.startswith("0.")) == [
        "0.input.y",
        "0.output.dice",
        "0.output.z",
        "0.recipe.x",
    ]
    for sample, path in zip(file.samples, made.samples, strict=True):
        found, wanted = vectors.inputs_of(file, sample), numpy.load(path)
        assert sorted(found) == sorted(wanted) == ["x", "y"]
        assert all(found[name].tobytes() == wanted[name].tobytes() for name in found)
    assert file.about == ABOUT


def test_json_and_the_four_numbers_of_a_recipe_say_the_same(tmp_path: Path) -> None:
    vectors.write(tmp_path / "file", SIGNATURE, with_recipes(computed(tmp_path, 9), "x"), ABOUT, max_bytes=4096)

    header, _ = parsed(tmp_path / "file")
    (sample,) = vectors.read(tmp_path / "file").samples

    said = {"kind": "splitmix64", "element": "float", "shape": [9], "seed": f"0x{0:016x}", "low": -1, "high": 1}
    assert json.loads(header["__metadata__"]["generated"]) == {"0.input.x": {**said, "row": 0}}
    place = sample.inputs["x"]
    assert (header["0.recipe.x"]["dtype"], header["0.recipe.x"]["shape"]) == ("I64", [4])
    assert (place.element, place.shape, place.size_bytes) == (ElementType.FLOAT, (9,), 32)
    numbers = numpy.frombuffer((tmp_path / "file").read_bytes(), numpy.int64, 4, place.offset)
    assert numbers.tolist() == generated.stored(sample.recipes["x"]).tolist() == [0, -1, 1, 0]


def test_values_that_are_no_longer_than_a_recipe_travel_themselves(tmp_path: Path) -> None:
    vectors.write(tmp_path / "file", SIGNATURE, with_recipes(computed(tmp_path, 8, 9), "x"), ABOUT, max_bytes=4096)
    assert [list(sample.recipes) for sample in vectors.read(tmp_path / "file").samples] == [[], ["x"]]


def test_only_what_is_stored_counts_against_the_cap(tmp_path: Path) -> None:
    """A photograph of 640 x 640 goes in, and a few numbers come out."""
    signature = Signature(inputs=specs("input", ("x", ElementType.FLOAT, (3, 640, 640))), outputs=SIGNATURE.outputs[1:])
    made = computed(tmp_path, 1, 1)
    recipes = [{"x": floats(3, 640, 640, seed=number)} for number in range(2)]
    for path, each in zip(made.samples, recipes, strict=True):
        numpy.savez(path, x=generated.values(each["x"]))
    for outputs in made.outputs:
        (outputs / "1.npy").rename(outputs / "0.npy")

    anew = replace(made, recipes=tuple(recipes))
    assert vectors.write(tmp_path / "file", signature, anew, ABOUT, max_bytes=2048) == ""
    assert len(vectors.read(tmp_path / "file").samples) == 2
    assert vectors.write(tmp_path / "none", signature, made, ABOUT, max_bytes=2048).startswith("no sample fits into")


BRANCHES = "(float[1, 64] x) => (float[1, 64] y, float[1, 64] r) { y = Abs (x) r = RandomNormalLike (x) }"
PICKY = "(float[2] x) => (float y) { i = Constant <value = int64 {5}> () y = Gather (x, i) }"


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
    return plan.make(baseline(model, "source"), target, Store(folder / "store"), lambda text: None)


def on_cpu(plan: Plan) -> Plan:
    """`plan` with the CPU's file alone."""
    return replace(plan, choices=plan.choices[-1:])


def settings_of(subject: Subject) -> ParitySettings:
    return ParitySettings(tolerance=parity.default_tolerance(subject.variant))


def made(folder: Path, one: Plan, **keys: Any) -> tuple[Golden, list[str]]:
    """The vectors, and the warnings that `--strict` counts. `keys` are those of [parity]."""
    console = Console(quiet=True)
    table = ParityTable(**{key.replace("_", "-"): value for key, value in keys.items()})
    return golden_vectors([one], table, settings_of, Store(folder / "store"), console), console.warnings


def only(golden: Golden) -> vectors.GoldenFile:
    (file,) = {each.golden.sha256: each.golden for each in golden.values()}.values()
    return file


@processes
def test_every_file_of_a_model_gets_two_random_samples_and_what_the_original_makes_of_them(
    folder: Path, one: Plan
) -> None:
    golden, warnings = made(folder, one)

    assert warnings == []
    assert len(golden) == 2
    assert set(golden) == {("m", each.sha256) for each in one.files}
    file = only(golden)
    largest = max(float(abs(vectors.outputs_of(file, sample)["y"]).max()) for sample in file.samples)
    scale = float(f"{largest:.3g}")
    assert all(each.allowed == {"y": Allowed(rtol=1e-3, atol=1e-5, scale=scale)} for each in golden.values())
    w, b = (onnx.numpy_helper.to_array(each) for each in linear().graph.initializer)
    for sample in file.samples:
        x, y = vectors.inputs_of(file, sample)["x"], vectors.outputs_of(file, sample)["y"]
        assert numpy.allclose(y, x @ w + b, atol=1e-5)
        assert list(sample.recipes) == ["x"]
    seeds = [sample.recipes["x"].seed for sample in file.samples]
    assert seeds == [generated.seed_of(0, sample=number, index=0) for number in (0, 1)]
    assert file.about == {
        "model": "m",
        "model-sha256": one.model.sha256,
        "variant": "source",
        "samples": "2 random, seed 0",
        "seed": "0",
        "tolerance": json.dumps({"y": {"rtol": 1e-3, "atol": 1e-5, "scale": scale}}),
    }


@processes
def test_what_parity_has_run_is_not_run_again(one: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone, _ = made(tmp_path / "alone", one)
    (cpu,) = RUNNERS["cpu"]("")
    references = parity.OriginalOutputs(tmp_path)
    for number, each in enumerate(one.files):
        subject, scratch = Subject(variant=each.variant, compiled=each), tmp_path / str(number)
        scratch.mkdir()
        assert not parity.check(subject, cpu, settings_of(subject), scratch, references).parity.has_failed
    opened: list[Runnable] = []
    open_session = type(cpu).open

    def counted(self: Any, model: Runnable, folder: Path) -> Any:
        opened.append(model)
        return open_session(self, model, folder)

    monkeypatch.setattr(type(cpu), "open", counted)
    store = Store(tmp_path / "store")
    golden = golden_vectors([one], ParityTable(), settings_of, store, Console(quiet=True), references)
    assert len(opened) == 1, "for samples whose last bits differ, which parity needs for errors alone"
    assert not opened[0].is_optimized
    assert only(golden).path.read_bytes() == only(alone).path.read_bytes()
    assert {key: each.allowed for key, each in golden.items()} == {key: each.allowed for key, each in alone.items()}


TOKENS = """(int64[batch, seq] ids, int64[batch, seq] mask, string[7] words, int64 k) => (float[batch, seq, 3] y,
    int64[batch, seq] m, string[7] w, int64 n)
    { y = Gather (table, ids) m = Identity (mask) w = Identity (words) n = Identity (k) }"""


@processes
def test_indices_stay_below_the_table_masks_hide_nothing_first_and_words_travel(folder: Path) -> None:
    table = numpy.arange(300, dtype=numpy.float32).reshape(100, 3)
    golden, warnings = made(folder, planned(folder, onnx_model(TOKENS, weights={"table": table}), name="tokens"))

    assert warnings == []
    file = only(golden)
    for sample in file.samples:
        inputs, outputs = vectors.inputs_of(file, sample), vectors.outputs_of(file, sample)
        assert numpy.array_equal(outputs["y"], table[inputs["ids"]])
        assert (inputs["ids"].min(), inputs["ids"].max(), inputs["ids"].shape) >= (0, 50, (1, 64))
        assert inputs["mask"][0, 0] == 1
        assert set(inputs["mask"].ravel()) == {0, 1}
        assert set(inputs["words"]) <= {"", "a", "mobile", "Zürich", "two words", "0"}
        assert len(set(inputs["words"])) > 1
        assert sorted(sample.recipes) == ["ids", "mask"]
        assert all(numpy.array_equal(outputs[b], inputs[a]) for a, b in (("mask", "m"), ("words", "w"), ("k", "n")))
    assert file.about["samples"] == "2 random, seed 0, ids 1x64, mask 1x64"


NARROW = "(float[2, width] x) => (float[2, 3] y) { y = MatMul (x, w) }"


@processes
def test_open_sizes_are_the_first_that_the_model_takes(folder: Path) -> None:
    weights = {"w": weight(16, 3)}
    golden, warnings = made(folder, planned(folder, onnx_model(NARROW, weights=weights), name="narrow"))

    assert warnings == []
    shapes = {name: each.shape for name, each in only(golden).samples[0].recipes.items()}
    assert shapes == {"x": (2, 16)}
    assert only(golden).about["samples"] == "2 random, seed 0, x 2x16"


@processes
def test_vectors_are_kept_by_content(folder: Path, one: Plan) -> None:
    first, _ = made(folder, on_cpu(one))
    kept = {path: path.stat().st_mtime_ns for path in (folder / "store" / "golden").iterdir()}

    again, _ = made(folder, on_cpu(one))
    assert again == first
    assert {path: path.stat().st_mtime_ns for path in (folder / "store" / "golden").iterdir()} == kept

    other, _ = made(folder, on_cpu(one), seed=1)
    assert only(other).sha256 != only(first).sha256


@processes
def test_the_users_samples_stay_at_home_unless_asked_for(folder: Path, one: Plan) -> None:
    secret = numpy.full((1, 64), 0.125, numpy.float32)
    numpy.savez(folder / "secret.npz", x=secret)

    closed, _ = made(folder, on_cpu(one), samples=folder / "secret.npz", seed=2)
    told, _ = made(folder, on_cpu(one), samples=folder / "secret.npz", golden="samples")

    assert secret.tobytes() not in only(closed).path.read_bytes()
    assert len(only(closed).samples) == 2
    assert only(told).samples[0].recipes == {}
    assert numpy.array_equal(vectors.inputs_of(only(told), only(told).samples[0])["x"], secret)
    assert (len(only(told).samples), "seed" in only(told).about) == (1, False)


@processes
def test_without_vectors_nothing_is_run(tmp_path: Path, one: Plan) -> None:
    assert made(tmp_path, one, golden="none") == ({}, [])
    assert not (tmp_path / "store").exists()


@processes
def test_a_random_output_is_left_out(folder: Path) -> None:
    golden, warnings = made(folder, planned(folder, onnx_model(BRANCHES), name="branches"))

    assert [list(sample.outputs) for sample in only(golden).samples] == [["y"], ["y"]]
    assert warnings == []


@processes
def test_a_model_whose_samples_are_too_large_has_no_vectors_and_the_user_is_told(folder: Path) -> None:
    few = onnx_model("(float[1, 300] x) => (float[1, 300] y) { y = Relu (x) }")
    golden, warnings = made(folder, planned(folder, few, name="few"), golden_max_kib=1)
    assert golden == {}
    assert warnings == [
        "model 'few' has no self-test on android: no sample fits into 1 KiB with its outputs; "
        "raise golden-max-kib in [parity]"
    ]


@processes
def test_a_model_that_refuses_random_inputs_has_no_vectors(folder: Path) -> None:
    golden, warnings = made(folder, planned(folder, onnx_model(PICKY), name="picky"))

    assert golden == {}
    (warning,) = warnings
    assert warning.startswith(
        "model 'picky' has no self-test on android: the original model 'picky' runs on none of the random"
    )


@processes
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
    def parts(measured: float = 0.1, **told: float) -> tuple[float, float]:
        settings = ParitySettings(outputs={"y": Tolerance(**told)}) if told else ParitySettings()  # type: ignore[arg-type]
        found = golden_tolerances.allowed_of(settings, "y", scale=2.34567, measured=measured)
        assert (found.scale, found.mismatches) == (2.35, 0)
        return found.rtol, found.atol

    assert parts() == (1e-3, 1e-5)
    assert parts(max_rel_error=0.25) == (0.25, 0.0025)
    assert parts(max_rel_error=0.25, atol=1e-9) == (0.25, 1e-9)
    assert parts(max_abs_error=0.5) == (0.0, 0.5)
    assert parts(min_cosine=0.99, measured=1e-6) == (1e-3, 1e-5)
    assert parts(min_cosine=0.99) == (0.2, 0.002)


@processes
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


@processes
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
    assert re.search(r"^public class M\b[^{]*:\s+SelfTestingModel<", text, re.MULTILINE)
    assert any(path.name == "SelfTest.kt" for path in sources.texts)
    assert any(str(path).endswith(asset.path) for path in sources.files)


@processes
def test_a_model_with_vectors_for_some_of_its_files_only_has_no_self_test(folder: Path, one: Plan) -> None:
    golden, _ = made(folder, one)
    target = Android(providers=("xnnpack",))

    view = target.view(PACKAGE, (one,), Report(parities=()), golden=dict(list(golden.items())[:1]))

    sources = target.render(view)
    assert not [each.path for each in view.assets if each.path.endswith(".safetensors")]
    assert not any("selfTest" in text or path.name == "SelfTest.kt" for path, text in sources.texts.items())


@processes
def test_outputs_without_numbers_are_in_no_vector(folder: Path) -> None:
    nan = "n = Abs (x) m = Neg (n) s = Sub (m, one) y = Log (s)"
    weights = {"one": numpy.array(1, numpy.float32)}
    both = onnx_model(f"(float[4] x) => (float[4] y, float[4] z) {{ {nan} z = Relu (x) }}", weights=weights)
    found, warnings = made(folder, planned(folder, both, name="half_nan"))
    assert [list(sample.outputs) for sample in only(found).samples] == [["z"], ["z"]]
    assert warnings == []
    alone = onnx_model(f"(float[4] x) => (float[4] y) {{ {nan} }}", weights=weights)
    found, (warning,) = made(folder, planned(folder, alone, name="all_nan"))
    assert found == {}
    assert "its outputs are NaN, infinite or empty: nothing to compare a phone with" in warning


@processes
def test_numbers_of_a_domain_travel_themselves(folder: Path) -> None:
    logarithm = onnx_model("(float[64] x, float[64] z) => (float[64] y) { a = Log (x) y = Add (a, z) }")
    found, warnings = made(folder, planned(folder, logarithm, name="logarithm"))
    assert warnings == []
    for sample in only(found).samples:
        assert list(sample.recipes) == ["z"]
        values = vectors.inputs_of(only(found), sample)["x"]
        assert values.min() > 0
        assert numpy.isfinite(vectors.outputs_of(only(found), sample)["y"]).all()


@processes
def test_rows_that_a_phone_may_swap_are_in_no_vector(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sorted_rows = """s = Mul (x, big) w = Sin (s) t = Mul (w, small) top, i = TopK (t, k) boxes = Gather (anchors, i)"""
    weights = {
        "big": numpy.array(1e7, numpy.float32),
        "small": numpy.array(1e-6, numpy.float32),
        "k": numpy.array([50]),
        "anchors": weight(200, 4),
    }
    text = f"(float[200] x) => (float[50, 4] boxes, float[50] top, float[200] z) {{ {sorted_rows} z = Relu (x) }}"
    found, warnings = made(folder, planned(folder, onnx_model(text, weights=weights), name="detector"))
    assert warnings == []
    names = [sorted(sample.outputs) for sample in only(found).samples]
    assert names == [["top", "z"]] * 2, "sorted scores stay where they are"
    text = text.replace(", float[50] top, float[200] z", "").replace(" z = Relu (x)", "")
    found, warnings = made(folder, planned(folder, onnx_model(text, weights=weights), name="only_boxes"))
    assert (found, warnings) == ({}, []), "nothing to test is no failure"
    message = " ".join(capsys.readouterr().err.split())
    assert "has no self-test on android: its rows are sorted" in message
    assert message.endswith("a phone may give them in another order, so there is nothing to test")


def passes(expected: NDArray[Any], actual: NDArray[Any], allowed: Allowed) -> bool:
    """The rule of the self-tests of all platforms."""
    both = numpy.isfinite(expected) & numpy.isfinite(actual)
    is_same = (expected == actual) | (numpy.isnan(expected) & numpy.isnan(actual))
    error = float(abs(expected[both] - actual[both]).max(initial=0))
    return (~both & ~is_same).sum() <= allowed.mismatches and error <= allowed.atol + allowed.rtol * allowed.scale


@processes
def test_of_a_table_that_is_sorted_by_a_score_the_scores_are_compared(folder: Path) -> None:
    """The rows are boxes of hundreds of pixels, a score of thousandths, and a class."""
    nodes = """s = Mul (x, tenth) m = Mul (x, big) w = Sin (m) v = Mul (w, small) f = Add (s, v)
        top, i = TopK (f, k) boxes = Gather (anchors, i) column = Unsqueeze (top, last)
        rows = Concat <axis = 1> (boxes, column, column) y = Mul (rows, sizes)"""
    weights = {
        "big": numpy.array(1e7, numpy.float32),
        "small": numpy.array(1e-7, numpy.float32),
        "tenth": numpy.array(1e-3, numpy.float32),
        "k": numpy.array([150]),
        "last": numpy.array([1]),
        "anchors": 300 * weight(2000, 4),
        "sizes": numpy.array([1, 1, 1, 1, 1, 0], numpy.float32),
    }
    model = onnx_model(f"(float[2000] x) => (float[150, 6] y) {{ {nodes} }}", weights=weights)
    golden, warnings = made(folder, planned(folder, model, name="table"))
    assert warnings == []
    (allowed,) = {tuple(each.allowed.items()) for each in golden.values()}
    ((_, limit),) = allowed
    assert limit.mismatches == 150 * 5
    assert limit.scale < 0.01
    assert limit.atol <= limit.rtol * limit.scale
    for sample in only(golden).samples:
        expected = vectors.outputs_of(only(golden), sample)["y"]
        assert numpy.isfinite(expected[:, 4]).all()
        assert (numpy.delete(expected, 4, axis=1) == numpy.inf).all()
        right = numpy.concatenate([weight(150, 4), expected[:, 4:5], numpy.zeros((150, 1))], axis=1)
        assert passes(expected, right, limit)
        assert passes(expected, right * (1 + 1e-4), limit)
        assert not passes(expected, right * numpy.array([1, 1, 1, 1, 1.01, 1]), limit)
        assert not passes(expected, numpy.full_like(right, numpy.nan), limit)
        assert not passes(expected, numpy.zeros_like(right), limit)
