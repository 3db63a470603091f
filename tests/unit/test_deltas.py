"""Deltas: every pair of files comes back, hostile ones are refused, and memory stays small."""

import io
import json
import zlib
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import numpy.typing
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from packager.core.errors import ToolError
from packager.distribution import deltas
from packager.distribution.deltas import matching
from packager.distribution.deltas.layout import ADD, ADD_SPARSE, COPY, END, INSERT, SPAN_BYTES, varint
from packager.distribution.deltas.tensors import paired, tensors_of
from tests.cases import delta_vectors
from tests.cases.onnx_text import onnx_model
from tests.nights import examples

NOISE = numpy.random.default_rng(0)

FAST = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)


def made(folder: Path, old: bytes, new: bytes) -> bytes:
    (folder / "old").write_bytes(old)
    (folder / "new").write_bytes(new)
    return deltas.make(folder / "old", folder / "new")


def applied(folder: Path, old: bytes, delta: bytes) -> bytes:
    (folder / "old").write_bytes(old)
    (folder / "result").unlink(missing_ok=True)
    deltas.apply(folder / "old", io.BytesIO(delta), folder / "result")
    return (folder / "result").read_bytes()


def body(delta: bytes) -> bytes:
    """The instructions of a delta."""
    stream = io.BytesIO(delta)
    deltas.header(stream)
    return zlib.decompress(stream.read(), -15)


blocks = st.lists(st.sampled_from([bytes(40), bytes(range(64)), b"weights" * 9, b"\xff"]), max_size=12)

contents = st.one_of(st.binary(max_size=300), st.builds(b"".join, blocks))


@FAST
@given(old=contents, new=contents)
def test_any_two_contents_come_back(tmp_path: Path, old: bytes, new: bytes) -> None:
    assert applied(tmp_path, old, made(tmp_path, old, new)) == new


@FAST
@given(
    dtype=st.sampled_from(["float16", "float32", "float64", "int8"]),
    count=st.integers(64, 4000),
    share=st.sampled_from([0.001, 0.1, 0.5, 1.0]),
    seed=st.integers(0, 99),
)
def test_weights_that_moved_come_back(tmp_path: Path, dtype: str, count: int, share: float, seed: int) -> None:
    random = numpy.random.default_rng(seed)
    old = (random.standard_normal(count) * 40).astype(dtype)
    moved = (old + random.standard_normal(count) * (random.random(count) < share) * 2).astype(dtype)
    models = [model_of({"w": weights}) for weights in (old, moved)]
    assert applied(tmp_path, models[0], made(tmp_path, *models)) == models[1]


def model_of(weights: Mapping[str, "numpy.typing.NDArray[Any]"], *, node: str = "Relu") -> bytes:
    content: bytes = onnx_model(
        f"(float[2] x) => (float[2] y) {{ y = {node} (x) }}", weights=weights
    ).SerializeToString()
    return content


def test_the_same_files_give_the_same_delta_no_larger_than_the_file(tmp_path: Path) -> None:
    old, new = NOISE.bytes(3000), NOISE.bytes(3000)
    assert made(tmp_path, old, new) == made(tmp_path, old, new)
    new = NOISE.bytes(5000)
    assert len(made(tmp_path, NOISE.bytes(7000), new)) < len(new) + 110
    content = NOISE.bytes(1 << 17)
    delta = made(tmp_path, content, content)
    assert len(delta) < 100
    assert body(delta) == bytes([COPY, 0]) + varint(1 << 17) + bytes([END])


def test_weights_are_compared_as_values(tmp_path: Path) -> None:
    weights = NOISE.standard_normal(20_000).astype(numpy.float16)
    moved = (weights + NOISE.standard_normal(20_000).astype(numpy.float16) * numpy.float16(1e-3)).astype(numpy.float16)
    old, new = model_of({"w": weights}), model_of({"w": moved})
    delta = made(tmp_path, old, new)
    assert len(delta) < 0.35 * len(new)
    assert bytes([ADD, 2]) in body(delta)
    weights = NOISE.integers(-127, 127, 200_000).astype(numpy.int8)
    moved = weights + (NOISE.random(200_000) < 0.01).astype(numpy.int8)
    delta = made(tmp_path, model_of({"w": weights}), model_of({"w": moved}))
    assert len(delta) < 200_000 * 0.013
    assert bytes([ADD_SPARSE, 1]) in body(delta)
    weights = NOISE.standard_normal(8_000).astype(numpy.float32)
    moved = (weights * (1 + 1e-5 * NOISE.standard_normal(8_000))).astype(numpy.float32)
    delta = made(tmp_path, weights.tobytes(), moved.tobytes())
    assert len(delta) < 0.5 * weights.nbytes
    tensors = {f"w{i}": NOISE.standard_normal(5_000).astype(numpy.float32) for i in range(9)}
    fewer = dict(reversed(tensors.items()))
    assert len(made(tmp_path, model_of(tensors), model_of(fewer, node="Sigmoid"))) < 1000


