"""Names of npm packages and of their parts: names that npm, CocoaPods or four languages refuse never ship."""

import pytest

from packager.targets.react_native import naming
from tests.toolchain import node


@pytest.mark.parametrize("app", ["react_native", "expo"])
def test_no_module_is_called_like_a_pod_of_react_native_or_expo(app: str) -> None:
    stems = {path.stem[:1].upper() + path.stem[1:] for path in node.project(app).rglob("*.podspec")}
    pods = {stem for stem in stems if naming.MODULE.fullmatch(stem)}
    assert {"Yoga", "Boost"} <= pods
    assert {pod for pod in pods if pod.lower() not in naming.UNUSABLE_MODULES} == set()
