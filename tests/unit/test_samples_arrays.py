"""Samples in .npz and .npy files: the saved values, one sample at a time, or a refusal with the file's name."""

import json
import os
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import assume, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

from packager.core.errors import ConfigError, ModelError
from packager.core.values import Dimension, ElementType, Model, TensorSpec
from packager.samples import Settings, describe, inspect
from packager.samples.reading import open_described
from packager.samples.stacks import misfit, stack_length
from tests.cases.onnx_text import loaded, onnx_model, weight
from tests.nights import examples

IMAGE = "(float[1, 3, 4, 4] x) => (float[1, 3, 4, 4] y) { y = Relu (x) }"
ANY_BATCH = "(float[batch, 3, h, w] x) => (float[batch, 3, h, w] y) { y = Relu (x) }"
TWO = "(int64[batch, T] ids, float[2] f) => (int64[batch, T] y, float[2] g) { y = Identity (ids) g = Relu (f) }"


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return loaded(tmp_path, onnx_model(IMAGE))


def samples(source: Path | str, model: Model, chosen: Settings | None = None, *, skip: int = 0) -> list[dict[str, Any]]:
    description = describe(str(source), model, chosen or Settings(), skip=skip)
    return list(open_described(json.loads(json.dumps(description))))


def spec(*shape: Dimension, name: str = "x") -> TensorSpec:
    return TensorSpec(name=name, identifier=name, element=ElementType.FLOAT, shape=shape)


def numbers(*shape: int) -> Any:
    return weight(*shape)


@settings(max_examples=examples(80), deadline=None)
@drawn(
    declared=st.lists(st.one_of(st.integers(1, 3), st.none(), st.just("width")), max_size=4).map(tuple),
    sizes=st.lists(st.integers(1, 3), min_size=4, max_size=4),
    count=st.integers(0, 4),
)
def test_a_stack_of_any_shape_is_its_samples(declared: tuple[Dimension, ...], sizes: list[int], count: int) -> None:
    shape = tuple(size if isinstance(size, int) else real for size, real in zip(declared, sizes, strict=False))
    assert stack_length({"x": (count, *shape)}, (spec(*declared),)) == count
    assert misfit({"x": (count, *shape)}, (spec(*declared),), "") is None


@settings(max_examples=examples(80), deadline=None)
@drawn(shape=st.lists(st.integers(1, 3), max_size=4).map(tuple), count=st.integers(0, 4))
def test_an_array_of_exactly_the_shape_of_its_input_is_one_sample(shape: tuple[int, ...], count: int) -> None:
    assert stack_length({"x": shape}, (spec(*shape),)) in ((1,) if shape[:1] == (1,) else (None,))
    assert misfit({"x": shape}, (spec(*shape),), "") is None
    assume(count != 1)
    assert stack_length({"x": (count, *shape)}, (spec(1, *shape),)) == count


def test_the_first_axis_counts_samples_where_the_input_has_no_other_use_for_it() -> None:
    for declared, shape, length in [
        (("batch", 3, 4, 4), (5, 3, 4, 4), 5),
        (("batch", 3, 4, 4), (5, 2, 3, 4, 4), 5),
        (("batch", 3, 4, 4), (3, 4, 4), None),
        ((1, 3), (3,), None),
        (("seq", 8), (5, 8), None),
        ((), (7,), 7),
        ((), (), None),
        (("T",), (16,), None),
        (("T",), (2, 16), 2),
    ]:
        assert misfit({"x": shape}, (spec(*declared),), "") is None
        assert stack_length({"x": shape}, (spec(*declared),)) == length