def test_what_is_no_model_is_searched_unless_it_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = NOISE.bytes(60_000)
    assert len(made(tmp_path, content, content[:20_000] + b"inserted" + content[20_001:])) < 250
    monkeypatch.setattr(matching, "LARGEST_BYTES", 10)
    assert matching.searched(b"x" * 11, b"x" * 11) == [matching.Fresh(0, 11)]
    for content in [b"", b"\0\0\0\0ORTM", b"\x08\0\0\0ORTM" + b"\xff" * 40, b"\x3a\xff", b"text\n"]:
        assert tensors_of(content) == []


def test_tensors_are_found_in_the_file_and_paired_by_length() -> None:
    values = NOISE.standard_normal(100)
    model = onnx_model("(double[100] x) => (double[100] y) { y = Add (x, c) }", weights={"w": values})
    constant = onnx.numpy_helper.from_array(values.astype(numpy.float32), "inner name")
    model.graph.node.insert(0, onnx.helper.make_node("Constant", [], ["c"], value=constant))
    content = model.SerializeToString()
    assert {(each.name, each.width, each.length) for each in tensors_of(content)} == {("w", 8, 800), ("c", 4, 400)}
    old = tensors_of(model_of({"a": numpy.zeros(500, numpy.float32), "b": numpy.ones(300, numpy.float16)}))
    new = tensors_of(model_of({"x": numpy.ones(300, numpy.float16), "a": numpy.zeros(500, numpy.float32)}))
    assert [(a.name, b.name) for a, b in paired(old, new)] == [("b", "x"), ("a", "a")]


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes, bytes]:
    """A model, its next version, and the delta: with every instruction."""
    weights = NOISE.standard_normal(400).astype(numpy.float32)
    bytes_of = [NOISE.integers(-99, 99, 300).astype(numpy.int8)] * 2
    bytes_of[1] = bytes_of[0] + numpy.eye(1, 300, 7, dtype=numpy.int8)[0]
    old = model_of({"w": weights, "q": bytes_of[0]})
    new = model_of({"w": weights * numpy.float32(1.0001), "q": bytes_of[1]}, node="Tanh")
    return old, new, made(tmp_path_factory.mktemp("versions"), old, new)


