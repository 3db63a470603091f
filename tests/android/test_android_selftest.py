"""A generated model tests itself on ONNX Runtime's Android libraries: it passes, or says which output is wrong.

The package is built of real models, as `mobpack build` builds it. The golden vectors of the model with every element
type are samples that a user gives: words, NaN, infinities, and no rows at all. Those of `generated` are random inputs
of every type that has them, which Kotlin must make bit for bit: its outputs may not be off at all.
"""

import hashlib
import json
import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from packager import models as onnx_models
from packager import vectors
from packager.compile import plan
from packager.compile.compile import compile_plain
from packager.config.checks import ParityTable
from packager.core.console import Console
from packager.core.findings import Report
from packager.core.values import Choice, Model, Package, Plan, baseline
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.files.zips import write_zip
from packager.targets.android import Android
from packager.vectors import Golden, Vectors
from packager.verification import parity
from packager.verification.golden import golden_vectors
from packager.verification.parity import ParitySettings, Subject
from tests.cases.archives import read_zip
from tests.cases.onnx_text import onnx_model, saved
from tests.toolchain import jvm, models, warm_apps
from tests.toolchain.device import Device, Library, device
from tests.toolchain.warm_apps import warm

__all__ = ["warm"]


Run = Callable[..., Mapping[str, str]]
Edit = tuple[str, int, bytes]
"""tensor, index and another value"""

PACKAGE = Package(name="models", version="1.0.0", license="")
ANDROID = Android(group="com.example", providers=("qnn", "nnapi", "xnnpack"))
"""With the providers of `projects.ANDROID`: the Kotlin that all models share is the same then, and compiled once."""
PLANNED = replace(ANDROID, providers=("nnapi", "xnnpack"))
TOLERANCE = 1e-5
FOLDER = "assets/mobpack/models"
MAIN_CLASSES = {"generated": "apps.GeneratedKt"}
APPS = Path(__file__).parents[1] / "toolchain" / "selftest"
TYPES = "float double float16 int8 uint8 int16 int32 int64 bool".split()
"""types that Android apps can pass and recipes can make"""
GENERATED = f"""
    ({", ".join(f"{each}[3, 67] {each}_in" for each in TYPES)}, int64[batch, 67] ids, float[2, 2] few, string[3] words)
    => ({", ".join(f"{each}[67, 3] {each}_out" for each in TYPES)}, float[batch, 67, 2] rows, float[2, 2] same,
        string[3] said)
    {{ {" ".join(f"{each}_out = Transpose ({each}_in)" for each in TYPES)}
       rows = Gather (table, ids) same = Neg (few) said = Identity (words) }}"""
TABLE = {"table": np.arange(2000, dtype=np.float32).reshape(1000, 2)}
COLUMNS = 12
"""numbers of the output `columns` of every type, in the first sample"""
WORDS = ["", "日本", "a\0b", "tab\there", "Zürich", "🙂"]


