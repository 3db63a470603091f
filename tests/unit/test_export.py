"""`mobpack export` without PyTorch: refusals, the written graph, and the comparison."""

import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import onnx
import onnx.external_data_helper
import pytest

from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError, ToolError
from packager.workflows.conversion import comparison, graph
from packager.workflows.export import Axis, ExportRequest, steps
from packager.workflows.export.failures import users_module
from packager.workflows.export.request import ExportJob, parse_dynamic
from packager.workflows.export.tracing import in_words
from tests.cases.onnx_text import onnx_model, weight


def request(folder: Path, **fields: object) -> ExportRequest:
    given = {"factory": "nets:make", "code_folder": folder, "output": folder / "model.onnx", **fields}
    return ExportRequest(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("batch", Axis(input="", axis=0, name="batch")),
        ("image.2=height", Axis(input="image", axis=2, name="height")),
        ("a.b.0=n", Axis(input="a.b", axis=0, name="n")),
    ],
)
def test_a_dynamic_axis_is_a_name_or_a_place_and_a_name(text: str, axis: Axis) -> None:
    assert parse_dynamic([text]) == (axis,)


def test_a_job_is_read_as_it_was_written_and_refused_otherwise(tmp_path: Path) -> None:
    for text in ["", "2", "image.x=h", "image=h", ".0=h", "image.0=", "image.0=a b", "image.0=3"]:
        with pytest.raises(ConfigError, match="expected NAME or INPUT"):
            parse_dynamic([text])
    job = ExportJob.of(request(tmp_path, dynamic=parse_dynamic(["batch"]), input_names=("a",)), tmp_path)
    assert ExportJob.read(json.loads(json.dumps(asdict(job)))) == job
    (tmp_path / "model.onnx").mkdir()
    with pytest.raises(ConfigError, match="is a folder"):
        steps.refuse(request(tmp_path))


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({"output": Path("model.ort")}, ConfigError, "the output must be an .onnx file"),
        ({"factory": "nets"}, ConfigError, "expected module:factory"),
        ({"opset": 99}, ConfigError, "--opset 99 is newer than ONNX Runtime supports"),
        ({"sample_count": 0}, ConfigError, "at least one sample is needed"),
    ],
)
def test_what_cannot_become_a_model_is_refused_before_pytorch_is_started(
    fields: dict[str, object], kind: type[Exception], message: str, tmp_path: Path
) -> None:
    steps.refuse(request(tmp_path))  # all else is well
    with pytest.raises(kind, match=message):
        steps.refuse(request(tmp_path, **fields))


