"""TypeScript of npm packages: what ships as JavaScript is what the compiler makes of it, wrong programs do not compile,
and models load, run and test themselves under Node on a real ONNX Runtime."""

from collections.abc import Mapping

import pytest

from tests.cases.react_native_typescript import TARGETS, places, rendered
from tests.toolchain.node import Finished
from tests.toolchain.npm_checks import complaints, complaints_of_6
from tests.toolchain.typescript import Workplace

__all__ = ["places", "rendered"]


@pytest.mark.parametrize("name", [*TARGETS, "rendered", "misused"])
def test_typescript_6_complains_of_the_same(places: Mapping[str, tuple[Workplace, Finished]], name: str) -> None:
    place, done = places[name]
    assert complaints_of_6(place.config) == complaints(done)
