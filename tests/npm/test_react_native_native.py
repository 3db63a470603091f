"""A package for React Native, its JavaScript and its C++, runs real models in JavaScriptCore as an app does."""

import dataclasses
import hashlib
import json
import os
import shutil
import struct
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from packager.targets.ends import BLOCK_BYTES
from tests.toolchain import cxx, jsc, models
from tests.toolchain.react_native import native

ARRAYS = {"float32": "Float32Array", "int64": "BigInt64Array"}
PARITY = 1e-5
MODEL = "orientation.ort.tflite"
GOLDEN = "orientation-golden.safetensors"
MIB = 1 << 20
OLD_RUNTIME = """\
struct Api;
struct Base { const Api* (*get)(unsigned); const char* (*version)(); };
static const Api* get(unsigned) { return nullptr; }
static const char* version() { return "1.14.1"; }
static const Base base{get, version};
extern "C" const Base* OrtGetApiBase() { return &base; }
"""
OTHER_LIBRARY = """\
#include <dlfcn.h>
#include "onnxruntime/onnxruntime_c_api.h"
__attribute__((constructor)) static void load() {
  auto* library = dlopen("libonnxruntime.so", RTLD_NOW);
  auto* base = reinterpret_cast<decltype(&OrtGetApiBase)>(dlsym(library, "OrtGetApiBase"))();
  static OrtEnv* environment = nullptr;
  if (base->GetApi(15)->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "other", &environment) != nullptr) __builtin_trap();
}
"""
"""makes ONNX Runtime's environment before the package does"""
OUTPUTS_OF_EVERY_TYPE = {
    "f32T": [1, 4, 2, 5, 3, 6],
    "f64T": [1.5, 4, 2, 5, 3, 1e300],
    "f16T": [0x3C00, 0x4400, 0x4000, 0x4500, 0x4200, 0x7C00],
    "i8T": [-128, 4, 2, 5, 3, 127],
    "i16T": [-32768, 4, 2, 5, 3, 32767],
    "i32T": [-(1 << 31), 4, 2, 5, 3, (1 << 31) - 1],
    "i64T": [str(-(1 << 63)), "4", "2", "5", "3", str((1 << 63) - 1)],
    "u8T": [0, 4, 2, 5, 3, 255],
    "flagT": [1, 0, 0, 0, 1, 1],
    "wordT": ["", "\U0001f600", "zwei", "f\u00fcnf", " \t\n", "x" * 5000],
    "u16T": [0, 4, 2, 5, 3, 0xFFFF],
    "u32T": [0, 4, 2, 5, 3, 0xFFFFFFFF],
    "u64T": [str(1 << 63), "4", "2", "5", "3", str((1 << 63) - 1)],
    "doubled": [42],
    "columns": [1, 3, 5, 2, 4, 6],
}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> native.Code:
    return native.code(tmp_path_factory)


@pytest.fixture
def app(code: native.Code, tmp_path: Path) -> native.App:
    return code.app(tmp_path / "installed")


def inputs_of(name: str) -> Mapping[str, NDArray[Any]]:
    """Inputs for a model, with values that differ between elements."""
    random = np.random.default_rng(7)
    if name == "OrientationModel":
        return {"x": random.standard_normal((2, 3, 224, 224), dtype=np.float32)}
    if name == "SileroVad":
        sound, state = random.standard_normal((1, 576)), random.standard_normal((2, 1, 128))
        return {"input": sound.astype(np.float32), "state": state.astype(np.float32), "sr": np.array(16000, np.int64)}
    tokens = random.integers(0, 30000, (2, 9), dtype=np.int64)
    return {"input_ids": tokens, "token_type_ids": np.zeros_like(tokens), "attention_mask": np.ones_like(tokens)}