def test_arrays_of_one_file_are_stacks_together_or_one_sample_together() -> None:
    inputs = (spec("batch", 3), spec("n", 2, name="z"))
    assert stack_length({"x": (4, 3), "z": (4, 2)}, inputs) == 4
    assert stack_length({"x": (4, 3), "z": (5, 2)}, inputs) is None  # one sample: two batches of their own
    fixed = (spec(1, 3), spec(1, 2, name="z"))
    problem = misfit({"x": (4, 3), "z": (5, 2)}, fixed, "a.npz")
    assert problem is not None
    assert problem.text == "a.npz: the arrays do not hold the same number of samples: x 4x3, z 5x2"


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
@pytest.mark.parametrize("shape", [(4, 1, 3, 4, 4), (4, 3, 4, 4)])
def test_each_row_of_a_stack_is_a_sample(tmp_path: Path, model: Model, save: Any, shape: tuple[int, ...]) -> None:
    stack = numbers(*shape)
    save(tmp_path / "s.npz", x=stack)
    found = samples(tmp_path / "s.npz", model)
    assert [each["x"].shape for each in found] == [(1, 3, 4, 4)] * 4
    assert numpy.array_equal(numpy.concatenate([each["x"] for each in found]), stack.reshape(4, 3, 4, 4))


@settings(max_examples=examples(30), deadline=None)
@drawn(
    shape=st.lists(st.integers(1, 4), max_size=3).map(tuple),
    dtype=st.sampled_from(["<f4", ">f4", "<i8", "u1", "?", "<U3", ">U3"]),
    is_packed=st.booleans(),
    is_column_major=st.booleans(),
)
def test_what_was_stacked_comes_back(
    tmp_path_factory: pytest.TempPathFactory, shape: tuple[int, ...], dtype: str, is_packed: bool, is_column_major: bool
) -> None:
    folder = tmp_path_factory.mktemp("stack")
    kinds = {
        "<f4": "float",
        ">f4": "float",
        "<i8": "int64",
        "u1": "uint8",
        "?": "bool",
        "<U3": "string",
        ">U3": "string",
    }
    declared = f"{kinds[dtype]}[{', '.join(map(str, (2, *shape)))}]"
    model = loaded(folder, onnx_model(f"({declared} x) => ({declared} y) {{ y = Identity (x) }}"))
    stack = numpy.arange(3 * 2 * int(numpy.prod(shape))).reshape(3, 2, *shape).astype(dtype)
    ordered = numpy.asfortranarray(stack) if is_column_major else stack
    (numpy.savez_compressed if is_packed else numpy.savez)(folder / "s.npz", x=ordered)
    found = [each["x"] for each in samples(folder / "s.npz", model)]
    assert [each.tolist() for each in found] == stack.tolist()
    assert all(each.dtype.isnative for each in found)


def test_folders_are_read_in_order_for_each_model(tmp_path: Path, model: Model) -> None:
    folder = tmp_path / "f"
    (folder / "deep").mkdir(parents=True)
    rows = numbers(4, 1, 3, 4, 4)
    numpy.savez(folder / "a.npz", x=rows[0])
    numpy.save(folder / "b.npy", rows[1:3])
    numpy.savez(folder / "deep" / "c.NPZ", x=rows[3])
    (folder / "deep" / "c.NPZ.npz").rename(folder / "deep" / "c.NPZ")
    (folder / "._a.npz").write_bytes(b"left behind by another system")
    (folder / "README.md").write_text("about them")
    found = samples(folder, model)
    assert numpy.array_equal(numpy.stack([each["x"] for each in found]), rows)
    for name in ("m", "other"):
        (tmp_path / "f" / name).mkdir(parents=True)
        numpy.savez(tmp_path / "f" / name / "a.npz", **{"x" if name == "m" else "z": numbers(1, 3, 4, 4)})
    assert len(samples(tmp_path / "f", model)) == 1
    numpy.savez(tmp_path / "s.npz", x=numbers(3, 3, 4, 4))
    assert len(list(open_described(describe("s.npz", model, Settings(), folder=tmp_path)))) == 3
    assert inspect("s.npz", model, Settings(), folder=tmp_path).count == 3


