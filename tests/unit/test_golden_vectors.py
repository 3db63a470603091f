"""Golden vectors: the file is safetensors with the same bytes every time, whole samples ship or none, random inputs
as recipes, and only values that both the reference and the shipped files can compute."""

import json
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

from packager import vectors
from packager.core.values import ElementType, Signature
from packager.vectors import Computed, ValuesRecipe, generated, safetensors
from packager.verification import golden_tolerances
from packager.verification.parity import ParitySettings, Tolerance
from tests.cases.golden_vectors import folder, one
from tests.golden.cases import specs

__all__ = ["folder", "one"]

Arrays = Mapping[str, NDArray[Any]]

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


def test_values_that_are_no_longer_than_a_recipe_travel_themselves(tmp_path: Path) -> None:
    vectors.write(tmp_path / "file", SIGNATURE, with_recipes(computed(tmp_path, 8, 9), "x"), ABOUT, max_bytes=4096)
    assert [list(sample.recipes) for sample in vectors.read(tmp_path / "file").samples] == [[], ["x"]]


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
