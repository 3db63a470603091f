"""The releases of ONNX Runtime that an app may bring instead of the one that a package names."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from packager.compile import plan
from packager.core.console import Console
from packager.core.errors import ModelError
from packager.core.values import baseline
from packager.files.store import Store
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.verification.ranges import prove_ranges
from tests.cases.onnx_text import linear, loaded
from tests.cases.runtime_range import planned
from tests.toolchain.unpacking import quickly


class TestProved:
    @pytest.fixture(autouse=True)
    def releases_quickly(self) -> Iterator[None]:
        """Releases are made when a range is first proved with them, by uv."""
        with quickly():
            yield

    def test_every_file_is_opened_in_every_release(self, tmp_path: Path) -> None:
        target = Android(providers=("xnnpack",), runtime_range="1.28")
        made = plan.make(baseline(loaded(tmp_path, linear())), target, Store(tmp_path / "s"), lambda part: None)
        proofs = list(prove_ranges([made], {"android": target}, Store(tmp_path / "s"), Console(quiet=True)))
        expected = [f"onnxruntime {each}" for each in ("1.31.1", "1.30.0", "1.29.0", "1.28.0") for _ in range(2)]
        assert [proof.runtime for proof in proofs] == expected
        assert all(proof.node_count and not proof.skipped for proof in proofs)

    def test_files_for_ios_are_opened_too(self, tmp_path: Path) -> None:
        target = Ios(providers=("coreml",), runtime_range="1.29")
        made = plan.make(baseline(loaded(tmp_path, linear())), target, Store(tmp_path / "s"), lambda part: None)
        proofs = list(prove_ranges([made], {"ios": target}, Store(tmp_path / "s"), Console(quiet=True)))
        assert {proof.runtime for proof in proofs} == {f"onnxruntime {each}" for each in ("1.31.1", "1.30.0", "1.29.0")}
        assert len(proofs) == 3 * len({choice.compiled.sha256 for choice in made.choices})
        assert all(proof.node_count and not proof.skipped for proof in proofs)

    def test_a_release_that_does_not_load_a_file_names_the_oldest_that_does(self, tmp_path: Path) -> None:
        target = Android(providers=(), runtime_range="1.24")
        made = planned(tmp_path, target, 26)
        with pytest.raises(
            ModelError, match=r"does not load in ONNX Runtime 1\.24\.4, which runtime-range allows"
        ) as e:
            list(prove_ranges([made], {"android": target}, Store(tmp_path / "store"), Console(quiet=True)))
        assert e.value.hint == 'runtime-range = "1.25"'

    def test_proofs_are_kept(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        target, store = Android(providers=(), runtime_range="1.29"), Store(tmp_path / "store")
        made = planned(tmp_path, target, 21)
        first = list(prove_ranges([made], {"android": target}, store, Console(quiet=True)))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
        assert list(prove_ranges([made], {"android": target}, store, Console(quiet=True))) == first
        assert not (tmp_path / "empty").exists()
