"""Packages that `mobpack build` makes of real models and of some that are made to be difficult."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper

from packager.targets import WRAPPERS
from tests.cases import liar
from tests.cases.onnx_text import onnx_model, saved
from tests.nights import AT_NIGHT
from tests.toolchain import command, generation_models, models, typed_texts, wrapped_alone
from tests.toolchain.made import Package
from tests.toolchain.require import fetched

VERSION = "1.2.3"
TOKENS = """
[model.tokens]
path = '{tokens}'

[model.tokens.inputs.input_ids]
kind = "text"
tokenizer = "tokenizer.json"
"""
NAMES = ("caf\u00e9", "cafe\u0301", '数"\\(x)', "it's`${1}`*/", "constructor", "__proto__", "let", "a-b", "</a>{{b}}")
"""Names of inputs. Two are the same in two normal forms of Unicode; some end strings, comments and templates."""
REAL = """
[model.orientation]
path = '{orientation}'

[model.silero-vad]
path = '{silero_vad}'
shapes = {{ batch = 1, sequence = 576 }}

[model.minilm]
path = '{minilm}'
"""
EVERY_TYPE = """
[model.every-type]
path = '{every_type}'
"""
FOR_ANDROID = f"""\
[package]
name = "models"
{REAL}{EVERY_TYPE}
[target.android]
group = "com.example"
providers = ["qnn", "nnapi", "xnnpack"]
"""
FOR_REACT_NATIVE = f"""\
[package]
name = "models"
version = "{VERSION}"
{REAL}{EVERY_TYPE}
[model.names]
path = '{{names}}'

[parity]
random-samples = 1

[target.android]
group = "com.example"
providers = ["xnnpack"]

[target.android.tuned.SM8650.names]
providers = ["cpu"]

[target.ios]
providers = ["xnnpack"]

[target.ios.tuned.x86_64.names]
providers = ["cpu"]

[target.react_native]
package = "@example/models"
"""
FOR_IOS = f"""\
[package]
name = "models"
version = "{VERSION}"
{REAL}
[model.corners]
path = '{{corners}}'

[model.generated]
path = '{{generated}}'

{{tolerances}}
[parity]
random-samples = 1

[target.ios]
providers = ["coreml", "xnnpack"]
"""
FOR_WEB = f"""\
[package]
name = "models"
version = "{VERSION}"
{REAL}
[model.names]
path = '{{names}}'
{TOKENS}{typed_texts.EMBEDDER}
[model.orientation.inputs.x]
kind = "image"
resize = "crop"
resize-to = 256
mean = [0.485, 0.456, 0.406]
std = [0.229, 0.224, 0.225]

[model.silero-vad.inputs.input]
kind = "audio"
rate = 16000

[model.silero-vad.inputs.state]
kind = "state"
output = "stateN"

[parity]
random-samples = 1

[target.web]
package = "@example/models"
"""
WEBGPU_TARGET = """
[parity]
random-samples = 1

[target.web]
package = "@example/models"
runtime = "webgpu"
providers = ["webnn", "webgpu"]
"""
FOR_WEBGPU_THAT_LIES = f"""\
[package]
name = "models"
version = "{VERSION}"

[model.liar]
path = "liar.onnx"
{WEBGPU_TARGET}"""
FOR_WEBGPU_LARGE = f"""\
[package]
name = "models"
version = "{VERSION}"

[model.orientation]
path = '{{orientation}}'

[model.orientation.inputs.x]
kind = "image"
resize = "crop"
resize-to = 256
antialias = false
mean = [0.485, 0.456, 0.406]
std = [0.229, 0.224, 0.225]

[model.minilm]
path = '{{minilm}}'
{WEBGPU_TARGET}"""
FOR_WEBGPU = f"""\
[package]
name = "models"
version = "{VERSION}"
{TOKENS}
[model.silero-vad]
path = '{{silero_vad}}'
shapes = {{{{ batch = 1, sequence = 576 }}}}

[model.silero-vad.inputs.input]
kind = "audio"
rate = 16000

