"""A program in Swift whose model is loaded with every list of `tests/cases/trust_vectors.py`."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packager.core.findings import Report
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.ios import Ios
from tests.cases.trust_vectors import write_lists
from tests.toolchain import trusted
from tests.toolchain.kept import linked
from tests.toolchain.swift_app import HOME, App, build_in
from tests.toolchain.swift_dependency import write_runtime
from tests.toolchain.swift_packages import MODULE
from tests.toolchain.swift_sources import objects
from tests.toolchain.swift_stand_ins import with_crypto

Facts = Mapping[str, Mapping[str, Any]]


def answers(folder: Path) -> Facts:
    """The answers to each list by its number, and how long a check takes (`milliseconds`)."""
    store = Store(cache_folder() / "store")
    target = Ios(providers=("xnnpack",))
    view = target.view(trusted.PACKAGE, (trusted.plan(folder, store, "ios", "xnnpack"),), Report(parities=()))
    package = folder / "package/models"
    write_sources(target.render(view), package)
    write_runtime(view, package.parent)
    app = build_in(package, MODULE, {"main.swift": HOME / "trust.swift"}, with_crypto)
    alone = App(folder / "app")
    shutil.copytree(app.folder, alone.folder, copy_function=linked)
    files = {resource.path: resource.sha256 for resource in view.resources}
    lists, own, stranger, by_digest = (folder / name for name in ("lists", "own.ort", "stranger.ort", "by digest"))
    write_lists(lists, files, trusted.PACKAGE)
    [cpu] = (file.resource for file in view.models[0].files if "cpu" in file.providers)
    shutil.copy(cpu.file, own)
    stranger.write_bytes(own.read_bytes() + b"\0")
    by_digest.mkdir()
    shutil.copy(own, by_digest / cpu.sha256)
    words = [str(each) for each in (lists, own, stranger, by_digest)]
    done = alone.run(*words, cpu.path, scratch=folder / "scratch", mounts=(folder,))
    assert done.returncode == 0, done.output
    return {each["case"]: each for each in objects(done.output)}