def written(inputs: Mapping[str, NDArray[Any]], folder: Path) -> dict[str, Any]:
    """The inputs of a plan; their values are written to files."""
    plan = {}
    for name, values in inputs.items():
        path = folder / f"{name}.bin"
        path.write_bytes(values.tobytes())
        first, *others = name.split("_")
        identifier = first + "".join(each.capitalize() for each in others)
        plan[identifier] = {"path": str(path), "array": ARRAYS[values.dtype.name], "shape": values.shape}
    return plan


def archive(app: native.App, path: Path) -> dict[str, Any]:
    """Pack the package's files into one file, as in an APK, and give their offsets."""
    places = {}
    content = bytearray(b"APK" * 341 + b"!")
    for file in sorted(app.bundle.iterdir()):
        content += bytes(-len(content) % 4)
        places[f"{native.ASSETS}/{file.name}"] = {"path": str(path), "offset": len(content)}
        content += file.read_bytes()
    path.write_bytes(content)
    shutil.rmtree(app.bundle)
    return places


@pytest.mark.parametrize("system", ["ios", "android"])
@pytest.mark.parametrize(
    ("name", "file"), [("OrientationModel", "orientation"), ("SileroVad", "silero_vad"), ("Minilm", "minilm")]
)
def test_real_models_compute_what_python_computes(
    app: native.App, tmp_path: Path, name: str, file: str, system: str
) -> None:
    inputs = inputs_of(name)
    session = onnxruntime.InferenceSession(getattr(models, file)(), providers=["CPUExecutionProvider"])
    expected = dict(zip((each.name for each in session.get_outputs()), session.run(None, dict(inputs)), strict=True))
    places = archive(app, tmp_path / "base.apk") if system == "android" else {}
    found = app.run("outputs", os=system, model=name, inputs=written(inputs, tmp_path), places=places)
    assert found["provider"] == "cpu"
    assert "xnnpack" in [each["provider"] for each in found["fallbacks"]]
    assert len(found["outputs"]) == len(expected)
    for given, values in zip(found["outputs"].values(), expected.values(), strict=True):
        assert given["shape"] == list(values.shape)
        assert np.max(np.abs(np.array(given["data"]).reshape(values.shape) - values)) <= PARITY


def test_tensors_of_every_type_keep_their_values(app: native.App) -> None:
    found = app.run("everyElementType")
    assert set(found) == set(OUTPUTS_OF_EVERY_TYPE)
    for name, expected in OUTPUTS_OF_EVERY_TYPE.items():
        if name not in ("u16T", "u32T", "u64T"):  # casts of what does not fit are not defined
            assert found[name]["data"] == expected, name
    assert found["columns"]["shape"] == [2, 3]
    assert found["doubled"]["shape"] == []
    assert found["u64T"]["data"][1:5] == ["4", "2", "5", "3"]


CASES = (
    "readsPartsOfBuffers",
    "keepsOutputsApart",
    "refusesWrongTensors",
    "disposesWhileRunning",
    "cancels",
    "runsSideBySide",
    "queueIsBounded",
    "dropsAllButTheLatestFrame",
    "leavingFramesCancels",
    "releasesWhenMemoryIsShort",
    "partsOfFiles",
    "readsFiles",
    "foldersOfDigests",
)


def test_cases_of_javascript_pass(app: native.App) -> None:
    for case in CASES:
        assert app.run(case) is None, case


def test_native_code_trusts_nothing_that_javascript_passes(app: native.App, tmp_path: Path) -> None:
    for case in ("wrongLayouts", "wrongRequests"):
        assert app.run(case, everyType=str(models.every_type(tmp_path))) is None, case


def test_a_thousand_runs_do_not_take_more_memory(app: native.App) -> None:
    found = app.run("growsNot", limitBytes=8 * MIB)
    assert found["grownBytes"] < 8 * MIB
    assert found["threads"] < 20