def test_sizes_follow_the_model_and_some_samples_can_be_left_out(tmp_path: Path, model: Model) -> None:
    model = loaded(tmp_path, onnx_model(ANY_BATCH))
    folder = tmp_path / "f"
    folder.mkdir()
    for size in (3, 5):
        numpy.savez(folder / f"{size}.npz", x=numbers(1, 3, size, 2))
    assert [each["x"].shape for each in samples(folder, model)] == [(1, 3, 3, 2), (1, 3, 5, 2)]
    rows = numbers(6, 1, 3, 4, 4)
    numpy.savez_compressed(tmp_path / "s.npz", x=rows)
    found = samples(tmp_path / "s.npz", model, Settings(limit=4), skip=1)
    assert numpy.array_equal(numpy.stack([each["x"] for each in found]), rows[1:4])
    assert samples(tmp_path / "s.npz", model, Settings(limit=4), skip=5) == []


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_memory_does_not_grow_with_the_samples_of_a_file(tmp_path: Path, save: Any) -> None:
    model = loaded(tmp_path, onnx_model("(float[1, 50000] x) => (float[1, 50000] y) { y = Relu (x) }"))
    save(tmp_path / "s.npz", x=numpy.ones((60, 50000), "f4"))
    description = describe(str(tmp_path / "s.npz"), model, Settings())
    tracemalloc.start()
    try:
        count = sum(1 for _ in open_described(description))
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 60
    assert peak_bytes < 8 * 200_000  # 60 samples take 12 MB


def test_what_numpy_chooses_by_itself_becomes_the_type_of_the_input(tmp_path: Path) -> None:
    model = loaded(
        tmp_path, onnx_model("(float[2] x, int32[2] i) => (float[2] y, int32[2] j) { y = Relu (x) j = Identity (i) }")
    )
    numpy.savez(tmp_path / "s.npz", x=numpy.array([0.5, 1.0]), i=numpy.array([1, -2]))
    (found,) = samples(tmp_path / "s.npz", model)
    assert (found["x"].dtype, found["i"].dtype, found["i"].tolist()) == (numpy.float32, numpy.int32, [1, -2])
    texts = [problem.text for problem in inspect(str(tmp_path / "s.npz"), model, Settings()).problems]
    assert "input 'x': float64 numbers are rounded to float32" in texts


@pytest.mark.parametrize(
    ("declared", "value", "text"),
    [
        ("int32", numpy.array([2**31]), "needs int32, got int64 that does not fit"),
        ("uint8", numpy.array([-1]), "needs uint8, got int64 that does not fit"),
        ("float", numpy.array([1], "u1"), "needs float32, got uint8"),
        ("int64", numpy.array([1.0]), "needs int64, got float64"),
        ("bool", numpy.array([1]), "needs bool, got int64"),
        ("string", numpy.array([1]), "needs str, got int64"),
    ],
)
def test_other_types_are_not_made_to_fit(tmp_path: Path, declared: str, value: Any, text: str) -> None:
    model = loaded(tmp_path, onnx_model(f"({declared}[1] x) => ({declared}[1] y) {{ y = Identity (x) }}"))
    numpy.savez(tmp_path / "s.npz", x=value)
    with pytest.raises(ConfigError, match=text):
        samples(tmp_path / "s.npz", model)


