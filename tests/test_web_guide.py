"""The page that docs/web.md shows, as it stands there: it classifies a picture in Chromium."""

import base64
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toolchain import vision
from tests.toolchain.chromium import browser
from tests.toolchain.react_native.packages import unpack
from tests.toolchain.web.page import files_of, page_of

pytestmark = [pytest.mark.react_native, pytest.mark.browser]

ROOT = Path(__file__).parents[1]
CHOOSE = """
(async () => {{
  const bytes = Uint8Array.from(atob('{picture}'), (each) => each.charCodeAt(0));
  const chosen = new DataTransfer();
  chosen.items.add(new File([bytes], 'coffee.jpg', {{ type: 'image/jpeg' }}));
  const input = document.querySelector('input');
  while (input.onchange === null) await new Promise((resolve) => setTimeout(resolve, 20));
  input.files = chosen.files;
  input.dispatchEvent(new Event('change'));
  const answer = document.querySelector('pre');
  while (answer.textContent === '') await new Promise((resolve) => setTimeout(resolve, 20));
  return answer.textContent;
}})()
"""


def built(folder: Path) -> Path:
    """The sample apps' model as a web package, unpacked."""
    sources = vision.root() / vision.FOLDER
    shutil.copytree(sources / "build" / "models", folder / "build" / "models")
    text = (sources / "mobpack.toml").read_text(encoding="utf-8")
    (folder / "mobpack.toml").write_text(text[: text.index("[target.")], encoding="utf-8")
    command = [sys.executable, "-m", "packager.cli", "build", "--target", "web"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [archive] = (folder / "dist" / "npm").glob("*.tgz")
    assert archive.name in done.stdout
    unpack(archive, folder)
    return folder / "package"


def test_the_page_of_the_guide_classifies_a_picture(tmp_path: Path) -> None:
    [text] = re.findall(r"```html\n(.*?)```", (ROOT / "docs" / "web.md").read_text(encoding="utf-8"), re.DOTALL)
    page_file = text.replace("<!doctype html>", "<!doctype html><title>models</title><link rel=icon href=data:,>")
    picture = base64.b64encode((ROOT / "sample_apps" / "vision" / "coffee.jpg").read_bytes()).decode()
    files = files_of(built(tmp_path), "/vision/")
    with browser(tmp_path) as opened, page_of(opened, files) as page:
        page.server.files.by_path["/page.html"] = page_file.encode()
        page.visit()
        found = page.value(CHOOSE.format(picture=picture))
        assert re.fullmatch(r"espresso 9\d\.\d %", found)
        assert page.warnings() == []
