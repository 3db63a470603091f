"""Every quantizer on random nets: valid, the same for any number of threads, and close to the float model."""

from pathlib import Path

import onnx
import onnx.numpy_helper
import pytest
from hypothesis import assume, given, settings

from packager.core.errors import ModelError
from tests.cases.random_nets import nets
from tests.cases.rewriting_cases import decibels, outcome, outcome_in_files, run, samples_for
from tests.cases.rewriting_random_nets import QUANTIZERS, check, quick


@pytest.mark.parametrize("name", QUANTIZERS)
def test_a_random_net_computes_nearly_the_same_with_other_numbers(name: str) -> None:
    quick(given(nets())(lambda model: check(model, name)))()


@pytest.mark.parametrize("name", QUANTIZERS)
def test_any_number_of_threads_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    folders = iter(range(1000))

    def compare(model: onnx.ModelProto) -> None:
        made = set()
        for threads in (1, 4, 1):
            folder = tmp_path / str(next(folders))
            try:
                made.add(outcome_in_files(model, QUANTIZERS[name][0], samples_for(model, 1), folder, threads=threads))
            except ModelError:
                assume(False)
        assert len(made) == 1

    settings(quick, max_examples=3)(given(nets())(compare))()


@pytest.mark.parametrize("name", ["static", "symmetric", "unsigned", "all"])
def test_onnx_runtime_fuses_a_random_net_without_changing_what_it_computes(name: str) -> None:
    """Except for the rounding of its integer kernels."""

    def compare(model: onnx.ModelProto) -> None:
        samples = samples_for(model, 1)
        try:
            made = outcome(model, QUANTIZERS[name][0], samples).model
        except ModelError:
            assume(False)
        node_by_node, fused = run(made, samples[0], is_optimized=False), run(made, samples[0])
        assert decibels([(node_by_node[output], fused[output]) for output in fused]) >= 25

    settings(quick, max_examples=4)(given(nets())(compare))()