@pytest.fixture(scope="module")
def built(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Library:
    """The library, and the app that runs its models' self-tests."""
    folder = tmp_path_factory.mktemp("selftest")
    store = Store(cache_folder() / "store")
    real = [
        described(models.orientation(), "orientation"),
        described(models.silero_vad(), "silero-vad", batch=1, sequence=576),
        described(models.minilm(), "minilm"),
    ]
    every_type = described(models.every_type(folder), "every-type")
    generated = described(saved(folder / "generated.onnx", onnx_model(GENERATED, weights=TABLE)), "generated")
    console = Console(quiet=True)
    plans = [*(planned(model, store) for model in (*real, every_type)), unchanged(generated, store)]
    golden = {
        **golden_vectors(plans[:3], ParityTable(), settings_of, store, console),
        **golden_vectors(
            plans[3:4], ParityTable(golden="samples", samples=given(folder / "samples")), settings_of, store, console
        ),
        **golden_vectors(plans[4:], ParityTable(), lambda subject: ParitySettings(tolerance=0.0), store, console),
    }
    assert console.warnings == []
    golden |= {key: with_hidden(each) for key, each in golden.items() if "columns" in each.allowed}
    return library(packaged(plans, golden, store), folder)


def described(path: Path, name: str, **sizes: int) -> Model:
    return onnx_models.hashed(onnx_models.load(path, name, fixed=sizes))


def planned(model: Model, store: Store) -> Plan:
    return plan.make(baseline(model, "source"), PLANNED, store, lambda text: None)


def unchanged(model: Model, store: Store) -> Plan:
    """A plan of the file as it is. Others with floats of 16 bits are compiled and run on an emulated processor."""
    compiled = compile_plain(baseline(model, "source"), store)
    choices = tuple(Choice(provider=each, compiled=compiled, reason="") for each in (*PLANNED.providers, "cpu"))
    return Plan(model=model, target="android", environment=Runtime.NAME, choices=choices)


def settings_of(subject: Subject) -> ParitySettings:
    return ParitySettings(tolerance=parity.default_tolerance(subject.variant))


def packaged(plans: list[Plan], golden: Golden, store: Store) -> Path:
    view = ANDROID.view(PACKAGE, tuple(plans), Report(parities=()), golden=golden)
    artifacts = ANDROID.assemble(view, ANDROID.render(view), store)
    return next(each.path for each in artifacts if each.kind == "aar")


def with_hidden(vectors: Vectors) -> Vectors:
    """As for a table of which one number is compared."""
    columns = replace(vectors.allowed["columns"], mismatches=COLUMNS - 1)
    return replace(vectors, allowed={**vectors.allowed, "columns": columns})


def library(aar: Path, folder: Path) -> Library:
    with zipfile.ZipFile(aar) as archive:
        classes = Path(archive.extract("classes.jar", folder))
    apps = jvm.compile_kotlin(
        [jvm.APPS / "Task.kt", *sorted(APPS.glob("*.kt"))],
        classpath=[classes, jvm.fakes(), jvm.android_runtime().classes],
    )
    return Library(aar=aar, classes=classes, apps=apps)


def given(folder: Path) -> Path:
    """Two samples for the model with every element type: one with NaN and infinities, one without rows."""
    folder.mkdir()
    for number, count in enumerate((4, 0)):
        numbers = np.random.default_rng(number)
        floats = numbers.normal(size=(2, 3)).astype(np.float32)
        floats[0] = [np.nan, np.inf, -np.inf]
        arrays: dict[str, NDArray[Any]] = {
            "f32": floats,
            "f64": floats.astype(np.float64) * 1e100,
            "f16": np.array([[6e-8, -65504, 1.5], [np.nan, np.inf, 2**-14]], np.float16),
            "i8": np.array([[-128, -1, 0], [1, 2, 127]], np.int8),
            "i16": np.array([[-32768, -1, 0], [1, 2, 32767]], np.int16),
            "i32": np.array([[-(2**31), -1, 0], [1, 2, 2**31 - 1]], np.int32),
            "i64": np.array([[1, 2, 3], [40000, 70000, 2**40]], np.int64),
            "u8": np.array([[0, 1, 2], [127, 128, 255]], np.uint8),
            "flag": np.array([[True, False, False], [True, True, False]]),
            "word": np.array(WORDS).reshape(2, 3),
            "scalar": np.array(1.25, np.float32),
            "rows": numbers.normal(size=(count, 3)).astype(np.float32),
        }
        np.savez(folder / f"{number}.npz", **arrays)  # type: ignore[arg-type]
    return folder


@dataclass(frozen=True, kw_only=True)
class Altered:
    """An asset of the library that replaces the built one; the class is given the sha256 of the changed asset."""

    assets: Mapping[str, bytes]
    is_admitted: bool = True


@pytest.fixture
def run(built: Library, tmp_path: Path) -> Run:
    """Has a model test itself on a new device, in a library in which something may be altered."""

    def run(
        model: str, altered: Altered | None = None, *, is_stored: bool = True, **values: object
    ) -> Mapping[str, str]:
        used = with_altered(built, altered, tmp_path) if altered else built
        phone = device(used, tmp_path, is_stored=is_stored)
        return start(phone, model, **values)

    return run


def start(phone: Device, model: str, **values: object) -> Mapping[str, str]:
    exchange = phone.folder / "files"
    exchange.mkdir(parents=True, exist_ok=True)
    return warm_apps.run(
        MAIN_CLASSES.get(model, "apps.SelfTestKt"),
        {"apk": phone.apk, "data": phone.folder / "data", "files": exchange, "model": model, **values},
        classpath=[phone.library.apps, phone.library.classes],
    ).facts


def with_altered(built: Library, altered: Altered, folder: Path) -> Library:
    content = dict(read_zip(built.aar))
    classes = read_zip(built.classes)
    for name, changed in altered.assets.items():
        before = sha256(content[PurePosixPath(name)])
        content[PurePosixPath(name)] = changed
        if altered.is_admitted:
            replaced = {key: each.replace(before, sha256(changed)) for key, each in classes.items()}
            assert replaced != classes, f"no class knows the sha256 of {name}"
            classes = replaced
    aar = write_zip(folder / "altered.aar", content)
    return replace(built, aar=aar, classes=write_zip(folder / "altered.jar", classes))


def sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def asset(built: Library, name: str) -> bytearray:
    return bytearray(read_zip(built.aar)[PurePosixPath(FOLDER, name)])


def header_of(content: bytes | bytearray) -> dict[str, Any]:
    (length,) = struct.unpack_from("<Q", content)
    header: dict[str, Any] = json.loads(content[8 : 8 + length])
    return header


def edited(built: Library, model: str, *edits: Edit) -> Altered:
    """The golden vectors of `model` with other values for elements of tensors, or for numbers of recipes."""
    name = f"{model}.golden.safetensors"
    content = asset(built, name)
    (length,) = struct.unpack_from("<Q", content)
    header = header_of(content)
    for tensor, index, value in edits:
        at = 8 + length + header[tensor]["data_offsets"][0] + index * len(value)
        assert content[at : at + len(value)] != value
        content[at : at + len(value)] = value
    return Altered(assets={f"{FOLDER}/{name}": bytes(content)})


@pytest.mark.parametrize("provider", ["CPU", "XNNPACK"])
@pytest.mark.parametrize(
    ("model", "outputs"),
    [
        ("orientation", ["fetch_name_0.0", "fetch_name_0.1"]),
        ("silero-vad", ["output.0", "stateN.0", "output.1", "stateN.1"]),
        ("minilm", ["last_hidden_state.0", "last_hidden_state.1"]),
    ],
)
def test_a_real_model_passes_its_own_test(run: Run, model: str, outputs: list[str], provider: str) -> None:
    found = run(model, providers=provider)

    assert (found["passed"], found["failed"], found["provider"]) == ("true", "", provider)
    errors = {name.removesuffix(".error"): float(found[name]) for name in found if name.endswith(".error")}
    print(f"{model} on {provider}: {errors}")
    assert sorted(errors) == sorted(outputs)
    assert max(errors.values()) <= TOLERANCE
    assert found["text"].startswith(f"Self-test of {model} on {provider} (mobpack/models/{model}")
    assert found["text"].count("\n") == len(outputs)


def test_a_model_with_every_element_type_passes_on_words_infinities_and_no_rows(run: Run) -> None:
    found = run("every-type", providers="CPU")

    assert found["passed"] == "true", found["text"]
    names = [f"{name}_t" for name in models.EVERY_TYPE | models.OUTPUT_ONLY]
    assert {f"{name}.{sample}.failure" for name in (*names, "doubled", "columns") for sample in (0, 1)} <= set(found)
    assert [found[f"{name}_t.0.tolerance"] for name in ("f32", "f16", "u8", "i64", "word", "flag")] == [
        "0.01",
        "0.01",
        "0.01",
        "0.0",
        "0.0",
        "0.0",
    ]


def test_kotlin_makes_random_inputs_of_every_type_bit_for_bit(built: Library, run: Run) -> None:
    found = run("generated", providers="CPU")

    assert (found["passed"], found["count"]) == ("true", str(2 * (len(TYPES) + 3))), found["text"]
    header = header_of(asset(built, "generated.golden.safetensors"))
    made = [name.removeprefix("1.recipe.") for name in header if name.startswith("1.recipe.")]
    assert sorted(made) == sorted([*(f"{each}_in" for each in TYPES), "ids"])


OTHER_RECIPES = [
    *((f"1.recipe.{each}_in", 0, 12345, f"{each}_out.1") for each in TYPES),
    ("0.recipe.int8_in", 1, -127, "int8_out.0"),
    ("0.recipe.int32_in", 3, 0, "int32_out.0"),
    ("0.recipe.ids", 2, 500, "rows.0"),
]


def test_inputs_of_another_recipe_fail(built: Library, run: Run) -> None:
    """Each where it changed, and no other."""
    edits = [(tensor, number, struct.pack("<q", value)) for tensor, number, value, _ in OTHER_RECIPES]
    found = run("generated", edited(built, "generated", *edits), providers="CPU")

    assert found["passed"] == "false"
    assert sorted(found["failed"].split(",")) == sorted(output for *_, output in OTHER_RECIPES)


def test_what_is_stored_of_a_real_model_is_next_to_nothing(built: Library) -> None:
    """Two pictures of 602 kB give 16 numbers."""
    content = asset(built, "orientation.golden.safetensors")
    assert len(content) < 2048
    assert sorted(name for name in header_of(content) if "recipe" in name) == ["0.recipe.x", "1.recipe.x"]


def test_compressed_vectors_are_read_too(run: Run) -> None:
    assert run("orientation", is_stored=False, providers="CPU")["passed"] == "true"


def test_a_closed_model_tests_nothing(run: Run) -> None:
    found = run("silero-vad", providers="CPU")

    assert found["closed.thrown"] == "java.lang.IllegalStateException"
    assert found["closed.message"] == "SileroVad is closed"


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_device_that_gives_infinity_everywhere_has_lost_what_is_compared(
    built: Library, run: Run, is_lost: bool
) -> None:
    infinite = struct.pack("<f", np.inf)
    edits = [("0.output.columns", index, infinite) for index in range(COLUMNS - 1)]
    edits += [("0.input.rows", index, infinite) for index in range(COLUMNS) if is_lost]
    found = run("every-type", edited(built, "every-type", *edits), providers="CPU")

    assert found["failed"] == ("columns.0" if is_lost else "")
    assert found["columns.0.mismatches"] == str(COLUMNS if is_lost else COLUMNS - 1)


OTHER_VALUES = [
    ("orientation", "0.output.fetch_name_0", 2, struct.pack("<f", 9.0), "fetch_name_0.0", " + 1.0e-03 x "),
    ("silero-vad", "1.output.stateN", 7, struct.pack("<f", 9.0), "stateN.1", " + 1.0e-03 x "),
    ("every-type", "0.output.f32_t", 1, struct.pack("<f", np.nan), "f32_t.0", "NaN or infinity at other places: 1"),
    ("every-type", "1.output.f32_t", 0, struct.pack("<f", 1.0), "f32_t.1", "NaN or infinity at other places: 1"),
    ("every-type", "0.output.f64_t", 1, struct.pack("<d", 9e100), "f64_t.0", " + 1.0e-02 x "),
    ("every-type", "0.output.f16_t", 2, struct.pack("<e", -60000), "f16_t.0", "error 5.5e+03 of "),
    ("every-type", "0.output.u8_t", 5, struct.pack("<B", 250), "u8_t.0", "error 5.0e+00 of "),
    ("every-type", "0.output.i8_t", 0, struct.pack("<b", 127), "i8_t.0", "error 2.6e+02 of "),
    ("every-type", "0.output.i16_t", 0, struct.pack("<h", -32767), "i16_t.0", "values that differ: 1"),
    ("every-type", "0.output.i32_t", 0, struct.pack("<i", 0), "i32_t.0", "values that differ: 1"),
    ("every-type", "0.output.i64_t", 5, struct.pack("<q", 2**40 + 1), "i64_t.0", "values that differ: 1"),
    ("every-type", "0.output.u16_t", 0, struct.pack("<H", 2), "u16_t.0", "values that differ: 1"),
    ("every-type", "0.output.flag_t", 0, b"\0", "flag_t.0", "values that differ: 1"),
    ("every-type", "0.output.doubled", 0, struct.pack("<f", 2.4), "doubled.0", " + 1.0e-02 x "),
    ("every-type", "0.output.columns", 11, struct.pack("<f", 9.0), "columns.0", " + 1.0e-02 x "),
]


@pytest.fixture(scope="module")
def wrong(built: Library, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, str]]:
    """The answers of models to vectors in which all values are wrong."""
    found = {}
    for model in {each for each, *_ in OTHER_VALUES}:
        folder = tmp_path_factory.mktemp(model)
        edits = [(tensor, index, value) for each, tensor, index, value, *_ in OTHER_VALUES if each == model]
        phone = device(with_altered(built, edited(built, model, *edits), folder), folder)
        found[model] = start(phone, model, providers="CPU")
    return found


