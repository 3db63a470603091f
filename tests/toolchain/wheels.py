"""Runs programs that import a built wheel."""

import os
import subprocess
from pathlib import Path

from PIL import Image

from packager.engines.environments.environment import ensure
from packager.engines.environments.runtime import Runtime
from packager.files.processes.children import QUIET, python


def run(wheel: Path, site: Path, *arguments: str | Path, also: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program of Python where pip has installed `wheel` beside the ONNX Runtime that it depends on, and
    packages in the folder `also`. Its home is `home` beside `site`; nobody has turned ONNX Runtime's telemetry off."""
    ensure(Runtime())
    if not site.exists():
        install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site), str(wheel)]
        subprocess.run([*python(), *install], check=True)
    variables = Runtime().variables()
    pillow = site.parent / "pillow"
    if not pillow.exists():
        pillow.mkdir()
        installed = Path(Image.__file__).parents[1]
        for part in (installed / "PIL", installed / "pillow.libs"):
            (pillow / part.name).symlink_to(part)
    path = [site, pillow, variables["PYTHONPATH"], *([also] if also else [])]
    (home := site.parent / "home").mkdir(exist_ok=True)
    own = {**variables, "PYTHONPATH": os.pathsep.join(map(str, path)), "HOME": str(home)}
    return subprocess.run(
        [*Runtime().command(), *map(str, arguments)],
        cwd=site.parent,
        env={**{name: text for name, text in os.environ.items() if name not in QUIET}, **own},
        capture_output=True,
        text=True,
        check=False,
    )
