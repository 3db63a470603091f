"""Zero points that a model leaves to its reader are written out, with the type that they have."""

from pathlib import Path

import pytest

from packager.config import from_document
from packager.core.console import Console
from packager.workflows import build
from packager.workflows.requested import BuildRequest
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import saved
from tests.cases.zero_points import signed


@pytest.mark.parametrize(
    ("target", "provider"), [("android", "nnapi"), ("android", "qnn"), ("android", "xnnpack"), ("ios", "coreml")]
)
def test_every_provider_gets_a_file_that_computes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, provider: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / "cache")))
    path = saved(tmp_path / "net.onnx", signed())
    document = {
        "package": {"name": "any"},
        "model": {"net": {"path": str(path)}},
        "target": {target: {"providers": [provider]}},
    }
    config = from_document(document, tmp_path, targets=(), settings=())
    found = build.check(config, BuildRequest(targets=(target,), out=tmp_path / "dist"), Console(quiet=True))
    assert found.report.parities
    assert all(parity.max_rel_error < 0.05 for parity in found.report.parities)
