"""SPDX expressions: which are read, what they ask, and which of them a package cannot keep."""

from pathlib import Path

import pytest

from packager import config
from packager.core import licenses
from packager.core.card import Card, Dataset
from packager.core.console import Console
from packager.core.errors import ConfigError, GateError
from packager.core.licenses import Duty
from packager.core.values import Package
from packager.distribution import sbom
from packager.workflows.gates import Rules
from packager.workflows.requested import BuildRequest, package_of
from packager.workflows.terms import judge_licenses, warn_of_example_group


def test_an_expression_is_written_as_spdx_spells_it() -> None:
    for text, expression in [
        ("mit", "MIT"),
        ("Apache-2.0 or mit", "Apache-2.0 OR MIT"),
        ("AGPL-3.0", "AGPL-3.0-only"),
        ("LicenseRef-Acme AND MIT", "LicenseRef-Acme AND MIT"),
        ("Proprietary", ""),
        ("MIT AND", ""),
        ("(MIT", ""),
        ("", ""),
    ]:
        assert licenses.normalized(text) == expression


def test_the_duty_is_that_of_the_mildest_choice() -> None:
    for expression, duty in [
        ("MIT", None),
        ("LGPL-2.1-only", None),
        ("GPL-2.0-only WITH Classpath-exception-2.0", None),
        ("LicenseRef-Acme", None),
        ("GPL-3.0-or-later", Duty.COPYLEFT),
        ("AGPL-3.0-only", Duty.NETWORK),
        ("CC-BY-NC-4.0", Duty.NON_COMMERCIAL),
        ("MIT OR AGPL-3.0-only", None),
        ("MIT AND AGPL-3.0-only", Duty.NETWORK),
        ("GPL-3.0-only OR CC-BY-NC-4.0", Duty.NON_COMMERCIAL),
        ("GPL-3.0-only AND CC-BY-NC-4.0", Duty.COPYLEFT),
    ]:
        assert licenses.duty(expression) == duty


def found(own: str, card: Card, *, has_file: bool = False) -> list[str]:
    package = Package(name="vision", version="1.0.0", license=own)
    return [each.message for each in sbom.conflicts(package, {"net": card}, has_files={"net": has_file})]


def test_conflicts_of_terms_are_found_and_named_once() -> None:
    (message,) = found("MIT", Card(license="AGPL-3.0-only"))
    assert message.startswith("model 'net' is under AGPL-3.0-only (network copyleft), the package under MIT: ")
    (message,) = found("", Card(license="AGPL-3.0-only"))
    assert "the package under no licence" in message
    for own, terms in [
        ("MIT", "Apache-2.0"),
        ("MIT", "MIT OR AGPL-3.0-only"),
        ("AGPL-3.0-only", "AGPL-3.0-only"),
        ("AGPL-3.0-only", "GPL-3.0-or-later"),
        ("CC-BY-NC-4.0", "CC-BY-NC-SA-4.0"),
        ("", ""),
    ]:
        assert found(own, Card(license=terms)) == []
    assert len(found("GPL-3.0-only", Card(license="AGPL-3.0-only"))) == 1
    (message,) = found("LicenseRef-Acme", Card())
    assert message.startswith("model 'net' has no licence, the package has LicenseRef-Acme")
    assert found("LicenseRef-Acme", Card(), has_file=True) == []

    def messages(own: str, card: Card) -> list[str]:
        package = Package(name="vision", version="1.0.0", license=own)
        cards = {"net": card, "head": card, "other": Card(license="MIT")}
        return [each.message for each in sbom.conflicts(package, cards, has_files={})]

    (unlicensed,) = messages("LicenseRef-Acme", Card())
    assert unlicensed.startswith("models 'net', 'head' have no licence")
    (copyleft,) = messages("MIT", Card(license="GPL-3.0-only"))
    assert copyleft.startswith("models 'net', 'head' are under GPL-3.0-only")
    card = Card(license="MIT", datasets=(Dataset(name="faces", license="CC-BY-NC-4.0"),))
    (message,) = found("MIT", card)
    assert message.startswith("data 'faces' of model 'net' is under CC-BY-NC-4.0 (no commercial use)")


PROJECT = """\
[package]
name = "vision"
license = "MIT"

[model.net]
path = "net.onnx"
card = {{ license = "{license}" }}

[target.android]
"""


def project(folder: Path, terms: str) -> config.Config:
    path = folder / "mobpack.toml"
    path.write_text(PROJECT.format(license=terms), encoding="utf-8", newline="\n")
    return config.load(path)


def test_conflicts_are_warnings_and_errors_with_strict(tmp_path: Path) -> None:
    read, console = project(tmp_path, "AGPL-3.0-only"), Console(quiet=True)
    judge_licenses(package_of(read), read, BuildRequest(targets=("android",), out=tmp_path / "dist"), console)
    assert [each.partition(":")[0] for each in console.warnings] == [
        "model 'net' is under AGPL-3.0-only (network copyleft), the package under MIT"
    ]
    strict = BuildRequest(targets=("android",), out=tmp_path / "dist", rules=Rules(strict=True))
    with pytest.raises(GateError, match=r"--strict: model 'net' is under AGPL-3.0-only") as error:
        judge_licenses(package_of(read), read, strict, console)
    assert "license in [model.net.card]" in error.value.hint
    assert error.value.EXIT_CODE == 6


def test_a_project_without_a_licence_is_told_the_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "net.onnx").write_bytes(b"")
    read, console = config.for_model(tmp_path / "net.onnx", targets=("android",), settings=()), Console()
    judge_licenses(package_of(read), read, BuildRequest(targets=("android",), out=tmp_path), console)
    assert capsys.readouterr().err == ""
    judge_licenses(package_of(read), read, BuildRequest(targets=("android",), out=tmp_path, has_project=True), console)
    assert "license in [package] and in [model.net.card]" in " ".join(capsys.readouterr().err.split())
    assert console.warnings == []


def test_a_licence_of_a_card_is_an_spdx_expression(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"license 'Proprietary' is not an SPDX expression") as error:
        project(tmp_path, "Proprietary")
    assert '"LicenseRef-NAME"' in error.value.hint


@pytest.mark.parametrize(
    ("group", "has_project", "is_warned"), [("", True, True), ("com.acme", True, False), ("", False, False)]
)
def test_a_project_in_the_group_of_examples_is_warned_and_not_stopped_by_strict(
    group: str, has_project: bool, is_warned: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = '[package]\nname = "a"\n[model.m]\npath = "m.onnx"\n[target.android]\n'
    (tmp_path / "mobpack.toml").write_text(text + (f'group = "{group}"\n' if group else ""), encoding="utf-8")
    read, console = config.load(tmp_path / "mobpack.toml"), Console()
    warn_of_example_group(read, BuildRequest(targets=("android",), out=tmp_path, has_project=has_project), console)
    assert ("the group of the Android library is com.example" in capfd.readouterr().err) == is_warned
    assert console.warnings == []
