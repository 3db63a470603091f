"""tflite: LiteRT (TensorFlow Lite) files, through tf2onnx."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from packager.core.errors import ModelError
from packager.engines.environments.framework import Framework
from packager.importers import tensorflow_graphs
from packager.importers.importer import Arrays, Converted, ImportSource, Input, dimensions
from packager.importers.tflite_rewriting import rewritten

IDENTIFIER = b"TFL3"
"""bytes 4 to 8 of every file"""


@dataclass(frozen=True, kw_only=True)
class TfLite:
    NAME: ClassVar[str] = "tflite"
    FRAMEWORK: ClassVar[str] = "LiteRT"
    SOURCES: ClassVar[str] = "`.tflite`"
    ENVIRONMENT: ClassVar[Framework | None] = tensorflow_graphs.ENVIRONMENT
    RUNS_CODE: ClassVar[bool] = False

    def reads(self, source: ImportSource) -> bool:
        return source.path.suffix == ".tflite"

    def load(self, source: ImportSource) -> "Interpreted":
        with source.path.open("rb") as file:
            if file.read(8)[4:] != IDENTIFIER:
                raise ModelError(f"{source.text}: not a .tflite file", hint="it is damaged, or has a wrong name")
        import tensorflow

        try:
            interpreter = tensorflow.lite.Interpreter(str(source.path), num_threads=1)
            if not any(-1 in each["shape_signature"] for each in interpreter.get_input_details()):
                interpreter.allocate_tensors()  # sizes that are open are 1 in the file, which may be too small
        except (ValueError, RuntimeError) as error:
            first = str(error).strip().splitlines()[0]
            raise ModelError(
                f"LiteRT cannot load {source.text}: {first}",
                hint="it may be cut off, or have operators of its own (Flex, custom): import what it was made from",
            ) from error
        operators = {each["op_name"] for each in interpreter._get_ops_details()}
        path = rewritten(source.path, Path.cwd(), operators, source.text)
        if path != source.path:
            interpreter = tensorflow.lite.Interpreter(str(path), num_threads=1)
            interpreter.allocate_tensors()
        return Interpreted(interpreter=interpreter, path=path)


@dataclass(frozen=True, kw_only=True)
class Interpreted:
    interpreter: Any
    path: Path

    @property
    def made_with(self) -> str:
        import tensorflow

        return f"LiteRT of TensorFlow {tensorflow.__version__}"

    @property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(
            Input(name=name, dtype=each["dtype"].__name__, shape=dimensions(name, signature(each)))
            for name, each in self._ports("input").items()
        )

    def run(self, inputs: Arrays) -> Arrays:
        ports = self._ports("input")
        for name, value in inputs.items():
            self.interpreter.resize_tensor_input(ports[name]["index"], value.shape)
        self.interpreter.allocate_tensors()
        for name, value in inputs.items():
            self.interpreter.set_tensor(ports[name]["index"], value)
        self.interpreter.invoke()
        return {name: self.interpreter.get_tensor(each["index"]) for name, each in self._ports("output").items()}

    def convert(self, path: Path) -> Converted:
        import tf2onnx

        found, made = self._ports("input"), self._ports("output")
        tf2onnx.convert.from_tflite(
            str(self.path),
            input_names=[each["name"] for each in found.values()],
            output_names=[each["name"] for each in made.values()],
            opset=tensorflow_graphs.OPSET,
            output_path=str(path),
        )
        return Converted(
            converter=f"tf2onnx {tf2onnx.__version__}",
            names={each["name"]: name for name, each in {**found, **made}.items()},
        )

    def _ports(self, kind: str) -> Mapping[str, Mapping[str, Any]]:
        """Details of the tensors, by the names of the file's signature, or of the tensors without one."""
        details = {each["index"]: each for each in getattr(self.interpreter, f"get_{kind}_details")()}
        signatures = self.interpreter._get_full_signature_list()
        readable = tensorflow_graphs.readable if kind == "input" else tensorflow_graphs.readable_outputs
        if signatures:
            named = (signatures.get("serving_default") or next(iter(signatures.values())))[f"{kind}s"]
            keys = sorted(named)
            return {name: details[named[key]] for name, key in zip(readable(keys), keys, strict=True)}
        keys = [tensor_name(each["name"]) for each in details.values()]
        return dict(zip(readable(keys), details.values(), strict=True))


def tensor_name(name: str) -> str:
    """`serving_default_image:0` -> `image`."""
    return name.partition(":")[0].rpartition("/")[2].removeprefix("serving_default_")


def signature(details: Mapping[str, Any]) -> list[int | None]:
    """The shape, with None for dynamic sizes."""
    return [None if size < 0 else int(size) for size in details["shape_signature"]]
