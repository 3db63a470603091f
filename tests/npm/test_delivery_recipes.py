"""Examples of docs and READMEs that bring newer models compile against a package with a channel.

WorkManager and Apple's BackgroundTasks are names alone, in `toolchain/background`.
"""

import json
from pathlib import Path

import pytest

from packager.render.templates import write_sources
from tests.cases.delivery_recipes import modules, package, readme
from tests.golden.cases import REACT_NATIVE_CASES, WEB_CASES
from tests.toolchain import node

__all__ = ["modules", "package"]


@pytest.mark.parametrize(
    ("name", "old", "words"),
    [
        ("react-native-vision", "", ""),
        ("vision-web", "", ""),
        ("vision-web", "updater.update()", "Property 'refresh' does not exist"),
    ],
)
def test_examples_of_npm_packages_compile(tmp_path: Path, name: str, old: str, words: str) -> None:
    case = WEB_CASES["delivered"] if name == "vision-web" else REACT_NATIVE_CASES["delivered"]
    modules = node.link(node.project("react_native"), tmp_path / "app")
    write_sources(case.sources(), modules / name)
    example = readme({path.as_posix(): text for path, text in case.sources().texts.items()}, "ts")
    assert old in example
    changed = example.replace(old, "updater.refresh()") if old else example
    (tmp_path / "app" / "example.ts").write_text(changed, encoding="utf-8", newline="\n")
    options = {
        "strict": True,
        "noEmit": True,
        "skipLibCheck": True,
        "target": "es2022",
        "lib": ["es2022", "dom"],
        "types": [],
        "module": "esnext",
        "moduleResolution": "bundler",
    }
    text = json.dumps({"compilerOptions": options, "include": ["example.ts"]})
    (tmp_path / "app" / "tsconfig.json").write_text(text, encoding="utf-8", newline="\n")
    done = node.run([node.tool(node.project("react_native"), "tsc"), "-p", "."], cwd=tmp_path / "app")
    assert (done.returncode == 0) == (words == ""), done.output
    assert words in done.output
