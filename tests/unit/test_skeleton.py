"""The graph without its weights: nothing lost, nothing read needlessly, and no file crashes the reader."""

import gzip
import io
import os
import resource
import shlex
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy
import onnx
import onnx.external_data_helper
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from packager import models
from packager.core.errors import ModelError
from packager.graph.weights.whole import message, varint
from packager.importers import IMPORTERS, ImportSource
from packager.models.skeleton import KEEP_INLINE_BYTES, read_skeleton
from tests.cases.onnx_text import linear, onnx_model, saved, weight
from tests.cases.skeleton import refuse_or_load
from tests.nights import examples

few = settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

INITIALIZER, RAW_DATA = 5, 9


def reattached(path: Path) -> onnx.ModelProto:
    """The skeleton of `path` with every weight read back from its place."""
    model: onnx.ModelProto = onnx.ModelProto.FromString(read_skeleton(path))
    onnx.external_data_helper.load_external_data_for_model(model, str(path.parent))
    return model


def plain(model: onnx.ModelProto) -> onnx.ModelProto:
    """`model` without the optional mark that a tensor's data is in the message."""
    for tensor in model.graph.initializer:
        if tensor.data_location == tensor.DEFAULT:
            tensor.ClearField("data_location")
    return model


@st.composite
def tensors(draw: st.DrawFn, name: str) -> onnx.TensorProto:
    """An initializer of some size, its numbers as raw bytes, as a repeated field, or as words."""
    count = draw(st.sampled_from([0, 1, 250, 256, 257, 5000]))
    tensor = onnx.TensorProto(name=name, dims=[count])
    match draw(st.sampled_from(["raw", "fields", "words", "marked raw"])):
        case "fields":
            tensor.data_type = onnx.TensorProto.FLOAT
            tensor.float_data.extend(float(number) for number in range(count))
        case "words":
            tensor.data_type = onnx.TensorProto.STRING
            tensor.string_data.extend(b"w%d" % number for number in range(count))
        case kind:
            tensor.data_type = onnx.TensorProto.FLOAT
            tensor.raw_data = numpy.arange(count, dtype=numpy.float32).tobytes()
            if kind == "marked raw":
                tensor.data_location = onnx.TensorProto.DEFAULT
    return tensor


@st.composite
def generated_models(draw: st.DrawFn) -> onnx.ModelProto:
    model = onnx_model("""(bool c, float[N] x) => (float[?] y) {
        k = Constant <value = float[3] {1.0, 2.0, 3.0}> ()
        y = If (c) <then_branch = t () => (float[?] a) { a = Mul (x, k) },
                    else_branch = e () => (float[?] b) { b = Neg (x) }>
    }""")
    for number in range(draw(st.integers(0, 4))):
        model.graph.initializer.append(draw(tensors(f"w{number}")))
    if draw(st.booleans()):
        model.graph.node[1].attribute[0].g.initializer.append(draw(tensors("inner")))
    if draw(st.booleans()):
        model.graph.node[0].attribute[0].t.CopyFrom(draw(tensors("constant")))
    if draw(st.booleans()):
        external = onnx.TensorProto(name="ext", data_type=1, dims=[2], data_location=onnx.TensorProto.EXTERNAL)
        for key, value in (("location", "data.bin"), ("offset", "4"), ("length", "8")):
            external.external_data.add(key=key, value=value)
        model.graph.initializer.append(external)
    return model


@few
@given(model=generated_models())
def test_skeleton_with_its_weights_back_is_the_model(tmp_path: Path, model: onnx.ModelProto) -> None:
    (tmp_path / "data.bin").write_bytes(numpy.arange(3, dtype=numpy.float32).tobytes())
    path = saved(tmp_path / "model.onnx", model)
    assert plain(reattached(path)) == plain(onnx.load(path))


