"""OCR as docs/pipelines.md describes it, with the trained models: texts of a page, and the proof of what ships."""

import json
import re
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from packager.files.processes import downloads
from tests.contract_table.cases import DETECTOR, READER, photo
from tests.toolchain import command

PAGE = Path(__file__).parents[2] / "docs" / "pipelines.md"
TEXTS = [
    "Region-based segmentation",
    "histogram of grey values:",
    "Let us first determine markers of the coins and the",
    "background. These markers are pixels that we can label",
    "the markers are found at the two extreme parts of the",
    "unambiguously as either object or background. Here,",
    ">>markers = np.zeros_like(coins)",
    None,
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ocr")
    with zipfile.ZipFile(downloads.fetch("model-ocr")) as wheel:
        for name in (DETECTOR, READER):
            (folder / Path(name).name).write_bytes(wheel.read(name))
    text = PAGE.read_text(encoding="utf-8")
    [toml] = [
        each for each in re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL) if "[package]" in each
    ]
    samples = '\n[parity]\nsamples = "samples"\n\n[check]\nkernels = "skip"\n'
    (folder / "mobpack.toml").write_text(toml + samples, encoding="utf-8")
    picture = Image.fromarray(photo("page.png"))
    picture.save(folder / "page.png")
    for model, part in (("finder", picture), ("scribe", picture.crop((3, 9, 292, 31)))):
        (folder / "samples" / model).mkdir(parents=True)
        part.save(folder / "samples" / model / "sample.png")
    return folder


def test_a_page_is_found_line_by_line_and_read(project: Path) -> None:
    done = command.run("predict", "--pipeline", "ocr", "page.png", "--json", folder=project)
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)["predictions"]
    assert [item["text"] and item["text"]["text"] for item in found["items"]] == TEXTS
    assert all(item["line"]["score"] < 0.7 for item in found["items"] if item["text"] is None)


def test_a_check_proves_the_whole_on_the_page(project: Path) -> None:
    done = command.run("check", "--target", "android", "--json", folder=project)
    assert done.returncode == 0, done.stderr
    [proof] = json.loads(done.stdout)["pipelines"]
    assert (proof["pipeline"], proof["places"], proof["runner"]) == ("ocr", ["android"], "cpu")
    assert (proof["count"], proof["alike-count"], proof["failure"]) == (8, 8, "")
    assert proof["max-rel-error"] < 1e-3
