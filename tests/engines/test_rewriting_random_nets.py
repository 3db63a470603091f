"""Every quantizer on random nets: valid, the same for any number of threads, and close to the float model."""

import pytest
from hypothesis import given, settings

from tests.cases.random_nets import nets
from tests.cases.rewriting_random_nets import QUANTIZERS, check, quick

large = settings(quick, max_examples=40)


@pytest.mark.parametrize("name", QUANTIZERS)
def test_large_random_nets_compute_nearly_the_same_with_other_numbers(name: str) -> None:
    large(given(nets(12))(lambda model: check(model, name)))()
