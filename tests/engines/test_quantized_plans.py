"""Partitions of quantized variants, as the providers themselves make them."""

from pathlib import Path

import numpy
import pytest

from packager.config import from_document
from packager.core.console import Console
from packager.workflows import build
from packager.workflows.build import Examination
from packager.workflows.requested import BuildRequest
from tests.cases.caches import empty_cache
from tests.commands.test_quantize import net
from tests.toolchain.environments import have

FORMS = ("int8", "uint8", "uint16")


def examined(folder: Path, provider: str, activations: str) -> Examination:
    """Answer of `mobpack check` for `net` with `activations` on Android's `provider`."""
    samples = numpy.random.default_rng(0).standard_normal((16, 3, 16, 16)).astype(numpy.float32)
    numpy.savez(folder / "samples.npz", x=samples)
    document = {
        "package": {"name": "any"},
        "model": {"net": {"path": str(net(folder))}},
        "variant": {"small": {"quantizer": "static-qdq", "activations": activations, "calibration": "samples.npz"}},
        "check": {"gain": "skip"},  # too small a net to gain anything
        "target": {"android": {"variant": "small", "providers": [provider]}},
    }
    config = from_document(document, folder, targets=(), settings=())
    return build.check(config, BuildRequest(targets=("android",), out=folder / "dist"), Console(quiet=True))


@pytest.mark.parametrize("activations", FORMS)
def test_qnn_takes_every_form_of_activations_in_one_piece(
    tmp_path: Path, activations: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    have("qnn")
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / "cache")))
    found = examined(tmp_path, "qnn", activations)
    (partition,) = (each for each in found.report.measured if each.provider == "qnn")
    assert partition.is_measured
    assert partition.partition_count == 1
    assert partition.share == 1.0
    assert partition.node_count - partition.taken_count <= 2  # at the graph's inputs and outputs
    assert all(parity.max_rel_error < 0.05 for parity in found.report.parities)
    assert {parity.against for parity in found.report.parities} == {"the quantized graph"}


def test_xnnpack_takes_the_convolutions_of_signed_activations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    have("android")
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / "cache")))
    found = examined(tmp_path, "xnnpack", "int8")
    (partition,) = (each for each in found.report.partitions if each.provider == "xnnpack")
    assert [each.share for each in found.report.measured] == [partition.share]
    assert partition.share is not None
    assert partition.share > 0.99
    assert "Conv" not in {left.operator for left in partition.left}
