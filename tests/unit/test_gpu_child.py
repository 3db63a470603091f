"""The program that runs TensorRT: its decisions and its protocol, with stand-ins for TensorRT and pycuda."""

import json
import sys

import numpy
import pytest

from packager.engines.runners import tensorrt_child as child
from packager.engines.runners.tensorrt_child import RefusedError, Span, choose, fitting, have, widened
from packager.engines.runners.tensorrt_native import CHILD
from tests.cases.gpu_child import F32


def test_a_graph_says_how_precise_each_layer_is_unless_fp16_is_asked_for() -> None:
    for version, module in (("10.16.1.11", "tensorrt"), ("11.4.0.106", "tensorrt"), ("1.7.1.116", "tensorrt_rtx")):
        plain = choose(version, module, fp16=False, is_quantized=True)
        assert (plain.is_strongly_typed, plain.flags, plain.cleared) == (True, (), ("TF32",))
        assert plain.words == "strongly typed, TF32 off"


def test_fp16_is_a_flag_of_tensorrt_10_alone() -> None:
    plain = choose("10.3.0", "tensorrt", fp16=True, is_quantized=False)
    assert (plain.is_strongly_typed, plain.flags, plain.words) == (False, ("FP16",), "fp16 allowed, TF32 off")
    assert choose("10.3.0", "tensorrt", fp16=True, is_quantized=True).flags == ("FP16", "INT8")
    with pytest.raises(RefusedError, match=r"^TensorRT 11\.4\.0\.106 computes as precisely as the graph says: give it"):
        choose("11.4.0.106", "tensorrt", fp16=True, is_quantized=False)
    with pytest.raises(RefusedError, match=r"^TensorRT for RTX 1\.7\.1 "):
        choose("1.7.1", "tensorrt_rtx", fp16=True, is_quantized=False)


def test_ranges_grow_to_what_samples_ask_for_and_are_fastest_for_the_last() -> None:
    first = widened({}, {"x": (1, 8)})
    assert first == {"x": Span((1, 8), (1, 8), (1, 8))}
    assert have(first, {"x": (1, 8)})
    assert not have(first, {"x": (2, 8)})
    second = widened(first, {"x": (4, 2)})
    assert second == {"x": Span((1, 2), (4, 2), (4, 8))}
    assert have(second, {"x": (3, 5)})
    assert not have(second, {"x": (5, 5)})
    assert widened(second, {"x": (7,)}) == {"x": Span.of((7,))}
    assert not have(second, {"x": (1, 8), "y": (1,)})


def test_numbers_of_another_type_are_refused_and_not_rounded() -> None:
    with pytest.raises(RefusedError, match="input x holds float64, and TensorRT reads it as float32"):
        fitting("x", numpy.zeros(3), numpy.dtype(F32))
    with pytest.raises(RefusedError, match="holds <U1, and TensorRT"):
        fitting("x", numpy.array(["a"]), numpy.dtype(F32))
    scalar = numpy.asarray(1, F32)
    assert fitting("x", scalar, numpy.dtype(F32)).shape == ()
    assert fitting("x", numpy.zeros((4, 6), F32)[:, ::2], numpy.dtype(F32)).flags.c_contiguous


def test_mistakes_of_the_program_itself_keep_their_traceback() -> None:
    with pytest.raises(KeyError):
        child.said(KeyError("name"))
    assert child.said(RefusedError("no\n room")) == "no room"
    assert child.said(RuntimeError("cuda\n says")) == "cuda says"
    assert child.said(MemoryError()) == "MemoryError"


def test_the_program_takes_no_module_from_its_own_folder() -> None:
    assert str(CHILD.parent) not in sys.path
    assert json.dumps(str(CHILD)).endswith('packager/engines/runners/tensorrt_child.py"')
