"""Android: the generated Kotlin compiles without warnings, to the same bytes everywhere."""

from importlib import metadata

import pytest

from packager.core.errors import ToolError
from packager.targets.kotlin import kotlin


def test_missing_compiler_names_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", missing)
    with pytest.raises(ToolError) as caught:
        kotlin.find_compiler()
    assert caught.value.hint == "pip install 'mobpack[android]'"
