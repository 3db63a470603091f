"""Swift apps pass pictures and sounds, and get labels and boxes: each test in `toolchain/swift_contracts/` is one here.

They run on Linux with ONNX Runtime; stand-ins take the place of Apple's frameworks.
"""

import pytest

from tests.toolchain import swift_typed
from tests.toolchain.swift import swift
from tests.toolchain.swift_packages import Outcomes


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """All tests in Swift, compiled and run once."""
    swift()
    folder = tmp_path_factory.mktemp("swift-typed")
    return swift_typed.tested(swift_typed.package(folder), folder / "scratch")


@pytest.mark.parametrize("case", swift_typed.cases())
def test_in_swift(tested: Outcomes, case: str) -> None:
    assert tested.by_case.get(case) == "passed", tested.words(case) or tested.output[-4000:]
