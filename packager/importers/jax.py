"""jax: functions of JAX, and modules of flax, that a function of the user's own returns, through jax2onnx."""

import contextlib
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from packager.core.errors import ConfigError, ModelError
from packager.core.user_functions import found, is_function, users_code
from packager.engines.environments.framework import Framework
from packager.importers.importer import Arrays, Converted, ImportSource, Input

OPSET = 21
"""lower than jax2onnx' own, 23, for older runtimes"""
TRIAL = f"""
import flax.linen, flax.nnx, jax, jax2onnx
jax2onnx.to_onnx(flax.nnx.Linear(3, 2, rngs=flax.nnx.Rngs(0)), [("batch", 3)], opset={OPSET})
"""
HINT_RETURN = "return the function, or module, and a tuple with an example array of each input: (model, (image,))"


@dataclass(frozen=True, kw_only=True)
class Jax:
    NAME: ClassVar[str] = "jax"
    FRAMEWORK: ClassVar[str] = "JAX"
    SOURCES: ClassVar[str] = "`MODULE:FUNCTION` that returns (callable, example inputs)"
    ENVIRONMENT: ClassVar[Framework | None] = Framework(
        name="jax",
        about="JAX 0.10.2, flax 0.12.8 and jax2onnx 0.17.1, 1 GB",
        lock=Path(__file__).with_name("jax.txt"),
        trial=TRIAL,
        settings=(("JAX_PLATFORMS", "cpu"),),
    )
    RUNS_CODE: ClassVar[bool] = True

    def reads(self, source: ImportSource) -> bool:
        return is_function(source.text)

    def load(self, source: ImportSource) -> "JaxModel":
        what = f"the function {source.text}"
        factory = found(source.text, source.path, what, "correct it")
        with users_code(what, source.path, "correct it"):
            result = factory()
        if not isinstance(result, tuple) or len(result) != 2 or not callable(result[0]):
            raise ConfigError(f"{what} returned {_kind(result)}", hint=HINT_RETURN)
        function, given = result
        examples = given if isinstance(given, tuple | list) else (given,)
        if not examples or not all(hasattr(each, "shape") and hasattr(each, "dtype") for each in examples):
            raise ConfigError(f"{what} returned inputs that are not arrays", hint=HINT_RETURN)
        if any(not each.shape for each in examples):
            raise ConfigError(f"{what} returned an input without a batch dimension", hint="give every input one")
        return JaxModel(
            function=function, names=names_of(function, len(examples)), examples=tuple(examples), folder=source.path
        )


def _kind(value: Any) -> str:
    return f"a tuple of {len(value)}" if isinstance(value, tuple) else type(value).__name__


def names_of(function: Callable[..., Any], count: int) -> tuple[str, ...]:
    """Names of the parameters, `input` for one that nobody has named."""
    import inspect

    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    if len(names) < count or any(not re.fullmatch(r"[a-zA-Z]\w+", name) for name in names[:count]):
        return ("input",) if count == 1 else tuple(f"input_{number}" for number in range(1, count + 1))
    return tuple(names[:count])


@dataclass(frozen=True, kw_only=True)
class JaxModel:
    """A function whose examples share their first dimension, the batch."""

    function: Callable[..., Any]
    names: tuple[str, ...]
    examples: Sequence[Any]
    folder: Path

    @property
    def made_with(self) -> str:
        import jax

        return f"JAX {jax.__version__}"

    @property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(
            Input(name=name, dtype=str(each.dtype), shape=("batch", *each.shape[1:]))
            for name, each in zip(self.names, self.examples, strict=True)
        )

    def run(self, inputs: Arrays) -> Arrays:
        import jax.numpy

        values = self.function(*(jax.numpy.asarray(inputs[name]) for name in self.names))
        return named(values)

    def convert(self, path: Path) -> Converted:
        import importlib.metadata

        import jax2onnx
        import onnx

        specs = [("batch", *each.shape[1:]) for each in self.examples]
        with contextlib.redirect_stdout(io.StringIO()):
            proto = jax2onnx.to_onnx(self.function, specs, opset=OPSET)
        if len(proto.graph.input) != len(self.names):
            raise ModelError(
                "jax2onnx left out an input: no output depends on it", hint="remove it from the function's parameters"
            )
        onnx.save_model(proto, path)
        wanted = list(self.run(dict(zip(self.names, self.examples, strict=True))))
        outputs = dict(zip((each.name for each in proto.graph.output), wanted, strict=True))
        inputs = dict(zip((each.name for each in proto.graph.input), self.names, strict=True))
        version = importlib.metadata.version("jax2onnx")
        return Converted(converter=f"jax2onnx {version}", names={**inputs, **outputs})


def named(values: Any) -> dict[str, Any]:
    """The leaves of what a function returns: by key of a dict, else `output`, `output_2` ..."""
    import jax
    import numpy

    if isinstance(values, dict) and all(hasattr(each, "shape") for each in values.values()):
        return {str(key): numpy.asarray(values[key]) for key in sorted(values)}
    leaves = jax.tree_util.tree_leaves(values)
    return {
        f"output_{number}" if number > 1 else "output": numpy.asarray(leaf) for number, leaf in enumerate(leaves, 1)
    }
