"""Weights of branches and loop bodies in external files: hard links to these files are no reason for a refusal."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy
import onnx
import onnx.helper
import onnxruntime
import pytest
from onnx import TensorProto

from packager import models
from packager.compile.compile import compile_fused, compile_plain, compile_unfused, compile_variant
from packager.core.values import Style, baseline
from packager.engines.runners import RUNNERS
from packager.files.store import Store
from packager.graph import traversal
from packager.graph.rewriting.lifting import settle
from packager.verification import parity
from packager.verification.parity import ParitySettings, Subject
from tests.cases.onnx_text import onnx_model, saved, weight

BRANCHES = """
(bool c, float[1, 64] x) => (float[p, q] y) {
  y = If (c) <
    then_branch = then_graph () => (float[p, q] t) { m = MatMul (x, w) s = Slice (sizes, a, b) t = Reshape (m, s) },
    else_branch = else_graph () => (float[p, q] e) { m = MatMul (x, w) r = Relu (m) e = Reshape (r, shape) }
  >
}
"""
LOOP = """
(int64 n, bool c, float[1, 64] x) => (float[1, 64] y) {
  y = Loop (n, c, x) <
    body = body (int64 i, bool go, float[1, 64] state) => (bool on, float[1, 64] next) {
      on = Identity (go)
      flat = Reshape (state, shape)
      m = MatMul (flat, w)
      next = Tanh (m)
    }
  >
}
"""
SCAN = """
(float[1, 64] x, float[3, 1, 64] xs) => (float[1, 64] y, float[3, 1, 64] ys) {
  y, ys = Scan <
    num_scan_inputs = 1,
    body = body (float[1, 64] state, float[1, 64] each) => (float[1, 64] next, float[1, 64] out) {
      sum = Add (state, each)
      flat = Reshape (sum, shape)
      next = MatMul (flat, w)
      out = Identity (next)
    }
  > (x, xs)
}
"""
THEN = {"w": weight(64, 64), "sizes": numpy.full(500, 8), "a": numpy.array([0]), "b": numpy.array([2])}
ELSE = {"w": weight(64, 64, seed=1), "shape": numpy.array([8, 8])}
FLAT = {"w": numpy.multiply(weight(64, 64), numpy.float32(0.125)), "shape": numpy.array([1, 64])}
CASES = {"If": (BRANCHES, [THEN, ELSE]), "Loop": (LOOP, [FLAT]), "Scan": (SCAN, [FLAT])}


def with_bodies(name: str) -> onnx.ModelProto:
    """A model whose bodies have weights and shapes of their own."""
    graph, constants = CASES[name]
    model = onnx_model(graph)
    (node,) = model.graph.node
    for body, arrays in zip(traversal.subgraphs(node), constants, strict=True):
        for key, array in arrays.items():
            body.initializer.append(onnx.numpy_helper.from_array(array, key))
    return model


def outside(model: onnx.ModelProto, folder: Path) -> Path:
    """`model` with every tensor in a file beside it, even shapes of one number."""
    path = saved(folder / "m.onnx", model)
    onnx.save(
        onnx.load(path), path, save_as_external_data=True, location="m.data", size_threshold=0, convert_attribute=True
    )
    return path


def run(path: Path, feeds: Mapping[str, numpy.ndarray]) -> list[numpy.ndarray]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    found: list[numpy.ndarray] = session.run(None, {each.name: feeds[each.name] for each in session.get_inputs()})
    return found


def feeds() -> dict[str, numpy.ndarray]:
    x, xs = numpy.float32(numpy.linspace(-1, 1, 64)).reshape(1, 64), numpy.ones((3, 1, 64), numpy.float32)
    return {"x": x, "xs": xs, "n": numpy.array(3), "c": numpy.array(True)}


@pytest.mark.parametrize("links", ["one", "hard", "symbolic"])
@pytest.mark.parametrize("name", CASES)
def test_a_file_of_the_users_may_have_several_links(tmp_path: Path, name: str, links: str) -> None:
    expected = run(saved(tmp_path / "whole.onnx", with_bodies(name)), feeds())
    path = outside(with_bodies(name), tmp_path / "model")
    data = path.with_name("m.data")
    if links == "hard":
        os.link(data, tmp_path / "other")
    elif links == "symbolic":
        data.rename(path.with_name("real"))
        data.symlink_to("real")
    variant = baseline(models.hashed(models.load(path, "m")))
    before = run_bytes(variant.graph, variant.data_folder)
    assert all(numpy.array_equal(one, other) for one, other in zip(before, expected, strict=True))
    made = compile_variant(variant, Store(tmp_path / "store"))
    assert all(
        numpy.allclose(one, other, atol=1e-6) for one, other in zip(run(made.path, feeds()), expected, strict=True)
    )


def run_bytes(graph: bytes, folder: Path) -> list[numpy.ndarray]:
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder))
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    found: list[numpy.ndarray] = session.run(None, {each.name: feeds()[each.name] for each in session.get_inputs()})
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_file_that_is_made_of_such_a_model_loads_over_linked_weights(tmp_path: Path, name: str) -> None:
    """The store links the fused graph's file beside those that use its weights."""
    store = Store(tmp_path / "store")
    path = outside(with_bodies(name), tmp_path / "model")
    os.link(path.with_name("m.data"), tmp_path / "other")
    variant = baseline(models.hashed(models.load(path, "m")))
    fused = compile_variant(variant, store)
    unfused = compile_variant(variant, store, style=Style.UNFUSED)
    files = [
        fused,
        unfused,
        compile_unfused(variant, store, fused),
        compile_unfused(variant, store, None),
        compile_fused(variant, store, unfused),
        compile_plain(variant, store),
    ]
    assert any(file.stat().st_nlink > 1 for each in files for file in each.data_files)
    (cpu,) = RUNNERS["cpu"]("")
    references = parity.OriginalOutputs(tmp_path)
    for number, each in enumerate(files):
        folder = tmp_path / f"check-{number}"
        folder.mkdir()
        subject = Subject(variant=variant, compiled=each)
        found = parity.check(subject, cpu, ParitySettings(random_samples=2), folder, references).parity
        assert (found.refusal, found.over) == ("", ())