[model.silero-vad.inputs.state]
kind = "state"
output = "stateN"

[model.finder]
path = '{{finder}}'

[model.finder.inputs.x]
kind = "image"
resize = "letterbox"

[model.finder.outputs.y]
kind = "boxes"
format = "yolo"
score-threshold = 0.0
iou-threshold = 1.0

[model.listener]
path = '{{listener}}'

[model.listener.inputs.x]
kind = "audio"
rate = 16000
features = "whisper"
{WEBGPU_TARGET}"""
FOR_FLUTTER = f"""\
[package]
name = "models"
version = "{VERSION}"
{REAL}{EVERY_TYPE}
[model.names]
path = '{{names}}'
{TOKENS}
[model.orientation.inputs.x]
kind = "image"
resize = "crop"
resize-to = 256
mean = [0.485, 0.456, 0.406]
std = [0.229, 0.224, 0.225]

[model.orientation.outputs.fetch_name_0]
kind = "classes"
activation = "none"
labels = "degrees.txt"

[model.silero-vad.inputs.input]
kind = "audio"
rate = 16000

[model.silero-vad.inputs.state]
kind = "state"
output = "stateN"

[parity]
random-samples = 1

[target.android]
providers = ["xnnpack"]

[target.web]

[target.flutter]
"""
GENERATED_TYPES = "float double float16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool".split()
EXACT = 1e-30
"""A share of the largest value: no float can be this far off by rounding."""
PAGE_ORIENTATION = f"""\
[package]
name = "page-orientation"
version = "{VERSION}"

[model.orientation]
path = '{{orientation}}'

[parity]
random-samples = 1

[target.android]
group = "com.example"
providers = ["nnapi", "xnnpack"]

[target.ios]
providers = ["coreml", "xnnpack"]
"""


def real_models() -> Mapping[str, Path]:
    """Files of the models in REAL; ends the test where they are not available."""
    for pin in ("model-orientation", "model-silero-vad", "model-minilm"):
        fetched(pin)
    return {"orientation": models.orientation(), "silero_vad": models.silero_vad(), "minilm": models.minilm()}


def built(folder: Path, target: str) -> Path:
    """Builds a project for a target: the folder with the outputs, at night with the .aar beside a wrapper's."""
    is_alone = target in WRAPPERS and not AT_NIGHT
    program = Path(wrapped_alone.__file__) if is_alone else None
    done = command.run("build", "--target", target, folder=folder, program=program)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "dist"


def _building(target: str, pattern: str, write: Callable[[Path], str]) -> Callable[[Path], None]:
    """Has `mobpack build` make the files `pattern` below dist/ of a project: `write` puts models that are made for
    tests into its folder, and gives the text of mobpack.toml."""

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            project = Path(scratch, "project")
            project.mkdir()
            (project / "mobpack.toml").write_text(write(project), encoding="utf-8")
            archives = sorted(built(project, target).glob(pattern))
            assert archives, f"no {pattern} was built"
            for archive in archives:
                shutil.copy(archive, folder)

    return make


def _for_android(folder: Path) -> str:
    return FOR_ANDROID.format(**real_models(), every_type=models.every_type(folder))


def _for_ios(folder: Path) -> str:
    made = {"corners": corners(folder / "corners.onnx"), "generated": generated(folder / "generated.onnx")}
    outputs = [f"{each}_out" for each in GENERATED_TYPES if each.startswith(("float", "double"))]
    outputs += ["int8_out", "uint8_out", "rows", "same"]
    tolerances = "".join(f"[model.generated.tolerance.{name}]\nmax-rel-error = {EXACT}\n\n" for name in outputs)
    return FOR_IOS.format(**real_models(), **made, tolerances=tolerances)


def _for_react_native(folder: Path) -> str:
    made = {"every_type": models.every_type(folder), "names": names(folder / "names.onnx")}
    return FOR_REACT_NATIVE.format(**real_models(), **made)


