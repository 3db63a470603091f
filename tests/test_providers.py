"""Providers: what ONNX Runtime is told by default, and the templates that go with each."""

import pytest

from packager.files.installed import templates_folder
from packager.providers import PROVIDERS
from packager.providers.nnapi import Nnapi
from packager.providers.qnn import Qnn
from packager.providers.xnnpack import Xnnpack
from packager.targets.android.target import KNOWN


@pytest.mark.parametrize("name", PROVIDERS)
def test_provider_is_known_under_its_own_name(name: str) -> None:
    assert name == PROVIDERS[name].NAME
    assert PROVIDERS[name].EXECUTION_PROVIDER.lower() == f"{name}executionprovider"


@pytest.mark.parametrize("name", KNOWN)
def test_provider_of_android_has_its_kotlin(name: str) -> None:
    for part in ("entry", "start"):
        assert (templates_folder() / "android" / "_providers" / f"{name}.{part}.kt.j2").is_file()


@pytest.mark.parametrize(
    "other",
    [
        Nnapi(use_fp16=True),
        Nnapi(use_nchw=True),
        Nnapi(cpu_disabled=False),
        Qnn(backend="libQnnGpu.so"),
        Qnn(performance_mode="balanced"),
        Qnn(optimization_mode=1),
        Qnn(is_fp16_allowed=False),
    ],
)
def test_every_field_of_a_provider_changes_what_onnx_runtime_is_told(other: Nnapi | Qnn) -> None:
    assert other.options() != type(other)().options()


def test_xnnpack_leaves_the_number_of_threads_to_the_app() -> None:
    assert Xnnpack().options() == {}


def test_nnapi_leaves_its_own_slow_kernels_out() -> None:
    assert Nnapi().options() == {"CPU_DISABLED": "1"}


def test_qnn_runs_on_the_neural_processor_at_full_speed() -> None:
    assert Qnn().options()["backend_path"] == "libQnnHtp.so"
    assert Qnn().options()["htp_performance_mode"] == "burst"
