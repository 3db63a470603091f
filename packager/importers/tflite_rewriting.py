"""Rewrites LiteRT files into ones that tf2onnx reads: dense weights, states as inputs and outputs, and MediaPipe's
transposed convolution as LiteRT's own.

All are changes of the graph alone: no number is computed anew. The result is a .tflite file, too, which LiteRT runs
beside the original: it must give the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ModelError

if TYPE_CHECKING:
    import numpy

TRANSPOSED = "Convolution2DTransposeBias"
"""MediaPipe's transposed convolution: input [1, h, w, c], weights [c, h, w, c] and bias [c]; its options are a
TfLiteTransposeConvParams of three int32, the first of which is 1 for the padding SAME and 2 for VALID"""
REWRITTEN = ("DENSIFY", "VAR_HANDLE", TRANSPOSED)
STATE, NEXT = "state_{}", "next_state_{}"
"""names of a state before and after a run"""
STEPS = 3
"""runs in a row on which the rewritten file is compared with the original"""


def rewritten(path: Path, folder: Path, operators: set[str], text: str) -> Path:
    """The file to convert: `path`, or one in `folder` without sparse weights and variables. Raises ModelError for
    variables that do not begin with zeros."""
    if not operators & {*REWRITTEN}:
        return path
    from tensorflow.lite.tools import flatbuffer_utils

    model = flatbuffer_utils.read_model(str(path))
    if "DENSIFY" in operators:
        _densify(model, path)
    if TRANSPOSED in operators:
        _transpose(model)
    states: list[str] = []
    if "VAR_HANDLE" in operators:
        states = _open_states(model, text)
    made = folder / f"{path.stem}-rewritten.tflite"
    flatbuffer_utils.write_model(model, str(made))
    _refuse_different(path, made, len(states), text, delegates=TRANSPOSED in operators)
    return made


def _operators(model: Any, graph: Any) -> Iterator[tuple[Any, str]]:
    """The operators of a graph, with their names."""
    from tensorflow.lite.tools import flatbuffer_utils

    for each in graph.operators:
        code = model.operatorCodes[each.opcodeIndex]
        yield each, flatbuffer_utils.opcode_to_name(model, each.opcodeIndex) if code else ""


def _densify(model: Any, path: Path) -> None:
    """Replaces each DENSIFY by the weights that LiteRT makes of it."""

    graph = model.subgraphs[0]
    interpreter = _opened(path, keeps_all=True)
    interpreter.invoke()
    kept = []
    for each, name in _operators(model, graph):
        if name != "DENSIFY":
            kept.append(each)
            continue
        place = each.outputs[0]
        buffer = _buffer(model, interpreter.get_tensor(place))
        for tensor in (graph.tensors[place], graph.tensors[each.inputs[0]]):  # tf2onnx reads unused ones, too
            tensor.buffer, tensor.sparsity = buffer, None
    graph.operators = kept


def _transpose(model: Any) -> None:
    """Replaces each of MediaPipe's transposed convolutions by LiteRT's, and an addition of the bias."""
    import numpy
    from tensorflow.lite.python import schema_py_generated as schema

    graph = model.subgraphs[0]
    made = []
    for each in graph.operators:
        if model.operatorCodes[each.opcodeIndex].customCode != TRANSPOSED.encode():
            made.append(each)
            continue
        given, weights, bias = each.inputs
        padding, stride_w, stride_h = numpy.frombuffer(bytes(each.customOptions)[:12], "<i4").tolist()
        [out] = each.outputs
        size = numpy.array(graph.tensors[out].shape, numpy.int32)
        convolved = _float_like(graph, out)
        convolution = _operator(
            model, schema.BuiltinOperator.TRANSPOSE_CONV, [_constant(model, graph, size), weights, given], convolved
        )
        convolution.builtinOptionsType = schema.BuiltinOptions.TransposeConvOptions
        convolution.builtinOptions = options = schema.TransposeConvOptionsT()
        options.padding = schema.Padding.SAME if padding == 1 else schema.Padding.VALID
        options.strideW, options.strideH = stride_w, stride_h
        addition = _operator(model, schema.BuiltinOperator.ADD, [convolved, bias], out)
        addition.builtinOptionsType, addition.builtinOptions = schema.BuiltinOptions.AddOptions, schema.AddOptionsT()
        made += [convolution, addition]
    graph.operators = made


def _buffer(model: Any, values: "numpy.ndarray") -> int:
    """A new buffer with the bytes of `values`."""
    import numpy
    from tensorflow.lite.python import schema_py_generated as schema

    buffer = schema.BufferT()
    buffer.data = numpy.frombuffer(values.tobytes(), numpy.uint8)
    model.buffers.append(buffer)
    return len(model.buffers) - 1


def _constant(model: Any, graph: Any, values: "numpy.ndarray") -> int:
    """A new tensor of int32."""
    from tensorflow.lite.python import schema_py_generated as schema

    tensor = schema.TensorT()
    tensor.shape, tensor.type, tensor.buffer = list(values.shape), schema.TensorType.INT32, _buffer(model, values)
    tensor.name = f"size_{tensor.buffer}".encode()
    graph.tensors.append(tensor)
    return len(graph.tensors) - 1


@dataclass
class _Variable:
    first: int | None = None
    """tensor that is read before any is assigned"""
    current: int | None = None
    """tensor that holds its value now"""
    readers: list[int] = field(default_factory=list)


def _open_states(model: Any, text: str) -> list[str]:
    """Makes each variable of the main graph an input and an output; returns the names of the inputs."""
    graph = model.subgraphs[0]
    _refuse_other_beginning(model, text)
    variables: dict[str, _Variable] = {}
    by_handle: dict[int, _Variable] = {}
    same: dict[int, int] = {}
    kept = []
    for each, name in _operators(model, graph):
        each.inputs = [same.get(place, place) for place in each.inputs] if each.inputs is not None else []
        if name == "VAR_HANDLE":
            key = str(each.builtinOptions.sharedName)
            by_handle[each.outputs[0]] = variables.setdefault(key, _Variable())
        elif name == "READ_VARIABLE":
            variable = by_handle[each.inputs[0]]
            if variable.current is None:
                variable.first = variable.current = each.outputs[0]
            else:
                same[each.outputs[0]] = variable.current
        elif name == "ASSIGN_VARIABLE":
            by_handle[each.inputs[0]].current = each.inputs[1]
        elif name != "CALL_ONCE":
            kept.append(each)
    graph.operators = kept
    model.subgraphs = [graph]
    used = [each for each in variables.values() if each.first is not None]
    outputs = [same.get(place, place) for place in graph.outputs]
    for each in used:
        _widen(model, graph, each)
    graph.inputs = [*graph.inputs, *(each.first for each in used)]
    graph.outputs = [*outputs, *(each.current for each in used)]
    return _named(model, graph, used)


def _widen(model: Any, graph: Any, variable: _Variable) -> None:
    """Makes a quantized state a float one: a state of zeros is then the one that a run begins with. Rounding gives back
    the same integers."""
    from tensorflow.lite.python import schema_py_generated as schema

    first, current = variable.first, variable.current
    assert first is not None
    if graph.tensors[first].type not in (schema.TensorType.INT8, schema.TensorType.UINT8, schema.TensorType.INT16):
        return
    variable.first = _float_like(graph, first)
    variable.current = _float_like(graph, first)
    quantize = _operator(model, schema.BuiltinOperator.QUANTIZE, [variable.first], first)
    dequantize = _operator(model, schema.BuiltinOperator.DEQUANTIZE, [current], variable.current)
    graph.operators = [quantize, *graph.operators, dequantize]


def _float_like(graph: Any, place: int) -> int:
    """A new tensor of floats with the shape of another one."""
    from tensorflow.lite.python import schema_py_generated as schema

    made = schema.TensorT()
    made.shape, made.shapeSignature = graph.tensors[place].shape, graph.tensors[place].shapeSignature
    made.type, made.buffer = schema.TensorType.FLOAT32, 0
    made.name = f"float_{len(graph.tensors)}".encode()
    graph.tensors.append(made)
    return len(graph.tensors) - 1


def _operator(model: Any, code: int, given: Sequence[int | None], made: int | None) -> Any:
    from tensorflow.lite.python import schema_py_generated as schema

    places = [place for place, each in enumerate(model.operatorCodes) if each.builtinCode == code]
    if not places:
        new = schema.OperatorCodeT()
        new.builtinCode = new.deprecatedBuiltinCode = code
        new.version = 2  # with all types of integers
        model.operatorCodes.append(new)
        places = [len(model.operatorCodes) - 1]
    each = schema.OperatorT()
    each.opcodeIndex, each.inputs, each.outputs = places[0], list(given), [made]
    return each


def _named(model: Any, graph: Any, used: Sequence[_Variable]) -> list[str]:
    """Names the states; the signature of the file, which knows the other inputs and outputs, gets them, too."""
    from tensorflow.lite.python import schema_py_generated as schema

    names = []
    for number, each in enumerate(used):
        names.append(STATE.format(number))
        graph.tensors[each.first].name = names[-1].encode()
        if each.current != each.first:
            graph.tensors[each.current].name = NEXT.format(number).encode()
    for signature in model.signatureDefs or []:
        for number, each in enumerate(used):
            for end, name, place in (("inputs", STATE, each.first), ("outputs", NEXT, each.current)):
                added = schema.TensorMapT()
                added.name, added.tensorIndex = name.format(number).encode(), place
                getattr(signature, end).append(added)
    return names


def _refuse_other_beginning(model: Any, text: str) -> None:
    """Raises ModelError if a variable does not begin with its 0, as apps begin."""
    import numpy

    for graph in model.subgraphs[1:]:
        for each, name in _operators(model, graph):
            if name != "ASSIGN_VARIABLE":
                continue
            tensor = graph.tensors[each.inputs[1]]
            data = model.buffers[tensor.buffer].data
            quantization = tensor.quantization
            zeros = quantization.zeroPoint if quantization is not None else None
            zero = int(zeros[0]) if zeros is not None and len(zeros) else 0
            numbers = numpy.array(data if data is not None else [], numpy.uint8)
            if (numbers != zero % 256).any() if zero else numbers.any():
                raise ModelError(
                    f"{text} keeps a state in variables that does not begin with zeros",
                    hint="save it with the state as inputs and outputs; ONNX has no variables",
                )


def _refuse_different(path: Path, made: Path, states: int, text: str, *, delegates: bool) -> None:
    """Raises ModelError if the rewritten file gives anything else than the original on some runs in a row."""
    import numpy

    before, after = (_opened(each, delegates=delegates) for each in (path, made))
    numbers = numpy.random.default_rng(0)
    own = before.get_input_details()
    carried = [numpy.zeros(each["shape"], each["dtype"]) for each in after.get_input_details()[len(own) :]]
    for _ in range(STEPS):
        inputs = [_drawn(each, numbers) for each in own]
        wanted = _run(before, inputs)
        found = _run(after, [*inputs, *carried])
        carried = found[len(wanted) :] if states else []
        if not all(map(_is_close, wanted, found)):
            raise ModelError(
                f"{text} cannot be rewritten: mobpack does not support its kind of states, sparse weights or operators",
                hint="save it with the state as inputs and outputs, without sparsity, and with LiteRT's own operators",
            )


def _is_close(wanted: "numpy.ndarray", found: "numpy.ndarray") -> bool:
    """Whether only the order of a sum can be the reason of a difference: kernels of constant weights have another."""
    import numpy

    one, other = wanted.astype(numpy.float64), found.astype(numpy.float64)
    allowed = 1e-5 * numpy.abs(one).max(initial=1e-6) if wanted.dtype.kind == "f" else 0
    return bool((numpy.abs(one - other) <= allowed).all())


def _drawn(details: Any, numbers: "numpy.random.Generator") -> Any:
    import numpy

    shape, dtype = details["shape"], numpy.dtype(details["dtype"])
    if dtype.kind == "f":
        return numbers.standard_normal(shape).astype(dtype)
    limits = numpy.iinfo(dtype) if dtype.itemsize == 1 and dtype.kind in "iu" else None
    return numbers.integers(limits.min if limits else 0, limits.max if limits else 2, shape).astype(dtype)


def _opened(path: Path, *, keeps_all: bool = False, delegates: bool = False) -> Any:
    """With LiteRT's own kernels: a delegate would keep dense weights to itself. MediaPipe's operators need one."""
    import tensorflow

    kinds = tensorflow.lite.experimental.OpResolverType
    resolver = kinds.AUTO if delegates else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = tensorflow.lite.Interpreter(
        str(path),
        num_threads=1,
        experimental_op_resolver_type=resolver,
        experimental_preserve_all_tensors=keeps_all,
    )
    interpreter.allocate_tensors()
    return interpreter


def _run(interpreter: Any, inputs: Sequence[Any]) -> list[Any]:
    for details, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(each["index"]).copy() for each in interpreter.get_output_details()]