@settings(FAST, max_examples=examples(200))
@given(data=st.data())
def test_a_flipped_bit_gives_nothing_else(
    tmp_path: Path, versions: tuple[bytes, bytes, bytes], data: st.DataObject
) -> None:
    old, new, delta = versions
    bit = data.draw(st.integers(0, 8 * len(delta) - 1))
    flipped = bytearray(delta)
    flipped[bit // 8] ^= 1 << bit % 8
    try:
        assert applied(tmp_path, old, bytes(flipped)) == new
    except ToolError:
        assert sorted(path.name for path in tmp_path.iterdir()) == ["old"]


def test_every_cut_of_a_delta_is_refused(tmp_path: Path) -> None:
    delta = made(tmp_path, b"a" * 50, b"a" * 20 + b"b" + b"a" * 29)
    for end in range(len(delta)):
        with pytest.raises(ToolError):
            applied(tmp_path, b"a" * 50, delta[:end])


VECTORS = json.loads(delta_vectors.PATH.read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", VECTORS["applied"], ids=lambda each: each["name"])
def test_vectors_are_applied(tmp_path: Path, vector: dict[str, str]) -> None:
    assert applied(tmp_path, b64decode(VECTORS["source"]), b64decode(vector["delta"])) == b64decode(vector["result"])


REASONS = {
    "another format": "has format 2, known is 1",
    "no magic": "not a delta",
    "cut in its header": "ends inside its header",
    "cut in its instructions": "too early",
    "bytes behind it": "bytes follow its end",
    "bytes behind the last instruction": "bytes follow its last instruction",
    "no last instruction": "instructions end too early",
    "an unknown instruction": "unknown instruction 9",
    "a copy from before the source": "reads at byte -1 of 512",
    "a copy from behind the source": "reads to byte 513 of 512",
    "a copy of nothing": "writes 0 bytes",
    "a copy beyond the result": "no place for them",
    "a copy of nearly 2^63 bytes": "no place for them",
    "a distance of 64 bits": "more than 63 bits",
    "a result that is too short": "result has 7 bytes, not 8",
    "other bytes of the same length": "another sha256",
    "values of 3 bytes": "values of 3 bytes",
    "more values than the result has": "no place for them",
    "planes that end too early": "instructions end too early",
    "gaps of 4 bytes": "gaps of 4 bytes",
    "nothing changed of a sparse span": "changes 0 of 8",
    "more changed than there is": "changes 9 of 8",
    "a gap beyond the span": "changes value 8 of 8",
    "not deflate": "not deflate",
    "another source": "not the delta's source: its sha256 differs",
    "a source of another size": "not the delta's source: 512 bytes, not 511",
}


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=lambda each: each["reason"])
def test_hostile_vectors_are_refused_in_words(tmp_path: Path, vector: dict[str, str]) -> None:
    (tmp_path / "result").write_bytes(b"before")
    (tmp_path / "old").write_bytes(b64decode(VECTORS["source"]))
    with pytest.raises(ToolError, match=REASONS[vector["reason"]]) as raised:
        deltas.apply(tmp_path / "old", io.BytesIO(b64decode(vector["delta"])), tmp_path / "result")
    assert raised.value.hint
    assert (tmp_path / "result").read_bytes() == b"before"


def test_the_vectors_are_those_of_the_generator() -> None:
    """The instructions are compared: other versions of zlib deflate them to other bytes."""
    written = json.loads(json.dumps(delta_vectors.document()))
    for mine, kept in zip(written["applied"], VECTORS["applied"], strict=True):
        assert mine["name"] == kept["name"]
        assert body(b64decode(mine["delta"])) == body(b64decode(kept["delta"]))
    assert [each["reason"] for each in written["refused"]] == [each["reason"] for each in VECTORS["refused"]]
    assert set(REASONS) == {each["reason"] for each in VECTORS["refused"]}


def test_limits_hold_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    bomb = delta_vectors.packed(bytes([INSERT]) + varint(1 << 20) + bytes(1 << 20) + b"\0", b"old", bytes(1 << 20))
    with pytest.raises(ToolError, match="more than the limit of 1,000"):
        deltas.apply(tmp_path / "old", io.BytesIO(bomb), tmp_path / "result", limit_bytes=1000)
    assert not (tmp_path / "result").exists()
    source = bytes(2 * SPAN_BYTES)
    instructions = delta_vectors.add(1, 0, SPAN_BYTES + 1, bytes(SPAN_BYTES + 1)) + b"\0"
    delta = delta_vectors.packed(instructions, source, source[: SPAN_BYTES + 1])
    with pytest.raises(ToolError, match="adds to 1,048,577 bytes"):
        applied(tmp_path, source, delta)
    delta = made(tmp_path, b"old" * 99, b"new" * 99)
    deltas.apply(tmp_path / "old", io.BytesIO(delta), tmp_path / "old")
    assert (tmp_path / "old").read_bytes() == b"new" * 99
    delta = delta_vectors.packed(b"\0", b"", b"")
    with pytest.raises(ToolError, match="cannot read"):
        deltas.apply(tmp_path / "missing", io.BytesIO(delta), tmp_path / "result")


def test_the_command_makes_and_applies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from packager.cli import commands

    monkeypatch.chdir(tmp_path)
    Path("old").write_bytes(bytes(range(256)) * 9)
    Path("new").write_bytes(bytes(range(256)) * 8)
    run = CliRunner().invoke
    made_by_it = run(commands, ["delta", "old", "new", "--out", "d"])
    assert (made_by_it.exit_code, made_by_it.exception) == (0, None)
    assert run(commands, ["delta", "old", "d", "--apply", "--out", "back"]).exit_code == 0
    assert Path("back").read_bytes() == Path("new").read_bytes()
    assert isinstance(run(commands, ["delta", "new", "d", "--apply", "--out", "other"]).exception, ToolError)
    assert isinstance(run(commands, ["delta", "old", "absent", "--apply", "--out", "other"]).exception, ToolError)
    assert not Path("other").exists()
