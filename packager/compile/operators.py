"""Lists the operators and types that ORT-format files need: the configuration of a reduced runtime build.

The format is ONNX Runtime's (docs/Reduced_Operator_Kernel_build.md in its repository): one line per domain and opset,
`domain;opset;Op{"inputs": {...}},...`. It has no paths, so that the same models give the same text.
"""

import json
import mmap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def operator_config(files: Sequence[Mapping[str, str]]) -> str:
    """The configuration that covers all `files`, each as returned by `required_operators`."""
    types: dict[tuple[str, str], dict[str, Any]] = {}
    lines: dict[tuple[str, int], set[str]] = {}
    for operators in files:
        for key, used in operators.items():
            domain, opset, op = key.split(";")
            lines.setdefault((domain, int(opset)), set()).add(op)
            if used:  # ONNX Runtime reduces an operator's types over all of its opsets
                types[domain, op] = _union(types.get((domain, op), {}), json.loads(used))
    text = ["# Operators and types required by the models of this package (onnxruntime --include_ops_by_config)"]
    for (domain, version), ops in sorted(lines.items()):
        entries = [op + (json.dumps(types[domain, op]) if (domain, op) in types else "") for op in sorted(ops)]
        text.append(f"{domain};{version};{','.join(entries)}")
    return "\n".join(text) + "\n"


def union(files: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The combined requirements of `files`, each as returned by `required_operators`; sorted."""
    merged: dict[str, str] = {}
    for key, used in sorted((key, used) for operators in files for key, used in operators.items()):
        known = merged.get(key)
        both = json.dumps(_union(json.loads(known), json.loads(used))) if known and used else ""
        merged[key] = used if known is None else both
    return merged


def _union(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Two type entries merged, sorted: {"inputs": {"0": [...]}, "outputs": {...}} or {"custom": [...]}."""
    result: dict[str, Any] = {}
    for key in sorted({*one, *other}, key=lambda name: (int(name) if name.isdecimal() else 0, name)):
        values = [side[key] for side in (one, other) if key in side]
        if isinstance(values[0], dict):
            result[key] = _union(values[0], values[-1])
        else:
            result[key] = [
                json.loads(each) for each in sorted({json.dumps(value) for side in values for value in side})
            ]
    return result


def required_operators(path: Path) -> Mapping[str, str]:
    """`domain;opset;Op` -> the types it is used with as JSON, `""` if ONNX Runtime does not reduce by type.

    The file is read through a memory map: only its graph is touched, never the weights.
    """
    from onnxruntime.tools.ort_format_model import OperatorTypeUsageManager, OrtFormatModelProcessor
    from ort_flatbuffers_py.fbs.InferenceSession import InferenceSession

    required: dict[str, dict[int, set[str]]] = {}
    types = OperatorTypeUsageManager()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        # The constructor reads the file into memory twice; all other methods work on any buffer.
        processor = OrtFormatModelProcessor.__new__(OrtFormatModelProcessor)
        processor._required_ops = required
        processor._op_type_processors = types
        processor._model = InferenceSession.GetRootAsInferenceSession(content, 0).Model()
        processor.process()
        del processor  # it keeps views of the map
    return {
        f"{domain};{opset};{op}": types.get_config_entry(domain, op) or ""
        for domain in sorted(required)
        for opset in sorted(required[domain])
        for op in sorted(required[domain][opset])
    }