@pytest.mark.parametrize("name", ["torch", "onnxscript"])
def test_a_missing_package_is_named_with_a_remedy(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in {"torch", "onnxscript"} - {name}:
        (tmp_path / f"{module}.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(ToolError, match=r"(?i)(py)?" + name) as raised:
        steps.refuse_missing()
    assert raised.value.hint == 'run: pip install "mobpack[torch]"'
    (tmp_path / f"{name}.py").touch()
    steps.refuse_missing()


def test_the_users_own_lines_are_shown_without_those_of_packages(tmp_path: Path) -> None:
    package = tmp_path / "venv" / "site-packages"
    package.mkdir(parents=True)
    (package / "packed_net.py").write_text("def inner():\n    raise ValueError('no weights')\n")
    (tmp_path / "own_net.py").write_text(
        f"import sys\nsys.path.insert(0, {str(package)!r})\n"
        "def outer():\n    import packed_net\n    packed_net.inner()\ndef make():\n    outer()\n"
    )
    with pytest.raises(ConfigError) as raised, users_module("factory fails", tmp_path, "hint"):
        importlib.import_module("own_net").make()
    assert raised.value.message.splitlines() == [
        "factory fails: ValueError: no weights",
        "  own_net.py, line 7, in make: outer()",
        "  own_net.py, line 5, in outer: packed_net.inner()",
    ]


def traced(folder: Path) -> Path:
    """A graph as PyTorch leaves it: weights beside it, and stack traces in every part."""
    proto = onnx_model(
        "(float[n, 64] x) => (float[n, 64] y) { h = MatMul (x, w) y = Relu (h) }", weights={"w": weight(64, 64)}
    )
    proto.doc_string = proto.graph.doc_string = "from /somewhere/nets.py"
    for part in (proto, proto.graph, *proto.graph.node, *proto.graph.input, *proto.graph.initializer):
        part.metadata_props.add(key="stack_trace", value="/somewhere/nets.py, line 3")
    onnx.external_data_helper.convert_model_to_external_data(proto, location="graph.onnx.data", size_threshold=0)
    onnx.save_model(proto, folder / "graph.onnx")
    return folder / "graph.onnx"


def test_a_line_of_a_package_is_named_where_none_is_the_users(tmp_path: Path) -> None:
    """PyTorch notes where it traced a node that it cannot translate: in its messages, or with the node."""
    of_package = 'File "/v/lib/site-packages/vision/ops.py", line 3, in nms\n    return op(x)\n'
    of_user = f'File "{tmp_path / "nets.py"}", line 7, in forward\n    return nms(x)\n'
    assert in_words(RuntimeError(of_package), tmp_path).message.splitlines()[1:] == [
        "  site-packages/vision/ops.py, line 3, in nms: return op(x)"
    ]

    def translate(node: object) -> None:
        raise RuntimeError("No ONNX function found for <OpOverload(op='vision.nms', overload='default')>")

    with pytest.raises(RuntimeError) as raised:
        translate(SimpleNamespace(stack_trace=of_user + of_package))
    message = in_words(raised.value, tmp_path).message
    assert message == "PyTorch has no ONNX operator for vision.nms\n  nets.py, line 7, in forward: return nms(x)"


def test_a_graph_is_written_as_one_file_without_the_places_it_was_made_at(tmp_path: Path) -> None:
    path = traced(tmp_path)
    (tmp_path / "out").mkdir()
    written = graph.write(graph.read(path), tmp_path, tmp_path / "out" / "model.onnx")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["model.onnx"]
    assert b"somewhere" not in written[0].read_bytes()
    made = onnx.load_model(written[0])
    assert onnx.numpy_helper.to_array(made.graph.initializer[0]).tolist() == weight(64, 64).tolist()


def test_a_graph_that_is_too_large_for_one_file_gets_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = traced(tmp_path)
    assert graph.weight_bytes(graph.read(path)) == 64 * 64 * 4
    monkeypatch.setattr(graph, "LARGEST_BYTES", 64 * 64 * 4)
    (tmp_path / "out").mkdir()
    written = graph.write(graph.read(path), tmp_path, tmp_path / "out" / "model.onnx")
    assert [file.name for file in written] == ["model.onnx", "model.onnx.data"]
    assert onnx.numpy_helper.to_array(onnx.load_model(written[0]).graph.initializer[0]).shape == (64, 64)


def test_opsets_and_shares_are_those_that_were_asked_for() -> None:
    proto = onnx_model("(float[3] x) => (float[3] y) { y = Relu (x) }", opsets={"": 18})
    graph.refuse_other_opset(proto, 18)
    with pytest.raises(ModelError, match="cannot convert the graph to opset 12; it stayed at opset 18"):
        graph.refuse_other_opset(proto, 12)
    shares = (0.0, 0.00647, 0.41, 0.999, 1.9, 34.07, 1234.5)
    found = [comparison.OutputResult(name="y", max_share=each).percent for each in shares]
    assert found == ["0 %", "0.65 %", "41 %", "100 %", "190 %", "3,407 %", "123,450 %"]


def test_wrong_constants_in_declared_shapes_are_taken_back_and_right_ones_stay() -> None:
    proto = onnx_model(
        "(float[n, 3] x) => (float[2, 3] y, float[7] z) <float[2, 3] h> { h = Relu (x) y = Relu (h) z = Other (x) }"
    )
    graph.mend_shapes(proto, [{"n": 2}], [[[2, 3], [7]]])
    assert [each.dimensions for each in graph.ports(proto.graph.output)] == [(2, 3), (7,)]
    assert len(proto.graph.value_info) == 1
    graph.mend_shapes(proto, [{"n": 2}, {"n": 5}], [[[2, 3], [7]], [[5, 3], [9]]])
    assert [each.dimensions for each in graph.ports(proto.graph.output)] == [("n", 3), ("z_0",)]
    assert len(proto.graph.value_info) == 0


def test_a_dynamic_dimension_that_became_a_constant_is_refused() -> None:
    console = Console(quiet=True)
    steps.refuse_fixed(onnx_model(PORTS), axes(left="batch", right="batch"), console)
    with pytest.raises(ModelError, match=r"'batch' \(axis 0 of input 'right'\) is fixed to 4 in the graph"):
        steps.refuse_fixed(onnx_model(PORTS.replace("[batch, 4]", "[4, 4]")), axes(right="batch"), console)
    assert console.warnings == []


def test_two_dynamic_dimensions_that_became_one_are_a_warning() -> None:
    console = Console(quiet=True)
    steps.refuse_fixed(onnx_model(PORTS), axes(left="batch", right="rows"), console)
    assert console.warnings == ["'rows' (axis 0 of input 'right') must always equal 'batch'"]


def test_an_input_that_nothing_uses_is_a_warning() -> None:
    console = Console(quiet=True)
    steps.warn_of_unused(onnx_model(PORTS), console)
    assert [each.partition(" is ")[0] for each in console.warnings] == ["input 'right'"]


PORTS = "(float[batch, 3] left, float[batch, 4] right) => (float[batch, 3] y) { y = Relu (left) }"


def axes(**names: str) -> steps.Exported:
    """Export with the first axis of each input dynamic."""
    return steps.Exported(
        inputs=tuple(names),
        outputs=("y",),
        axes=tuple(Axis(input=key, axis=0, name=name) for key, name in names.items()),
        sizes=(),
        torch="2",
        weight_bytes=400,
        shared=("words.weight",),
    )


@pytest.mark.parametrize(("rows", "warned"), [(25, False), (50, True)])
def test_copies_of_shared_weights_are_a_warning(rows: int, warned: bool) -> None:
    proto = onnx_model("(float[3] x) => (float[3] y) { y = Relu (x) }", weights={"w": weight(rows, 4)})
    console = Console(quiet=True)
    steps.warn_of_copies(proto, axes(), console)
    assert ["share words.weight" in each and "2.00 times" in each for each in console.warnings] == [True] * warned
