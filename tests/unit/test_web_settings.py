"""Settings of [target.web]: the build of ONNX Runtime decides which providers a package can have."""

from typing import Any

import pytest

from packager.core.errors import SettingError
from packager.targets.web import Web
from packager.targets.web.target import ENVIRONMENTS


def test_webgpu_is_for_who_asks_in_the_same_package() -> None:
    assert (Web().providers, Web().environment, Web().no_float64) == ((), "web", "")
    gpu = Web(runtime="webgpu")
    assert (gpu.providers, gpu.environment) == (("webgpu",), "web-webgpu")
    assert gpu.no_float64
    assert Web(runtime="webgpu", providers=()).providers == ()
    assert Web(runtime="webgpu", providers=("webnn", "webgpu")).providers == ("webnn", "webgpu")
    packages = {each().package for each in ENVIRONMENTS.values()}
    assert packages == {Web().published_runtime()}
    assert len({tuple(each().variables().items()) for each in ENVIRONMENTS.values()}) == len(ENVIRONMENTS)


@pytest.mark.parametrize(
    ("keys", "message", "hint"),
    [
        ({"providers": ("webgpu",)}, "is not in that ONNX Runtime", 'runtime = "webgpu"'),
        ({"runtime": "webgpu", "providers": ("webgpu", "webgpu")}, "listed twice", "first place"),
        ({"runtime": "webgpu", "providers": ("cpu",)}, "always the last", "leave it out"),
        ({"runtime": "webgpu", "providers": ("coreml",)}, "does not run on the web", "webgpu, webnn"),
        ({"providers": ("wegpu",)}, "unknown provider 'wegpu'", "webgpu, webnn"),
    ],
)
def test_providers_that_cannot_be_are_refused(keys: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(SettingError, match=message) as caught:
        Web(**keys)
    assert hint in caught.value.hint
