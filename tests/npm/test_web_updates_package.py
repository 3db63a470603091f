"""Web packages with a channel: their files, names and code, and that pages without updates do not pay for them."""

import shutil
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from packager.core.class_names import RESERVED
from packager.core.findings import Report
from packager.core.values import Package
from packager.render.templates import write_sources
from packager.targets.typescript import texts
from packager.targets.web import Web
from packager.targets.web.view import NamesView
from tests.cases.tuf_repository import delivery
from tests.golden.cases import CONTRACTS, IMAGE_CLASSIFIER, TRUSTED, WEB_CASES, paged
from tests.npm.test_react_native_package import eslint
from tests.toolchain import node, typescript
from tests.toolchain.typescript import ROOTS

DELIVERED = replace(TRUSTED.package, delivery=delivery("vision", {}))
ENTRY = "export {{ {name} }} from './package/lib/{module}.js';"
MADE_APART = {
    "trust": "import type { Trust } from './runtime/trust.js';\nexport declare const TRUST: Trust;\n",
    "delivery": (
        "import type { Delivery } from './runtime/updating/delivery.js';\nexport declare const DELIVERY: Delivery;\n"
    ),
}
"""modules of the package that are not made of TypeScript"""


def files(package: Package) -> set[PurePosixPath]:
    sources = paged(package, Web(), IMAGE_CLASSIFIER.plans).sources()
    return {*sources.texts, *sources.files}


def test_only_packages_with_a_channel_have_what_updates_need() -> None:
    more = files(DELIVERED) - files(TRUSTED.package)
    assert files(TRUSTED.package) < files(DELIVERED)
    named = {path for path in more if "updating" not in path.parts}
    assert named == {
        PurePosixPath("lib", f"{stem}.{kind}") for stem in ("delivery", "updates") for kind in ("js", "d.ts")
    }
    made = {
        PurePosixPath("lib", path.relative_to(ROOTS[root] / "src")).with_suffix(suffix)
        for root in ("typescript", "web")
        for path in (ROOTS[root] / "src").rglob("updating/*.ts")
        for suffix in (".js", ".d.ts")
    }
    assert more == named | made
    for case, each in WEB_CASES.items():
        if case != "delivered":
            assert not [path for path in each.sources().files if texts.is_of_updates(path)], case


def test_names_of_models_keep_clear_of_those_of_updates() -> None:
    exported = (ROOTS["typescript"] / "src" / "updates.ts.j2").read_text(encoding="utf-8")
    for line in exported.splitlines():
        if line.startswith("export type {"):
            names = line.partition("{")[2].partition("}")[0].split(",")
            assert [name for name in names if name.strip().lower() not in RESERVED] == [], line


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    write_sources(paged(DELIVERED, Web(), IMAGE_CLASSIFIER.plans).sources(), folder / "package")
    node.link(node.project("web"), folder)
    return folder


def bundle(package: Path, name: str, module: str) -> str:
    """The script that esbuild makes of a page that imports `name` alone."""
    (package / "main.js").write_text(ENTRY.format(name=name, module=module), encoding="utf-8", newline="\n")
    options = ["main.js", "--bundle", "--format=esm", "--minify", "--outfile=out.js", "--log-level=warning"]
    done = node.run([node.tool(node.project("web"), "esbuild"), *options], cwd=package)
    assert done.returncode == 0, done.output
    return (package / "out.js").read_text(encoding="utf-8")


def test_a_page_that_does_not_update_its_models_ships_nothing_for_it(package: Path) -> None:
    page, updating = bundle(package, "Classifier", "index"), bundle(package, "ModelUpdater", "updates")
    for word in ("MPDELTA", "ecdsa-sha2-nistp256", "releases.json", "deflate-raw"):
        assert (word in page, word in updating) == (False, True), word
    assert len(updating) - len(page) < 56_000


def printed(names: NamesView, folder: Path) -> dict[str, str]:
    """Writes the TypeScript of a package to `folder`; gives the JavaScript and the types that lie in templates."""
    of_names = {
        PurePosixPath(str(path).removesuffix(texts.TEMPLATE)): texts.rendered(root, path, names)
        for root, path in texts.templates(PurePosixPath("web"), updates=True)
        if path.name.startswith(("package.", "updates."))
    }
    found = {**of_names, **texts.texts_of_all(names.models, names.pipelines)}
    for path, text in found.items():
        if path.parts[0] == "src":
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
    return {str(path): text for path, text in found.items() if path.parts[0] == "lib"}


def test_the_code_of_updates_is_what_the_compiler_makes_and_holds_to_the_rules(tmp_path: Path) -> None:
    for root in ("typescript", "web"):
        source = ROOTS[root] / "src"
        for path in source.rglob("*.ts"):
            place = tmp_path / "src" / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    typescript.print_providers(tmp_path / "src")
    kept: dict[str, str] = {}
    for plans in (IMAGE_CLASSIFIER.plans, CONTRACTS):
        case = paged(DELIVERED, Web(), plans)
        kept |= printed(case.target.view(case.package, case.plans, Report(parities=())).names, tmp_path)
    for name, text in MADE_APART.items():
        (tmp_path / "src" / f"{name}.d.ts").write_text(text, encoding="utf-8", newline="\n")
    (tmp_path / "src" / "site.d.ts").write_text("export {};\n", encoding="utf-8", newline="\n")
    work = typescript.workplace({}, tmp_path)
    done = work.compile()
    assert done.returncode == 0, done.output
    made = typescript.texts(work.lib)
    for name, text in kept.items():
        # Types of models say nothing of the module that is imported for what it does.
        assert (
            made[name.removeprefix("lib/")].replace(
                "import '../site.js';\n", "" if ".d." in name else "import '../site.js';\n"
            )
            == text
        ), name
    done = eslint(tmp_path, "src/runtime/updating", "src/web/updating", "src/updates.ts", "src/models/classifier.ts")
    assert done.returncode == 0, done.output