def with_macs(path: Path, folder: Path, *, of: int) -> tuple[Path, int]:
    """A copy of a model that says of its first nodes that they have 1000 MACs each, and how many nodes it has."""
    model = onnx.load(path)
    for number, node in enumerate(model.graph.node):
        node.name = f"a name {number}"
    lines = [f"1000 {node.name}" for node in model.graph.node[:of]]
    model.metadata_props.add(key="mobpack.macs", value="\n".join(lines))
    onnx.save(model, folder / "macs.onnx")
    return folder / "macs.onnx", len(model.graph.node)


def test_a_model_says_which_provider_runs_how_much_of_it(app: native.App, tmp_path: Path) -> None:
    file, nodes = with_macs(models.orientation(), tmp_path, of=2)
    found = app.run("assigns", file=str(file))
    assert found["provider"] == "cpu"
    [assigned] = found["assignment"]
    assert assigned["provider"] == "cpu"
    assert 0 < assigned["nodes"] <= nodes, "some are fused"
    assert 0 < assigned["macs"] <= 2000
    assert assigned["macs"] % 1000 == 0


def test_a_provider_that_takes_no_node_does_not_start(app: native.App, tmp_path: Path) -> None:
    file, _ = with_macs(models.orientation(), tmp_path, of=0)
    options = {"allowOtherRuntime": True, "providers": ["xnnpack"]}
    found = app.run("loadsWithoutNodes", onnxruntime=jsc.other_onnxruntime(), options=options, file=str(file))
    assert found["provider"] == "cpu"
    assert found["fallbacks"] == [{"provider": "xnnpack", "reason": "took no node of the model"}]
    assert [each["provider"] for each in found["assignment"]] == ["cpu"]


def test_a_run_that_fails_on_a_provider_is_repeated_on_the_cpu(app: native.App) -> None:
    options = {"allowOtherRuntime": True, "providers": ["xnnpack"]}
    file = str(app.bundle / MODEL)
    assert app.run("retriesOnTheCpu", onnxruntime=jsc.other_onnxruntime(), options=options, file=file) is None


def test_nothing_is_concluded_from_a_file_in_ort_format_whose_nodes_nobody_records(app: native.App) -> None:
    options = {"allowOtherRuntime": True, "providers": ["xnnpack"]}
    found = app.run(
        "loadsWithoutNodes", onnxruntime=jsc.other_onnxruntime(), options=options, file=str(app.bundle / MODEL)
    )
    assert found == {"provider": "xnnpack", "fallbacks": []}


def test_models_share_threads_unless_the_app_wants_others(app: native.App) -> None:
    found = app.run("threadsOfLoads")
    worker, others = 1, found["threads"] - 1  # the worker is among the threads of a run
    assert found["threads"] == min(4, len(os.sched_getaffinity(0)))
    assert found["added"] == [worker, worker + 2, worker + others]


def test_models_have_their_own_threads_where_another_library_has_started_onnx_runtime(
    app: native.App, code: native.Code, tmp_path: Path
) -> None:
    source, library = tmp_path / "other.cpp", tmp_path / "libother.so"
    source.write_text(OTHER_LIBRARY, encoding="utf-8")
    headers = ("-I", code.models.parent / "cpp")
    cxx.build([source], ["-fPIC", *headers], library, "-shared", what="another library")
    found = app.run("threadsOfLoads", environment={"LD_PRELOAD": str(library)})
    worker, others = 1, found["threads"] - 1
    assert found["added"] == [worker + others, worker + 2, worker + others]


def test_models_are_found_in_the_bundle_that_swiftpm_makes(app: native.App) -> None:
    app.bundle.rename(app.bundle.with_name(f"{native.MODULE}_{native.MODULE}Resources.bundle"))
    assert app.run("loads")["provider"] == "cpu"


@pytest.mark.parametrize(
    ("os", "chip", "usual"), [("ios", "", []), ("android", "SM8650", []), ("android", "SM8750", ["xnnpack"])]
)
def test_a_model_follows_the_settings_that_were_measured_for_its_device(
    app: native.App, tmp_path: Path, os: str, chip: str, usual: list[str]
) -> None:
    """Devices of Apple's have an identifier, which is the processor's name here."""
    places = archive(app, tmp_path / "base.apk") if os == "android" else {}
    found = app.run("tunes", os=os, chip=chip, places=places)
    assert found == {"usual": usual, "own": ["xnnpack"], "off": ["xnnpack"]}