def _for_web(folder: Path) -> str:
    made = {"names": names(folder / "names.onnx"), "tokens": typed_texts.given(folder)}
    typed_texts.write_embedder(folder)
    return FOR_WEB.format(**real_models(), **made)


def _for_webgpu(folder: Path) -> str:
    made = {"finder": finder(folder / "finder.onnx"), "listener": listener(folder / "listener.onnx")}
    made["tokens"] = typed_texts.given(folder)
    return FOR_WEBGPU.format(**real_models(), **made)


def _for_webgpu_that_lies(folder: Path) -> str:
    saved(folder / "liar.onnx", liar.model())
    return FOR_WEBGPU_THAT_LIES


def _for_webgpu_large(folder: Path) -> str:
    return FOR_WEBGPU_LARGE.format(**real_models())


def _for_flutter(folder: Path) -> str:
    made = {"every_type": models.every_type(folder), "names": names(folder / "names.onnx")}
    made["tokens"] = typed_texts.given(folder)
    (folder / "degrees.txt").write_text("0\n90\n180\n270\n", encoding="utf-8", newline="\n")
    return FOR_FLUTTER.format(**real_models(), **made)


def _page_orientation(folder: Path) -> str:
    return PAGE_ORIENTATION.format(**real_models())


def _native_tales(folder: Path) -> str:
    typed_texts.write_embedder(folder)
    target = '[target.react_native]\npackage = "@example/models"\n'
    return f"{generation_models.project(folder)}{typed_texts.EMBEDDER}{target}"


def _tales(folder: Path) -> str:
    return generation_models.project(folder) + '[target.web]\npackage = "@example/models"\n'


def finder(path: Path) -> Path:
    """A detector with random weights: 16 boxes of 5 classes."""
    random = np.random.default_rng(3)
    text = """(float[1, 3, 64, 64] x) => (float[1, 9, 16] y) {
        c = Conv <strides = [16, 16]> (x, w)
        s = Sigmoid (c)
        m = Mul (s, most)
        y = Reshape (m, shape)
    }"""
    weights: dict[str, npt.NDArray[np.generic]] = {
        "w": random.standard_normal((9, 3, 16, 16)).astype(np.float32) / 8,
        "most": np.array([64] * 4 + [1] * 5, np.float32).reshape(1, 9, 1, 1),
        "shape": np.array([1, 9, 16]),
    }
    return saved(path, onnx_model(text, weights=weights, opsets={"": 18}))


def listener(path: Path) -> Path:
    """Four numbers of a second of sound, with random weights."""
    random = np.random.default_rng(4)
    text = """(float[1, 80, 100] x) => (float[1, 4] y) {
        c = Conv (x, w)
        r = Relu (c)
        y = ReduceMean <keepdims = 0> (r, axes)
    }"""
    weights: dict[str, npt.NDArray[np.generic]] = {
        "w": random.standard_normal((4, 80, 5)).astype(np.float32) / 10,
        "axes": np.array([2]),
    }
    return saved(path, onnx_model(text, weights=weights, opsets={"": 18}))


def names(path: Path) -> Path:
    """A model whose tensors have difficult names: each output is the negative of an input."""
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["count"]) for name in NAMES]
    outputs = [helper.make_tensor_value_info(f"-{name}", TensorProto.FLOAT, ["count"]) for name in NAMES]
    nodes = [helper.make_node("Neg", [name], [f"-{name}"]) for name in NAMES]
    graph = helper.make_graph(nodes, "names", tensors, outputs)
    return saved(path, helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]))