@pytest.mark.parametrize(("model", "failed", "words"), [(each[0], *each[4:]) for each in OTHER_VALUES])
def test_another_expected_value_fails_and_names_output_and_sample(
    wrong: Mapping[str, Mapping[str, str]], model: str, failed: str, words: str
) -> None:
    found = wrong[model]

    assert words in found[f"{failed}.failure"]
    assert f"FAILED, {found[f'{failed}.failure']}" in found["text"]


def test_no_other_output_fails(wrong: Mapping[str, Mapping[str, str]]) -> None:
    for model, found in wrong.items():
        assert found["passed"] == "false"
        assert sorted(found["failed"].split(",")) == sorted(each[4] for each in OTHER_VALUES if each[0] == model)


def test_another_word_fails(built: Library, run: Run) -> None:
    name = "every-type.golden.safetensors"
    content = bytes(asset(built, name))
    start = content.rindex("Zürich".encode())  # inputs come first
    changed = content[:start] + "Zürick".encode() + content[start + 7 :]

    found = run("every-type", Altered(assets={f"{FOLDER}/{name}": changed}), providers="CPU")

    assert (found["failed"], found["word_t.1.failure"]) == ("word_t.1", "values that differ: 1")


def test_a_model_with_another_weight_fails(built: Library, run: Run) -> None:
    content = asset(built, "orientation.ort.tflite")
    weights = np.frombuffer(content, np.float32, offset=len(content) // 2 // 4 * 4, count=2000)
    weights *= np.float32(-4)  # in place
    found = run("orientation", Altered(assets={f"{FOLDER}/orientation.ort.tflite": bytes(content)}), providers="CPU")

    assert (found["passed"], found["failed"]) == ("false", "fetch_name_0.0")


def test_vectors_that_were_tampered_with_are_refused(built: Library, run: Run) -> None:
    altered = edited(built, "orientation", ("0.output.fetch_name_0", 0, struct.pack("<f", 9.0)))

    found = run("orientation", replace(altered, is_admitted=False), providers="CPU")

    assert found["thrown"] == "com.example.models.ModelCorruptedException"
    assert found["message"].startswith("mobpack/models/orientation.golden.safetensors has sha256 ")


def test_arithmetic_in_16_bits_that_the_app_asks_for_is_allowed_to_round_more(run: Run) -> None:
    found = run("in 16 bits")

    assert (found["provider"], found["fetch_name_0.0.tolerance"], found["passed"]) == ("NNAPI", "0.01", "true")
    assert found["fetch_name_0.0.absoluteTolerance"] == "1.0E-4"


@pytest.mark.parametrize(("error", "failed"), [(9e-4, ""), (1.2e-3, "fetch_name_0.0")])
def test_what_comes_from_a_softmax_is_measured_by_its_range(
    built: Library, run: Run, tmp_path: Path, error: float, failed: str
) -> None:
    path = tmp_path / "golden"
    path.write_bytes(asset(built, "orientation.golden.safetensors"))
    golden = vectors.read(path)
    smallest = float(vectors.outputs_of(golden, golden.samples[0])["fetch_name_0"].reshape(-1)[0])
    altered = edited(built, "orientation", ("0.output.fetch_name_0", 0, struct.pack("<f", smallest + error)))

    found = run("orientation", altered, providers="CPU")

    parts = [float(found[f"fetch_name_0.0.{part}"]) for part in ("tolerance", "absoluteTolerance", "scale")]
    assert parts == [1e-3, 1e-5, 1.0]
    assert found["failed"] == failed


def test_the_vectors_are_what_desktop_onnxruntime_computes(built: Library, tmp_path: Path) -> None:
    import onnxruntime

    path = tmp_path / "golden"
    path.write_bytes(asset(built, "silero-vad.golden.safetensors"))
    golden = vectors.read(path)
    session = onnxruntime.InferenceSession(models.silero_vad(), providers=["CPUExecutionProvider"])
    for sample in golden.samples:
        feed, expected = vectors.inputs_of(golden, sample), vectors.outputs_of(golden, sample)
        for name, array in zip(["output", "stateN"], session.run(["output", "stateN"], feed), strict=True):
            assert np.abs(expected[name] - array).max() <= TOLERANCE