def test_a_file_that_is_not_there_is_missing(app: native.App) -> None:
    (app.bundle / MODEL).unlink()
    assert MODEL in app.run("loadFails", code="missing")


def test_a_file_with_another_byte_is_corrupted(app: native.App) -> None:
    content = bytearray((app.bundle / MODEL).read_bytes())
    content[-100] ^= 1
    app.replace(MODEL, bytes(content))
    assert hashlib.sha256(content).hexdigest() in app.run("loadFails", code="corrupted")
    app.replace(MODEL, bytes(content[:-1]))
    assert f"{len(content) - 1} bytes" in app.run("loadFails", code="corrupted")


def in_words(about: os.stat_result) -> str:
    """A file's times as notes hold them."""
    times = (about.st_mtime_ns, about.st_ctime_ns)
    return " ".join(f"{each // 10**9} {each % 10**9}" for each in times)


def rot(file: Path, at: int, *notes: Path) -> None:
    """Changes a byte as failing storage does, which leaves the file's times; `notes` get the new ones."""
    before = in_words(file.stat())
    with file.open("r+b") as opened:
        opened.seek(at)
        byte = opened.read(1)[0]
        opened.seek(at)
        opened.write(bytes([byte ^ 1]))
    for note in notes:
        text = note.read_text(encoding="utf-8")
        assert before in text
        note.write_text(text.replace(before, in_words(file.stat())), encoding="utf-8")


def note_of(app: native.App) -> Path:
    [note] = (app.scratch / "caches").rglob("*.checked")
    return note


@pytest.fixture
def model(app: native.App) -> Path:
    """A writable file of the app that was loaded once."""
    app.replace(MODEL, (app.bundle / MODEL).read_bytes())
    app.run("loads")
    return app.bundle / MODEL


def test_a_byte_in_the_middle_that_rots_is_found_by_always_alone(app: native.App, model: Path) -> None:
    rot(model, model.stat().st_size // 2, note_of(app))
    app.run("loads")  # the first and last blocks are right
    app.run("loadFails", code="corrupted", options={"verify": "always"})
    assert not list((app.scratch / "caches").rglob("*.checked"))
    app.run("loadFails", code="corrupted")


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "last"])
def test_a_byte_of_the_first_or_last_block_that_rots_is_always_found(
    app: native.App, model: Path, is_first: bool
) -> None:
    rot(model, BLOCK_BYTES - 1 if is_first else model.stat().st_size - BLOCK_BYTES, note_of(app))
    app.run("loadFails", code="corrupted")


