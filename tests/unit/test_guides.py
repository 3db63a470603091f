"""Facts in docs/guides and in pages about contracts: links, keys, options and kinds exist."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from packager import config
from packager.contract import INPUT_KINDS, OUTPUT_KINDS
from tests.cases.cli import options_of
from tests.contract_table import page
from tests.golden.trees import TREES

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    *(DOCS / f"{name}.md" for name in ("contract", "generation", "streams", "text")),
    *sorted((DOCS / "guides").glob("*.md")),
]
NAMES = [path.name for path in PAGES]


def text(name: str) -> str:
    [path] = [path for path in PAGES if path.name == name]
    return path.read_text(encoding="utf-8")


def test_pages_point_to_files_and_define_every_kind() -> None:
    for path in PAGES:
        targets = [each.split("#")[0] for each in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8"))]
        assert targets
        assert [each for each in targets if "://" not in each and not (path.parent / each).exists()] == []
    inputs, outputs = re.findall(
        r"^## (?:Inputs|Outputs)\n(.*?)(?=^## )", text("contract.md"), re.MULTILINE | re.DOTALL
    )
    assert set(INPUT_KINDS) <= set(re.findall(r"^### (\w+)$", inputs, re.MULTILINE))
    assert set(OUTPUT_KINDS) - {"tensor"} == set(re.findall(r"^### (\w+)$", outputs, re.MULTILINE))
    lines = page.words(page.written())
    assert len(lines) == 24
    assert all(re.search(r"\d", each) for each in lines)


def test_commands_and_options_that_a_page_names_exist() -> None:
    for name in NAMES:
        found = re.findall(
            r"mobpack (build|check|predict|export|quantize|init|inspect|doctor|xcode)\b([^`\n]*)", text(name)
        )
        assert found
        for command, rest in found:
            known = options_of(command)
            assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", rest)) <= known, (command, rest)


def configurations() -> list[str]:
    """Blocks of TOML that have a model in them."""
    block = re.compile(r"^(?:```toml|cat > mobpack\.toml <<'END')\n(.*?)^(?:```|END)$", re.MULTILINE | re.DOTALL)
    return [found for name in NAMES for found in block.findall(text(name)) if "model" in tomllib.loads(found)]


def test_configurations_of_the_pages_can_be_loaded(tmp_path: Path) -> None:
    of_contracts = [
        ("image", "classes"),
        ("text", "embedding"),
        ("image", "instances"),
        ("", "keypoints"),
        ("image", "picture"),
        ("", "spans"),
        ("", "pairs"),
        ("", "values"),
        ("", "sound"),
    ]
    of_texts = [
        ("text", "generated"),
        ("audio", "generated"),
        ("text", "generated"),
        ("audio state tensor", "values"),
        ("text", ""),
        ("text", "embedding"),
    ]
    both = [*of_contracts, *of_texts, ("image", "classes")]
    kinds = [(takes.split(), gives.split()) for takes, gives in both]
    assert len(configurations()) == len(kinds)
    for block, (takes, gives) in zip(configurations(), kinds, strict=True):
        (tmp_path / "mobpack.toml").write_text(block, encoding="utf-8")
        (model,) = config.load(tmp_path / "mobpack.toml", settings=()).model.values()
        assert [each.KIND for each in model.inputs.values()] == takes
        assert [each.KIND for each in model.outputs.values()] == gives


@pytest.mark.parametrize(
    ("language", "target", "generated", "overload"),
    [
        ("kotlin", "android", "*/Classif*.kt", r"fun classify\(\s*bitmap: Bitmap"),
        ("swift", "ios", "*/Classif*.swift", r"func classify\(_ image: some PictureConvertible"),
        ("tsx", "react_native", "src/*.ts", r"async classify\(image: Picture"),
    ],
)
def test_what_apps_of_the_guide_call_is_generated(language: str, target: str, generated: str, overload: str) -> None:
    package = {path.as_posix(): text for path, text in TREES[target]["contracts"].texts().items()}
    shared = f"*/TypedModel{Path(generated).suffix}"
    code = "\n".join(text for path, text in package.items() if fnmatch(path, generated) or fnmatch(path, shared))
    snippet = "\n".join(re.findall(rf"^```{language}\n(.*?)^```$", text("ten-minutes.md"), re.MULTILINE | re.DOTALL))
    members = set(re.findall(r"\b(?:model|each|Classifier)\.(\w+)", snippet))
    assert "classify" in members
    assert [name for name in members if not re.search(rf"\b{name}\b", code)] == []
    assert re.search(overload, code)
