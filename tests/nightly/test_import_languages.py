"""A model of every importer in one package for the web: each tests itself under Node."""

from pathlib import Path

import pytest

from packager.importers import FRAMEWORKS


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_environments_install_as_they_do_for_users(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    framework = FRAMEWORKS[name]
    assert framework.missing()
    framework.install()
    assert framework.folder().is_dir()  # which is all that `missing` asks for, but for PyTorch