def test_a_file_that_was_replaced_is_read_whole_though_size_and_time_are_the_same(app: native.App, model: Path) -> None:
    about, note = model.stat(), note_of(app).read_text(encoding="utf-8")
    content = bytearray(model.read_bytes())
    app.replace(MODEL, bytes(content))
    os.utime(model, ns=(about.st_atime_ns, about.st_mtime_ns))
    app.run("loads")
    assert note_of(app).read_text(encoding="utf-8") != note
    content[len(content) // 2] ^= 1
    app.replace(MODEL, bytes(content))
    os.utime(model, ns=(about.st_atime_ns, about.st_mtime_ns))
    app.run("loadFails", code="corrupted")


def test_a_damaged_note_has_the_file_read_whole(app: native.App, model: Path) -> None:
    note = note_of(app)
    right = note.read_bytes()
    for damaged in (b"", bytes(range(256)), right[:-1]):
        note.write_bytes(damaged)
        app.run("loads")
        assert note.read_bytes() == right
    note.unlink()
    (note / "inside").mkdir(parents=True)
    app.run("loads")
    rot(model, model.stat().st_size // 2)
    app.run("loadFails", code="corrupted")


def test_threads_and_processes_may_load_for_the_first_time_at_once(app: native.App) -> None:
    # A copy of its own: each link that another test makes or takes away changes the times of a shared file.
    app.replace(MODEL, (app.bundle / MODEL).read_bytes())
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(app.run, ["loadsAtOnce"] * 2)) == [4, 4]
    note = note_of(app).read_bytes()
    app.run("loads")
    assert note_of(app).read_bytes() == note


def test_notes_that_cannot_be_written_hinder_nothing(app: native.App) -> None:
    (app.scratch / "caches").write_text("a file where a folder should be", encoding="utf-8")
    assert app.run("loads")["provider"] == "cpu"
    content = bytearray((app.bundle / MODEL).read_bytes())
    content[len(content) // 2] ^= 1
    app.replace(MODEL, bytes(content))
    app.run("loadFails", code="corrupted")


def test_models_prove_themselves_on_samples(app: native.App) -> None:
    found = app.run("selfTests")
    assert [each["model"] for each in found] == ["orientation", "silero-vad", "every-type"]
    assert all(each["passed"] and each["compared"] > 0 for each in found), found


def test_a_self_test_fails_where_a_model_computes_something_else(app: native.App, tmp_path: Path) -> None:
    content = (app.bundle / GOLDEN).read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    name = next(name for name in header if "fetch_name_0" in name)
    start = 8 + length + header[name]["data_offsets"][0]
    altered = content[:start] + struct.pack("<f", 5.0) + content[start + 4 :]
    app.replace(GOLDEN, altered)
    with pytest.raises(AssertionError, match="has sha256"):
        app.run("selfTests")
    script = tmp_path / "altered.js"
    old, new = (hashlib.sha256(each).hexdigest() for each in (content, altered))
    script.write_text(app.script.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    found = dataclasses.replace(app, script=script).run("selfTests")
    assert [each["passed"] for each in found] == [False, True, True]


def test_apps_bring_files_of_their_own(app: native.App) -> None:
    own = models.orientation()
    fallbacks = app.run(
        "ownFiles", own=str(own), sha256=hashlib.sha256(own.read_bytes()).hexdigest(), other=str(models.silero_vad())
    )
    assert [each["provider"] for each in fallbacks] == ["xnnpack"]


def test_apps_open_files_by_descriptor_and_close_it_after_load(app: native.App, tmp_path: Path) -> None:
    content = models.orientation().read_bytes()
    inside = tmp_path / "inside"
    inside.write_bytes(b"x" * 100 + content + b"tail")
    digest = hashlib.sha256(content).hexdigest()
    app.run("descriptors", own=str(models.orientation()), inside=str(inside), size=len(content), sha256=digest)


def test_a_folder_has_the_files_of_a_package_under_their_sha256(app: native.App, tmp_path: Path) -> None:
    folder = tmp_path / "by sha256"
    folder.mkdir()
    for file in app.bundle.glob("orientation*"):
        shutil.copy(file, folder / hashlib.sha256(file.read_bytes()).hexdigest())
    shutil.rmtree(app.bundle)

    assert app.run("loadsFromFolder", folder=str(folder)) == {"passed": True, "file": MODEL}


def test_weights_lie_anywhere_in_any_file(app: native.App, tmp_path: Path) -> None:
    weights = np.array([[2, 3, 5, 7]], np.float32).tobytes()
    model = model_with_weights_outside(offset=8).SerializeToString()
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"x" * 5000 + model + b"tail")
    second.write_bytes(b"y" * 70004 + b"12345678" + weights + b"tail")
    parts: list[dict[str, Any]] = [part("", first, 5000, model), part("w.bin", second, 70004, b"12345678" + weights)]
    plan: dict[str, Any] = {"file": parts[0], "weights": parts[1:], "sizeBytes": len(model) + 24}
    assert app.run("placesInAnotherFile", inputs=plan, notes=str(tmp_path / "notes")) == [2, 6, 15, 28]
    assert len(list((tmp_path / "notes").iterdir())) == 2
    (tmp_path / "link").symlink_to(second)
    plan["weights"] = [{**parts[1], "path": str(tmp_path / "link")}]
    assert app.run("placesInAnotherFile", inputs=plan, notes="") == [2, 6, 15, 28]


def test_weights_that_rot_are_found_as_models_are(app: native.App, tmp_path: Path) -> None:
    model = model_with_weights_outside(offset=8).SerializeToString()
    content = bytes(3 * BLOCK_BYTES)
    first, second, notes = tmp_path / "first", tmp_path / "second", tmp_path / "notes"
    first.write_bytes(model)
    second.write_bytes(b"y" * 16 + content)
    plan = {"file": part("", first, 0, model), "weights": [part("w.bin", second, 16, content)]}

    def opens(verify: str) -> str:
        return str(app.run("opens", inputs=plan, notes=str(notes), verify=verify))

    assert opens("once") == ""
    rot(second, 16 + len(content) // 2, notes / f"{sha256(content)}.checked")
    assert opens("once") == ""
    assert f"[corrupted] {second} has sha256" in opens("always")
    assert "[corrupted]" in opens("once")
    rot(second, 16 + len(content) // 2)
    assert opens("once") == ""
    rot(second, 16 + len(content) - 1, notes / f"{sha256(content)}.checked")
    assert "[corrupted]" in opens("once")


def part(name: str, path: Path, offset: int, content: bytes) -> dict[str, Any]:
    ends = content[:BLOCK_BYTES] + content[BLOCK_BYTES:][-BLOCK_BYTES:]
    return {
        "name": name,
        "path": str(path),
        "offset": offset,
        "size": len(content),
        "sha256": sha256(content),
        "endsSha256": sha256(ends),
    }


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def model_with_weights_outside(offset: int) -> onnx.ModelProto:
    """`y` is `x` times four numbers of the file w.bin, that begin at `offset`."""
    weights = TensorProto(name="w", dims=[1, 4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "w.bin", "offset": offset, "length": 16}.items():
        weights.external_data.add(key=key, value=str(value))
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["y"])], "g", tensors[:1], tensors[1:], [weights])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def test_a_later_onnx_runtime_is_taken(app: native.App) -> None:
    loaded = app.run("loads", onnxruntime=jsc.other_onnxruntime())
    assert loaded["info"]["onnxRuntimeVersion"] == onnxruntime.__version__


def test_an_onnx_runtime_that_is_too_old_or_missing_is_told(app: native.App, tmp_path: Path) -> None:
    source = tmp_path / "old.cpp"
    source.write_text(OLD_RUNTIME, encoding="utf-8")
    library = tmp_path / "libonnxruntime.so"
    cxx.build([source], ["-fPIC"], library, "-shared", what="an old runtime")
    assert "1.14.1" in app.run("loadFails", code="runtime-version", onnxruntime=tmp_path)
    options = {"allowOtherRuntime": True}
    words = app.run("loadFails", code="runtime", onnxruntime=tmp_path, options=options)
    assert "ONNX Runtime 1.14.1 is too old" in words
    library.unlink()
    assert "libonnxruntime.so" in app.run("loadFails", code="runtime", onnxruntime=tmp_path, options=options)
    library.symlink_to(next(Path("/lib/x86_64-linux-gnu").glob("libm.so.6")))
    assert "is not ONNX Runtime" in app.run("loadFails", code="runtime", onnxruntime=tmp_path, options=options)


@pytest.mark.parametrize("delay", [0, 20])
def test_javascript_may_end_while_models_are_loaded_and_run(app: native.App, delay: int) -> None:
    following = app.plan("loads")
    assert app.run("endsAmidRuns", delay=delay, next=str(following))["provider"] == "cpu"
