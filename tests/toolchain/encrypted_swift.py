"""A program in Swift that loads the encrypted models of `tests/cases/encryption_cases.py`.

CryptoKit is Apple's; `swift_trust` has its names on Linux, computed by OpenSSL.
"""

import shutil
from pathlib import Path

from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.ios import Ios
from tests.cases.encryption_cases import KEY, contents, write_changed, write_vectors
from tests.toolchain.kept import linked
from tests.toolchain.swift_app import HOME, App, build_in
from tests.toolchain.swift_dependency import write_runtime
from tests.toolchain.swift_packages import MODULE
from tests.toolchain.swift_sources import objects
from tests.toolchain.swift_stand_ins import with_crypto
from tests.toolchain.trusted_swift import Facts


def answers(folder: Path) -> Facts:
    """The result of each load, by its name."""
    store, target = Store(cache_folder() / "store"), Ios(providers=())
    made, plain = contents(folder, store, "ios", is_apart=True)
    view = target.view(made.package, made.plans, made.report)
    package = folder / "package/models"
    write_sources(target.render(view), package)
    write_runtime(view, package.parent)
    app = build_in(package, MODULE, {"main.swift": HOME / "encrypted.swift"}, with_crypto)
    alone = App(folder / "app")
    shutil.copytree(app.folder, alone.folder, copy_function=linked)
    for name in ("changed", "by digest"):
        (folder / name).mkdir()
    write_changed(plain.cpu.path, folder / "changed")
    shutil.copy(plain.cpu.path, folder / "changed" / "plain")
    for resource in view.resources:
        shutil.copy(resource.file, folder / "by digest" / resource.sha256)
    (folder / "key").write_bytes(KEY)
    counts = write_vectors(folder / "vectors")
    words = [str(folder / name) for name in ("key", "changed", "by digest", "vectors")]
    done = alone.run(*words, scratch=folder / "scratch", mounts=(folder,))
    assert done.returncode == 0, done.output
    return {each["case"]: each for each in objects(done.output)} | {"counts": {"found": counts}}