def corners(path: Path) -> Path:
    """Names that are hard to write in Swift, types that no other model has, and outputs whose size a run decides.

    Two inputs bear the same name in two normal forms of Unicode, which Swift takes for equal strings.
    """
    tensor, node = helper.make_tensor_value_info, helper.make_node
    wide = {"u16": TensorProto.UINT16, "u32": TensorProto.UINT32, "u64": TensorProto.UINT64}
    graph = helper.make_graph(
        [
            node("Neg", ["caf\u00e9"], ["gr\u00f6\u00dfe"]),
            node("Add", ["cafe\u0301", "cafe\u0301"], ["gro\u0308\u00dfe"]),
            node("Abs", ['数"\\(x)'], ["let"]),
            *(node("Transpose", [name], [f"{name}_t"]) for name in wide),
            node("Add", ["scalar", "scalar"], ["doubled"]),
            node("Transpose", ["rows"], ["columns"]),
            node("NonZero", ["flags"], ["where"]),
            node("Constant", [], ["row"], value_ints=[-1]),
            node("Reshape", ["where", "row"], ["places"]),
            node("Gather", ["texts", "places"], ["kept"]),
        ],
        "corners",
        [
            tensor("scalar", TensorProto.FLOAT, []),
            tensor("rows", TensorProto.FLOAT, ["height", None]),
            tensor("caf\u00e9", TensorProto.FLOAT, [2, 3]),
            tensor("cafe\u0301", TensorProto.FLOAT, [2, 3]),
            tensor('数"\\(x)', TensorProto.FLOAT, [4]),
            *(tensor(name, element, [2, 3]) for name, element in wide.items()),
            tensor("flags", TensorProto.BOOL, ["count"]),
            tensor("texts", TensorProto.STRING, ["count"]),
        ],
        [
            tensor("gr\u00f6\u00dfe", TensorProto.FLOAT, [2, 3]),
            tensor("gro\u0308\u00dfe", TensorProto.FLOAT, [2, 3]),
            tensor("let", TensorProto.FLOAT, [4]),
            *(tensor(f"{name}_t", element, [3, 2]) for name, element in wide.items()),
            tensor("doubled", TensorProto.FLOAT, []),
            tensor("columns", TensorProto.FLOAT, [None, "height"]),
            tensor("where", TensorProto.INT64, [1, None]),
            tensor("kept", TensorProto.STRING, [None]),
        ],
    )
    return saved(path, helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]))


def generated(path: Path) -> Path:
    """Returns its inputs, of every type that random inputs have; every bit must match."""
    inputs = [f"{each}[3, 67] {each}_in" for each in GENERATED_TYPES]
    outputs = [f"{each}[67, 3] {each}_out" for each in GENERATED_TYPES]
    nodes = [f"{each}_out = Transpose ({each}_in)" for each in GENERATED_TYPES]
    text = f"""
        ({", ".join(inputs)}, int64[batch, 67] ids, float[2, 2] few, string[3] words)
        => ({", ".join(outputs)}, float[batch, 67, 2] rows, float[2, 2] same, string[3] said)
        {{ {" ".join(nodes)} rows = Gather (table, ids) same = Neg (few) said = Identity (words) }}"""
    table = {"table": np.arange(2000, dtype=np.float32).reshape(1000, 2)}
    return saved(path, onnx_model(text, weights=table))


ANDROID = Package(name="android", make=_building("android", "android/*.aar", _for_android))
IOS = Package(name="ios", make=_building("ios", "swift/*.zip", _for_ios))
REACT_NATIVE = Package(name="react-native", make=_building("react_native", "npm/*.tgz", _for_react_native))
WEB = Package(name="web", make=_building("web", "npm/*.tgz", _for_web))
WEBGPU = Package(name="webgpu", make=_building("web", "npm/*.tgz", _for_webgpu))
WEBGPU_THAT_LIES = Package(name="webgpu-that-lies", make=_building("web", "npm/*.tgz", _for_webgpu_that_lies))
WEBGPU_LARGE = Package(name="webgpu-large", make=_building("web", "npm/*.tgz", _for_webgpu_large))
NATIVE_TALES = Package(name="native-tales", make=_building("react_native", "npm/*.tgz", _native_tales))
TALES = Package(name="tales", make=_building("web", "npm/*.tgz", _tales))
PAGES = Package(name="page-orientation", make=_building("react_native", "npm/*.tgz", _page_orientation))
FLUTTER = Package(name="flutter", make=_building("flutter", "flutter/*.zip", _for_flutter))
