"""Settings by chip: packages follow those that were measured for theirs, unless the app sets its own."""

from pathlib import Path

import pytest

from packager.config import loading
from packager.core.errors import ConfigError
from tests.cases.tuned import project
from tests.toolchain.warm_apps import warm

__all__ = ["warm"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[target.android.tuned.SM8650.net]\nthreads = 2", "target.android.tuned.SM8650: unknown model 'net'"),
        ('[target.android.tuned.SM8650.chain]\nproviders = ["qnn"]', "has the provider 'qnn'"),
        ('[target.android.tuned.SM8650.chain]\nproviders = ["cpu", "xnnpack"]', "lists providers after 'cpu'"),
        ('[target.android.tuned.SM8650.chain]\nprovider-options = { cpu = { a = "1" } }', "of 'cpu', which takes none"),
        ("[target.android.tuned.SM8650.chain]\nthreads = 1000", "threads is 1000"),
        ('[target.android.tuned."a\\nb".chain]\nthreads = 2', "is not the name of a chip"),
        ('[target.android.tuned.SM8650.chain]\nvariant = "int4"', "SM8650.chain: unknown variant 'int4'"),
        ('[target.android.tuned.SM8650.chain]\nvariant = "source"', "which the target ships for every chip"),
        ('[target.web.tuned.SM8650.chain]\nvariant = "int8"', "unknown key 'tuned'"),
    ],
)
def test_settings_that_fit_nothing_are_refused(line: str, words: str, tmp_path: Path) -> None:
    folder = project(tmp_path, f"\n{line}\n")
    with pytest.raises(ConfigError) as refused:
        loading.load(folder / "mobpack.toml")
    assert words in refused.value.message
    assert refused.value.hint
