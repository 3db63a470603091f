"""docs/guides/ten-minutes.md: its commands, run one after the other as they stand, in a copy of the repository."""

import re
import tomllib
from pathlib import Path

from packager import config
from tests.cases.cli import options_of
from tests.cases.guide_ten_minutes import ROOT, blocks


def project_file() -> str:
    """The guide's mobpack.toml."""
    [found] = re.findall(r"mobpack\.toml <<'END'\n(.*?)^END$", "\n".join(blocks("sh")), re.MULTILINE | re.DOTALL)
    return str(found)


def test_its_commands_exist_and_its_project_is_one(tmp_path: Path) -> None:
    lines = [line.split() for line in "\n".join(blocks("sh")).splitlines() if line.startswith("mobpack ")]
    assert [line[1] for line in lines] == ["export", "predict", "build"]
    for _, name, *rest in lines:
        known = options_of(name)
        assert {word for word in rest if word.startswith("-")} <= known
    (tmp_path / "mobpack.toml").write_text(project_file(), encoding="utf-8", newline="\n")
    config.load(tmp_path / "mobpack.toml")
    assert tomllib.loads(project_file())["target"].keys() == {"android", "ios", "react_native"}
    for block in (nets for nets in blocks("sh") if "nets.py" in nets):
        [code] = re.findall(r"nets\.py <<'END'\n(.*?)^END$", block, re.MULTILINE | re.DOTALL)
        compile(code, "nets.py", "exec")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    [named] = re.findall(r"pip install '\.\[(.*)\]'", "\n".join(blocks("sh")))
    assert set(named.split(",")) <= extras.keys()


def test_the_contract_is_that_of_the_sample_apps() -> None:
    """The package that the guide builds can replace the one that the sample apps use."""
    ours = (ROOT / "sample_apps" / "vision" / "mobpack.toml").read_text(encoding="utf-8")
    guides = project_file()
    tables = r"^\[model\.classifier\.\w+\.\w+\]\n(?:[^\[#\n].*\n)+"
    folded = [re.findall(tables, text.replace("build/models/", ""), re.MULTILINE) for text in (ours, guides)]
    assert len(folded[0]) == 2
    assert [each.splitlines()[:7] for each in folded[1]] == [
        [line for line in each.splitlines() if line != "top-k = 5"][:7] for each in folded[0]
    ]
