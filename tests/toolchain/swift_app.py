"""Programs of tests in Swift: a package that `mobpack build` makes of small models, with an app in it.

A process runs one scenario, so what happens once in a process can happen in each.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.toolchain.kept import kept
from tests.toolchain.swift import Finished, swift, toolchain_files
from tests.toolchain.swift_packages import build, runtimes

HOME = Path(__file__).with_name("swift_apps")
TRUSTED = "ssl/certs/ca-certificates.crt"
"""The certificates that Swift's own URLSession trusts on Linux, below /etc."""


@dataclass(frozen=True)
class App:
    """A program that was built, with the package's resources beside it."""

    folder: Path
    name: str = "App"

    def run(
        self,
        *words: str,
        scratch: Path,
        mounts: tuple[Path, ...] = (),
        environment: Mapping[str, str] | None = None,
        etc: Path | None = None,
    ) -> Finished:
        """Runs a scenario; `scratch` is its own, with its caches. `etc` takes the place of the system's /etc."""
        scratch.mkdir(exist_ok=True)
        library = swift().onnxruntime_library()
        own = dict.fromkeys(("TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME"), str(scratch))
        return swift().run(
            [self.folder / self.name, *words],
            cwd=self.folder,
            mounts={**{str(path): path for path in (scratch, *mounts)}, **({"/etc": etc} if etc else {})},
            environment={"LD_LIBRARY_PATH": str(library), **own, **(environment or {})},
            timeout_s=300,
        )


def trusting(certificate: Path, etc: Path) -> Path:
    """The folder `etc` like the toolchain's, with a certificate that programs trust."""
    shutil.copytree(swift().root / "etc", etc)
    (etc / TRUSTED).parent.mkdir(parents=True)
    shutil.copy(certificate, etc / TRUSTED)
    return etc


def build_in(package: Path, module: str, sources: Mapping[str, Path], change: Callable[[Path], None]) -> App:
    """Compiles an app in a package, with that of ONNX Runtime beside it, and writes into both.

    `sources` are the app's files, and C files for the C module. `change` may change the package before that.
    """
    manifest = package / "Package.swift"
    app = f'.executableTarget(name: "App", dependencies: ["{module}", "C{module}"]),'
    manifest.write_text(manifest.read_text().replace("    targets: [\n", f"    targets: [\n        {app}\n"))
    (package / "Sources/App").mkdir()
    for name, source in sources.items():
        shutil.copy(source, package / "Sources" / (f"C{module}" if name.endswith(".c") else "App") / name)
    change(package)
    return App(compiled(package, "App"))


def compiled(package: Path, *programs: str) -> Path:
    """The folder with programs of a package, and its resources. Nobody may write to it."""

    def make(made: Path) -> None:
        built = build(package, package.parent / "scratch", *(("--product", *programs) if len(programs) == 1 else ()))
        for name in programs:
            shutil.copy(built / name, made)
        for resources in built.glob("*.resources"):
            shutil.copytree(resources, made / resources.name)

    return kept("swift-app", make, package, *runtimes(package.parent), *toolchain_files())
