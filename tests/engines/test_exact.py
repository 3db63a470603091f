"""Models for comparison compute the same on every x86 processor: checked on this one and on an emulated Haswell."""

import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy
import pytest

from packager.engines.session.exact.products import PRODUCTS
from tests.cases import exact_cases, haswell
from tests.cases.exact import Numbers, different, exact_here, names
from tests.toolchain.environments import have

__all__ = ["exact_here"]


ON_X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="another processor has other kernels")


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Numbers]:
    """Outputs of the cases on a Haswell, opened in either way: `exact` and `plain`."""
    have("x86_64")
    folder = tmp_path_factory.mktemp("haswell")
    command: list[str | Path] = [haswell.interpreter(folder), "-m", "tests.cases.exact_cases", folder]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[2])
    outputs = {}
    for path in folder.glob("*.npz"):
        with numpy.load(path) as arrays:
            outputs[path.stem] = dict(arrays)
    return outputs


@pytest.fixture(scope="module")
def exact_there(emulated: Mapping[str, Numbers]) -> Numbers:
    return emulated["exact"]


@ON_X86
def test_every_operator_gives_the_same_bits_here_and_on_a_haswell(exact_here: Numbers, exact_there: Numbers) -> None:
    assert different(exact_here, exact_there) == set()


@ON_X86
def test_what_is_rewritten_is_what_a_haswell_gets_wrong(emulated: Mapping[str, Numbers], exact_there: Numbers) -> None:
    """The table has exactly the 8-bit operators that multiply uint8 by int8."""
    wrong = names(different(emulated["plain"], exact_there)) - exact_cases.unlike_products()
    mixed = {each.name for each in exact_cases.cases() if is_mixed(each)}
    assert wrong == mixed
    assert {each.op for each in exact_cases.cases() if each.name in wrong} == set(PRODUCTS)


def is_mixed(case: exact_cases.Case) -> bool:
    """Whether it multiplies uint8 by int8. Depthwise convolutions have other kernels, and MatMulInteger and
    ConvInteger have other operands first."""
    if case.op not in PRODUCTS or ("depthwise" in case.name and case.op != "ConvInteger"):
        return False
    if case.op == "ConvInteger":
        return case.name.endswith("int8 uint8") and not case.name.endswith("uint8 uint8")
    kinds = case.name.split()[-2:]
    return kinds[-1] == "int8" and kinds[0] != "int8"


@ON_X86
def test_an_emulated_haswell_is_seen_to_saturate(tmp_path: Path) -> None:
    have("x86_64")
    program = "from packager.engines.session import exact; print(exact.saturates())"
    command: list[str | Path] = [haswell.interpreter(tmp_path / "haswell"), "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "True"