def test_weights_of_bodies_are_there_once_and_branches_keep_theirs_apart(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    variant = baseline(models.hashed(models.load(saved(tmp_path / "m.onnx", with_bodies("Loop")), "m")))
    fused = compile_variant(variant, store)
    unfused = compile_unfused(variant, store, fused)
    assert unfused.path.stat().st_size < 4096
    assert [file.name for file in unfused.data_files] == [fused.path.name]
    model = onnx_model(
        """(bool c, float[512] x) => (float[512] y) {
          w = Neg (x)
          z = If (c) <
            then_branch = a () => (float[512] t) { v = If (c) <
               then_branch = aa () => (float[512] ta) { ta = Add (x, k) },
               else_branch = ab () => (float[512] tb) { l = Neg (k) tb = Add (x, l) }
              > t = Add (v, k) },
            else_branch = b () => (float[512] e) { e = Add (x, k) }
          >
          y = Add (z, w)
        }"""
    )
    first, second = traversal.subgraphs(model.graph.node[1])
    for number, body in enumerate((first, second)):
        body.initializer.append(onnx.numpy_helper.from_array(weight(512, seed=number), "k"))
    expected = [
        run(saved(tmp_path / "w.onnx", model), {"x": weight(512), "c": numpy.array(c)})[0] for c in (1 > 0, 1 < 0)
    ]
    path = outside(model, tmp_path / "model")
    proto = onnx.load(path, load_external_data=False)
    settle(proto, path.parent)
    assert sorted(tensor.name for tensor in proto.graph.initializer) == ["k_1", "k_2"]
    path.write_bytes(proto.SerializeToString())
    for c, wanted in zip((True, False), expected, strict=True):
        assert numpy.array_equal(run(path, {"x": weight(512), "c": numpy.array(c)})[0], wanted)


def test_what_a_branch_gives_back_and_constants_of_functions_are_read_in(tmp_path: Path) -> None:
    model = onnx_model(
        """(bool c, float[512] x) => (float[512] y) {
          z = If (c) <
            then_branch = a () => (float[512] k) { u = Relu (x) }, else_branch = b () => (float[512] e) { e = Relu (x) }
          >
          v = acme.F (z)
          y = Relu (v)
        }""",
        opsets={"": 17, "acme": 1},
        functions='<domain: "acme", opset_import: ["" : 17]> F (p) => (q) { n = Neg (p) q = Add (n, n) }',
    )
    then = next(iter(traversal.subgraphs(model.graph.node[0])))
    then.initializer.append(onnx.numpy_helper.from_array(weight(512), "k"))
    constant = onnx.helper.make_node("Constant", [], ["n"], value=onnx.numpy_helper.from_array(weight(512, seed=1)))
    model.functions[0].node[0].CopyFrom(constant)
    expected = run(saved(tmp_path / "w.onnx", model), {"x": weight(512), "c": numpy.array(True)})[0]
    path = outside(model, tmp_path / "model")
    os.link(path.with_name("m.data"), tmp_path / "other")
    proto = onnx.load(path, load_external_data=False)
    settle(proto, path.parent)
    assert len(proto.graph.initializer) == 0
    path.write_bytes(proto.SerializeToString())
    assert numpy.array_equal(run(path, {"x": weight(512), "c": numpy.array(True)})[0], expected)


def test_constant_nodes_in_files_become_constants_of_the_main_graph(tmp_path: Path) -> None:
    model = onnx_model("(float[512] x) => (float[512] y) { k = Neg (x) y = Add (x, k) }")
    model.graph.node[0].CopyFrom(
        onnx.helper.make_node("Constant", [], ["k"], value=onnx.numpy_helper.from_array(weight(512)))
    )
    expected = run(saved(tmp_path / "w.onnx", model), {"x": weight(512)})[0]
    path = outside(model, tmp_path / "model")
    os.link(path.with_name("m.data"), tmp_path / "other")
    proto = onnx.load(path, load_external_data=False)
    settle(proto, path.parent)
    assert [(tensor.name, tensor.data_location) for tensor in proto.graph.initializer] == [("k", TensorProto.EXTERNAL)]
    path.write_bytes(proto.SerializeToString())
    assert numpy.array_equal(run(path, {"x": weight(512)})[0], expected)