def test_only_large_raw_tensors_leave_the_graph(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "m.onnx",
        onnx_model(
            "(float[1] x) => (float[1] y) { y = Identity (x) }",
            weights={"small": weight(200), "large": weight(KEEP_INLINE_BYTES // 4)},
        ),
    )
    kept = onnx.ModelProto.FromString(read_skeleton(path)).graph.initializer
    assert [(tensor.name, len(tensor.raw_data) > 0) for tensor in kept] == [("small", True), ("large", False)]


def test_every_truncation_of_a_model_is_a_model_error(tmp_path: Path) -> None:
    whole = linear().SerializeToString(deterministic=True)
    path = tmp_path / "cut.onnx"
    weights_at = whole.index(linear().graph.initializer[0].raw_data[:64])
    cuts = [
        *range(weights_at + 20),
        *range(weights_at + 20, len(whole) - 300, 1999),
        *range(len(whole) - 300, len(whole)),
    ]
    for cut in cuts:
        path.write_bytes(whole[:cut])
        with pytest.raises(ModelError):
            models.load(path, "m")


def test_truncated_model_says_so_and_how_long_it_is(tmp_path: Path) -> None:
    path = tmp_path / "cut.onnx"
    path.write_bytes(linear().SerializeToString()[:9000])
    with pytest.raises(ModelError, match=r"not a complete ONNX file .* 9,000 bytes in all") as error:
        models.load(path, "m")
    assert error.value.hint == "download or export it again; compare its size with the source"


@few
@given(content=st.binary(min_size=1, max_size=200))
def test_random_bytes_are_refused_in_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "noise.onnx"
    path.write_bytes(content)
    refuse_or_load(path)


@pytest.mark.parametrize("length", [2**31, 2**40, 2**63, 2**69])
def test_a_length_field_that_lies_costs_no_memory(tmp_path: Path, length: int) -> None:
    path = tmp_path / "liar.onnx"
    path.write_bytes(message(1, b"") + bytes([7 << 3 | 2]) + varint(length) + b"abc")
    before = peak_mb()
    with pytest.raises(ModelError, match="not a complete ONNX file"):
        models.load(path, "m")
    assert peak_mb() - before < 20


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def test_weights_are_never_read(tmp_path: Path) -> None:
    """A model file with 1 GiB of weights in a sparse file: reading them would cost memory and time."""
    model = onnx_model("(float[16384] x) => (float[16384] y) { y = MatMul (w, x) }")
    del model.graph.initializer[:]
    size = 16384 * 16384 * 4
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[16384, 16384]).SerializeToString()
    tensor += varint(RAW_DATA << 3 | 2) + varint(size)
    graph = model.graph.SerializeToString() + varint(INITIALIZER << 3 | 2) + varint(len(tensor) + size) + tensor
    model.ClearField("graph")
    head = model.SerializeToString() + varint(7 << 3 | 2) + varint(len(graph) + size) + graph
    path = tmp_path / "big.onnx"
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + size)
    before, start = peak_mb(), time.process_time()
    loaded = models.load(path, "big")
    assert time.process_time() - start < 0.5
    assert peak_mb() - before < 100
    assert (loaded.parameter_count, loaded.size_bytes) == (16384 * 16384, len(head) + size)
    assert len(loaded.graph) < 1000


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data.pkl", b"")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "words", "hint"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "a Git LFS pointer", "git lfs pull"),
        (zipped(), "a zip file", "torch.onnx.export"),
        (b"\n <!DOCTYPE html><html></html>", "an HTML or XML page", "download the file itself"),
        (b"\x18\0\0\0ORTM\0\0\0\0\0\0\0\0", "already in ORT format", ".onnx file it was made from"),
        (
            b"\x18\0\0\0TFL3\0\0\0\0\0\0\0\0",
            "a TensorFlow Lite model",
            "name it model.tflite, and import it: mobpack import ",
        ),
        (b"\x89HDF\r\n\x1a\n" + bytes(20), "an HDF5 file", "name it model.h5, and import it: mobpack import "),
        (gzip.compress(b"\x08\x08"), "packed with gzip", "gunzip"),
        (b"", "the file is empty", "export the model again"),
        (b"\x08\x08\x12\x04name", "no graph in it", "give an .onnx file"),
        (b"hello, this is a text file\n", "not a complete ONNX file", "download or export it again"),
    ],
    ids=["lfs", "zip", "html", "ort", "tflite", "hdf5", "gzip", "empty", "no graph", "text"],
)
def test_files_given_by_mistake_are_recognised(tmp_path: Path, content: bytes, words: str, hint: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError) as error:
        models.load(path, "m")
    assert words in error.value.message
    assert hint in error.value.hint
    assert str(path) in error.value.message


def test_a_keras_model_is_told_from_other_zip_files(tmp_path: Path) -> None:
    path = tmp_path / "my net.keras"
    path.write_bytes(zipped())
    with pytest.raises(ModelError, match="this is a Keras model") as error:
        models.load(path, "m")
    assert error.value.hint == f"import it: mobpack import '{path}'"


@pytest.mark.parametrize(
    ("name", "content", "importer"),
    [
        ("net.keras", zipped(), "keras"),
        ("net.onnx", b"\x89HDF\r\n\x1a\n" + bytes(20), "keras"),
        ("net.hdf5", b"\x89HDF\r\n\x1a\n" + bytes(20), "keras"),
        ("net.bin", b"\x18\0\0\0TFL3\0\0\0\0\0\0\0\0", "tflite"),
    ],
)
def test_the_command_that_it_names_has_an_importer(tmp_path: Path, name: str, content: bytes, importer: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ModelError) as error:
        models.load(path, "m")
    source = Path(shlex.split(error.value.hint)[-1])
    assert [each for each in IMPORTERS if IMPORTERS[each]().reads(ImportSource(text=source.name, path=source))] == [
        importer
    ]


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"absent.onnx: no such file or directory") as missing:
        models.load(tmp_path / "absent.onnx", "m")
    with pytest.raises(ModelError, match="a folder, not a file"):
        models.load(tmp_path, "m")
    assert missing.value.hint == "give the path of an .onnx file that you can read"


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.onnx")
    with pytest.raises(ModelError, match="a pipe, not a file"):
        models.load(tmp_path / "pipe.onnx", "m")


def test_a_file_without_read_permission_says_so(unreadable: Path) -> None:
    with pytest.raises(ModelError, match="permission denied"):
        models.load(unreadable, "m")


@pytest.fixture
def unreadable() -> Iterator[Path]:
    """An unreadable model; the test runs as an ordinary user even if the suite runs as root."""
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = saved(Path(folder) / "m.onnx", linear())
        path.chmod(0)
        if is_root:
            os.seteuid(65534)
        yield path
        if is_root:
            os.seteuid(0)