def test_models_that_arrays_cannot_feed_and_npy_of_several_inputs_are_refused(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model("(bfloat16[2] x) => (bfloat16[2] y) { y = Identity (x) }"))
    numpy.savez(tmp_path / "s.npz", x=numpy.zeros(2))
    with pytest.raises(ModelError, match="input 'x' is bfloat16"):
        samples(tmp_path / "s.npz", model)
    model = loaded(tmp_path, onnx_model(TWO))
    numpy.save(tmp_path / "s.npy", numbers(1))
    with pytest.raises(ConfigError, match=r"\.npy files are for models with one input; this one takes ids, f"):
        samples(tmp_path / "s.npy", model)


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"z": numbers(1, 3, 4, 4)}, "s.npz: no input 'x'"),
        ({"x": numbers(1, 3, 4, 4), "z": numbers(1)}, "s.npz: 'z' is not an input of the model"),
        ({"x": numbers(5, 3, 8, 8)}, "s.npz: input 'x' needs 1x3x4x4, got 5x3x8x8"),
        ({"x": numbers(5, 1, 3, 8, 8)}, "s.npz: input 'x' needs 1x3x4x4, got 5x1x3x8x8"),
        ({"x": numpy.array([{}], dtype=object)}, "'x': contains pickled Python objects"),
        ({"x": numpy.zeros((1, 3, 4, 4), "c8")}, "'x': contains complex64, which no input accepts"),
    ],
)
def test_arrays_of_another_model_are_named(tmp_path: Path, model: Model, arrays: dict[str, Any], text: str) -> None:
    numpy.savez(tmp_path / "s.npz", **arrays)
    with pytest.raises(ConfigError) as error:
        samples(tmp_path / "s.npz", model)
    assert text in error.value.message
    assert error.value.hint


def npz(path: Path, content: bytes, *, packing: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr("x.npy", content)
    return path


def npy(shape: str, content: bytes = b"", *, descr: str = "'<f4'", is_column_major: bool = False) -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': {is_column_major}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (npy("(1000000, 3, 100000, 100000)"), "the header declares 120000000000000000 bytes, but the file has 0"),
        (npy("(-1, 3, 4, 4)"), "declares"),
        (npy("(1000000000000, 3, 0, 0)"), "1000000000000 samples without values"),
        (npy("(2, 3, 4, 4)", bytes(100)), "the header declares 384 bytes, but the file has 100"),
        (npy("(1, 3)", descr="'|O'"), "pickled Python objects"),
        (npy("'x'"), "shape is not valid"),
        (b"\x93NUMPY\x09\x00", "cannot be read"),
        (b"\x80\x04K\x01.", "cannot be read"),
    ],
)
def test_no_claim_of_a_header_is_believed(tmp_path: Path, content: bytes, text: str) -> None:
    model = loaded(tmp_path, onnx_model(ANY_BATCH))
    with pytest.raises(ConfigError, match=r"s\.npz") as error:
        samples(npz(tmp_path / "s.npz", content), model)
    assert text in error.value.message
    assert error.value.hint


@pytest.mark.parametrize("is_column_major", [False, True])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, is_column_major: bool) -> None:
    model = loaded(tmp_path, onnx_model(ANY_BATCH))
    size = 20_000
    path = tmp_path / "s.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy(f"(1, 3, {size}, {size})", is_column_major=is_column_major))
    claimed = 12 * size * size
    content = bytearray(path.read_bytes())
    for marker, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):  # the sizes in the archive say so too
        at = content.index(marker) + offset
        (real,) = struct.unpack_from("<I", content, at)
        struct.pack_into("<I", content, at, min(real + claimed, 2**32 - 2))
    content_size = struct.unpack_from("<I", content, content.index(b"PK\x01\x02") + 24)[0]
    assert content_size > 1 << 30
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match=r"s\.npz") as error:
            samples(path, model)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert error.value.hint
    assert peak_bytes < 1 << 24


def test_samples_have_a_largest_size_with_a_remedy(tmp_path: Path, model: Model) -> None:
    model = loaded(tmp_path, onnx_model(ANY_BATCH))
    path = tmp_path / "s.npy"
    header = npy("(1, 3, 10000, 10000)")
    with path.open("wb") as file:
        file.write(header)
        file.truncate(len(header) + 12 * 10**8)  # no disk is used for it
    with pytest.raises(ConfigError, match="one sample takes 1144 MiB, more than the 1024 allowed"):
        samples(path, model)
    path = tmp_path / "s.npy"
    header = npy("(2000000, 3, 4, 4)", is_column_major=True)
    with path.open("wb") as file:
        file.write(header)
        file.truncate(len(header) + 2_000_000 * 192)
    with pytest.raises(ConfigError, match="column-major") as error:
        samples(path, model)
    assert error.value.hint == "save numpy.ascontiguousarray(array)"


