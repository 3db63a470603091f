"""NVIDIA's software for tests: stand-ins for its Python modules, and a driver that answers as a test wants."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.toolchain import c_library

HERE = Path(__file__).parent
DRIVER = HERE / "gpu_driver.c"


def modules(folder: Path) -> Path:
    """A folder for PYTHONPATH with stand-ins for tensorrt and pycuda."""
    (folder / "pycuda").mkdir(parents=True)
    shutil.copy(HERE / "gpu_tensorrt.py", folder / "tensorrt.py")
    shutil.copy(HERE / "gpu_pycuda.py", folder / "pycuda" / "driver.py")
    (folder / "pycuda" / "__init__.py").write_text('VERSION_TEXT = "2026.1"\n', encoding="utf-8")
    return folder


def driver(folder: Path, **reported: int) -> Path:
    """A folder for LD_LIBRARY_PATH with a driver of a GPU that computes nothing, and macros of its source."""
    options = [f"-D{name.upper()}={value}" for name, value in reported.items()]
    for library in ("libcuda.so.1", "libnvidia-ml.so.1"):
        shared_library(folder / library, DRIVER.read_text(encoding="utf-8"), options)
    return folder


def shared_library(path: Path, source: str, options: Sequence[str] = ()) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.with_name(f"{path.name}.c")
    text.write_text(source, encoding="utf-8")
    c_library.build(text, path, "-w", f"-Wl,-soname,{path.name}", *options)
    text.unlink()
    return path
