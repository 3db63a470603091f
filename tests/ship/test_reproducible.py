"""Same input, same bytes: in any folder, with any hash seed, in any time zone, and as on any system.

Trained models, all targets and other installed programs are compared at night."""

import os
from pathlib import Path

from tests.cases import hosts
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import linear, saved
from tests.cases.reproducible import beside_each_other, contents, run
from tests.elsewhere.__main__ import variables

ZONES = ("UTC", "Asia/Tokyo", "America/New_York")


def test_a_package_is_the_same_bytes_whatever_system_builds_it(tmp_path: Path) -> None:
    """Manifest and report say what the system could not check."""
    saved(tmp_path / "net.onnx", linear())
    systems = ("linux", *hosts.OTHERS)
    for system in systems:
        (tmp_path / system).mkdir()
    environments = {each: variables(each, tmp_path / each) for each in hosts.OTHERS}

    def build(system: str) -> dict[str, str]:
        folder = tmp_path / system
        variables_of = {"PYTHONHASHSEED": str(systems.index(system) + 1), "TZ": ZONES[systems.index(system)]}
        environment = {**environments.get(system, {}), **variables_of}
        store = {"XDG_CACHE_HOME": str(empty_cache(folder / "cache"))}
        arguments = ("build", "net.onnx", "--target", "ios", "--out", f"{system}/dist")
        run(*arguments, folder=tmp_path, environment={**os.environ, **environment, **store})
        return contents(folder / "dist" / "swift")

    releases = beside_each_other(build, systems)
    assert len(releases[0]) > 3
    assert releases == [releases[0]] * 3