def test_damage_in_the_middle_is_found_and_what_is_before_it_is_read(tmp_path: Path, model: Model) -> None:
    path = npz(tmp_path / "s.npz", npy("(400, 3, 4, 4)", numbers(400, 3, 4, 4).tobytes()), packing=zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    content[70_000] ^= 1
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"cannot be read \(Bad CRC-32"):
        samples(path, model)
    assert len(samples(path, model, Settings(limit=2))) == 2


@pytest.mark.parametrize("seed", range(25))
def test_whatever_is_torn_is_read_or_refused_as_a_user_can_understand(tmp_path: Path, model: Model, seed: int) -> None:
    path = tmp_path / "s.npz"
    numpy.savez_compressed(path, x=numbers(4, 3, 4, 4))
    undamaged = inspect(str(path), model, Settings())
    content = bytearray(path.read_bytes())
    generator = numpy.random.default_rng(seed)
    for at in generator.integers(0, len(content), 4):
        content[at] = generator.integers(0, 256)
    path.write_bytes(content[: generator.integers(10, len(content) + 1)])
    found = inspect(str(path), model, Settings())
    assert found.count in (1, 4)
    assert found.count == 4 or all(problem.hint for problem in found.errors)
    assert found.errors or found.fingerprint == undamaged.fingerprint


def test_a_folder_without_samples_is_refused_with_what_it_holds(tmp_path: Path, model: Model) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    with pytest.raises(ConfigError, match="f: it is empty"):
        samples(folder, model)
    for name in ("a.txt", "b.txt", "c.csv", "LICENSE"):
        (folder / name).touch()
    with pytest.raises(ConfigError, match=r"holds 2 \.txt, 1 without ending, 1 \.csv") as error:
        samples(folder, model)
    assert ".npz" in error.value.hint


def test_a_folder_of_several_kinds_is_refused(tmp_path: Path, model: Model) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    for name in ("a.npz", "b.png", "c.wav", "d.JPG"):
        (folder / name).touch()
    with pytest.raises(ConfigError, match="several kinds: 1 arrays, 2 images, 1 sounds"):
        samples(folder, model)


def test_a_link_back_to_its_own_folder_is_refused(tmp_path: Path, model: Model) -> None:
    (tmp_path / "f" / "deep").mkdir(parents=True)
    numpy.savez(tmp_path / "f" / "a.npz", x=numbers(1, 3, 4, 4))
    (tmp_path / "f" / "deep" / "up").symlink_to(tmp_path / "f")
    with pytest.raises(ConfigError, match="up is a link to one of its parent folders"):
        samples(tmp_path / "f", model)


def test_a_folder_that_is_linked_to_twice_is_read_once(tmp_path: Path, model: Model) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "f").mkdir()
    numpy.savez(tmp_path / "data" / "a.npz", x=numbers(1, 3, 4, 4))
    for name in ("one", "two"):
        (tmp_path / "f" / name).symlink_to(tmp_path / "data")
    assert len(samples(tmp_path / "f", model)) == 1


def test_what_is_no_file_is_not_waited_for(tmp_path: Path, model: Model) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    os.mkfifo(folder / "pipe.npz")
    with pytest.raises(ConfigError, match=r"pipe\.npz: cannot be read \(a pipe, not a file\)"):
        samples(folder, model)
    (folder / "pipe.npz").unlink()
    (folder / "loop.npz").symlink_to("loop.npz")
    with pytest.raises(ConfigError, match=r"loop\.npz: cannot be read"):
        samples(folder, model)


@pytest.mark.parametrize("source", ["absent.npz", "absent", "", "a\0b", "x" * 5000])
def test_what_is_not_there_is_refused_with_what_could_be(tmp_path: Path, model: Model, source: str) -> None:
    with pytest.raises(ConfigError, match=r"samples not found|cannot be read") as error:
        samples(source, model)
    assert error.value.hint
