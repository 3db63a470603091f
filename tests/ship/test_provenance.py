"""`provenance.intoto.json`: valid for the reference library, complete, true, and the same bytes everywhere."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict, ParseError
from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement

from packager.core.console import Console
from packager.core.errors import GateError, ToolError
from packager.distribution.locking import LOCK, Facts, Lock, read
from packager.distribution.locking.lock import BUILD
from packager.distribution.provenance import FILE_NAME
from packager.distribution.provenance import read as read_statement
from packager.distribution.provenance.resources import dependencies, lock_of, states, uri
from packager.distribution.release.contents import inside
from packager.files.hashes import sha256_of
from packager.workflows.ingredients import BuildProject
from packager.workflows.origins import Origins, origins_of, write_provenance
from packager.workflows.requested import BuildRequest
from tests.cases.caches import empty_cache
from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import linear, saved
from tests.toolchain import command

__all__ = ["mobpack"]


@pytest.mark.parametrize(
    ("facts", "address"),
    [
        ({"origin": "npm:onnxruntime-web@1.30.0"}, "pkg:npm/onnxruntime-web@1.30.0"),
        ({"origin": "npm:@huggingface/transformers@4.3.1"}, "pkg:npm/%40huggingface/transformers@4.3.1"),
        ({"origin": "pypi:numpy@2.4.6"}, "pkg:pypi/numpy@2.4.6"),
        (
            {"origin": "debian:libstdc++6@1:12.2.0-14+deb12u1", "architecture": "arm64"},
            "pkg:deb/debian/libstdc%2B%2B6@1%3A12.2.0-14%2Bdeb12u1?arch=arm64",
        ),
        ({"value": "com.example:runtime:1.2.3"}, "pkg:maven/com.example/runtime@1.2.3"),
        ({"value": "onnxruntime-c 1.29.0"}, "pkg:generic/onnxruntime-c@1.29.0"),
        ({"size-bytes": 3, "sha256": "0" * 64}, ""),
    ],
)
def test_origins_are_package_urls(facts: dict[str, str | int], address: str) -> None:
    assert uri(facts) == address


def test_a_lock_can_be_read_from_its_descriptors() -> None:
    lock = Lock(
        tables={
            "build": {"mobpack": {"version": "1.0", "dir-hash": "1" * 64}},
            "file": {"a": {"size-bytes": 3, "sha256": "2" * 64}},
            "runtime": {"ios": {"value": "onnxruntime-c 1.29.0", "sha256": "3" * 64}},
            "machine": {"system": {"value": "linux"}},
        }
    )
    assert lock_of(dependencies(lock), states(lock)) == lock


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"predicate": {"buildDefinition": {"buildType": "other"}}}'])
def test_another_document_is_no_statement(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(ToolError, match="is not a statement of mobpack about a build"):
        read_statement(tmp_path)


PROJECT = """\
[package]
name = "pages"

[model.pages]
path = "net.onnx"

[variant.small]
quantizer = "dynamic"

[check]
gain = "skip"

[target.ios]
variant = "small"
"""


def run(*arguments: str, cwd: Path, cache: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(empty_cache(cache)), **variables}
    return command.run(*arguments, folder=cwd, environment=environment)


def make_release(folder: Path, project: str = PROJECT, **variables: str) -> Path:
    """The release of a locked project in `folder`, which has a cache of its own beside it."""
    folder.mkdir(parents=True)
    saved(folder / "net.onnx", linear())
    (folder / "mobpack.toml").write_text(project, encoding="utf-8", newline="\n")
    for arguments in (["lock"], ["build", "--locked"]):
        done = run(*arguments, cwd=folder, cache=folder.with_name(f"{folder.name}-cache"), **variables)
        assert done.returncode == 0, done.stderr
    return folder / "dist"


@cache
def shared_release(base: Path) -> Path:
    """A release with its provenance, in the folder of its project, made once; tests only read it."""
    return make_release(base / "locked" / "project")


@pytest.fixture
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_release(tmp_path_factory.getbasetemp())


@pytest.fixture
def document(release: Path) -> Any:
    return json.loads((release / FILE_NAME).read_text(encoding="utf-8"))


def validate(document: Any) -> None:
    """Raises ParseError or ValueError unless in-toto's library accepts the statement, its predicate, and each resource
    in it. Keys that its schema does not have are refused."""
    Statement.copy_from_pb(ParseDict(document, statement_pb2.Statement())).validate()
    predicate = ParseDict(document["predicate"], provenance_pb2.Provenance())
    assert predicate.build_definition.build_type
    assert predicate.run_details.builder.id
    for each in (*predicate.build_definition.resolved_dependencies, *predicate.run_details.byproducts):
        ResourceDescriptor.copy_from_pb(each).validate()


def test_the_reference_library_accepts_it(document: Any) -> None:
    validate(document)
    found = (*document["subject"], *document["predicate"]["buildDefinition"]["resolvedDependencies"])
    digests = [value for each in found for value in each.get("digest", {}).values()]
    assert [each for each in digests if not re.fullmatch("[0-9a-f]{64}", each)] == []
    assert document["predicateType"] == "https://slsa.dev/provenance/v1"


DAMAGES: dict[str, Callable[[Any], object]] = {
    "a subject without a digest": lambda document: document["subject"][0].pop("digest"),
    "no subject": lambda document: document["subject"].clear(),
    "no predicate type": lambda document: document.pop("predicateType"),
    "an unknown key": lambda document: document["predicate"]["runDetails"].update(time="now"),
    "a dependency that is nothing": lambda document: document["predicate"]["buildDefinition"][
        "resolvedDependencies"
    ].append({"annotations": {}}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_reference_library_refuses_a_damaged_one(damage: str, document: Any) -> None:
    DAMAGES[damage](document)
    with pytest.raises((ValueError, ParseError)):
        validate(document)


def test_its_subjects_are_all_files_of_the_release(release: Path, document: Any) -> None:
    files = {
        path.relative_to(release).as_posix(): {"sha256": sha256_of(path)}
        for path in release.rglob("*")
        if path.is_file() and path.name != FILE_NAME
    }
    assert {each["name"]: each["digest"] for each in document["subject"]} == files
    assert "manifest.json" in files


def test_its_chain_leads_from_the_model_to_the_file_in_a_package(release: Path, document: Any) -> None:
    """Each link names the sha256 of the one before it; the first is a file of the project, the last one is read from
    the package."""
    links = {each["name"]: each for each in document["predicate"]["runDetails"]["byproducts"]}
    file = links["file pages/small/fixed.ort"]
    variant, model = links["variant pages/small"], links["model pages"]
    assert variant["annotations"]["quantizer"] == "dynamic"
    assert file["annotations"]["made-from"] == {variant["name"]: variant["digest"]["sha256"]}
    assert variant["annotations"]["made-from"] == {model["name"]: model["digest"]["sha256"]}
    assert model["annotations"]["made-from"] == {"net.onnx": sha256_of(release.parent / "net.onnx")}
    assert variant["digest"] != model["digest"]
    (place,) = file["annotations"]["in"]
    package, _, path = place.partition(": ")
    assert inside(release / package)[PurePosixPath(path)].sha256 == file["digest"]["sha256"]


def test_it_lists_the_dependencies_of_the_lock(release: Path, document: Any) -> None:
    lock = read(release.parent / LOCK)
    definition = document["predicate"]["buildDefinition"]
    assert definition["resolvedDependencies"] == dependencies(lock)
    assert {"name": "net.onnx", "digest": {"sha256": sha256_of(release.parent / "net.onnx")}}.items() <= next(
        each for each in definition["resolvedDependencies"] if each["name"] == "net.onnx"
    ).items()
    assert definition["externalParameters"]["targets"] == ["ios"]
    assert definition["externalParameters"]["configuration"]["variant"]["small"]["quantizer"] == "dynamic"
    statement = read_statement(release)
    assert statement
    assert {name: table for name, table in statement.lock.tables.items() if name != BUILD} == {
        name: table for name, table in lock.tables.items() if name != BUILD
    }
    assert statement.lock.facts(BUILD, "mobpack") == lock.facts(BUILD, "mobpack")


def test_it_is_the_same_in_another_folder_and_says_no_time_and_no_path(
    release: Path, tmp_path: Path, document: Any
) -> None:
    variables = {"PYTHONHASHSEED": "4242", "TZ": "America/New_York"}
    other = make_release(tmp_path / "another folder ünïcode" / "two", **variables)
    assert (other / FILE_NAME).read_bytes() == (release / FILE_NAME).read_bytes()
    assert str(release.parent.parent) not in json.dumps(document)
    assert document["predicate"]["runDetails"].keys() == {"builder", "byproducts"}


def test_a_project_without_a_lock_has_none_and_gets_one_with_its_lock(tmp_path: Path, mobpack: Mobpack) -> None:
    """Although nothing else has changed in between."""
    saved(tmp_path / "net.onnx", linear())
    (tmp_path / "mobpack.toml").write_text(PROJECT.partition("variant =")[0], encoding="utf-8")
    assert mobpack("build").code == 0
    assert not (tmp_path / "dist" / FILE_NAME).exists()
    before = {path: sha256_of(path) for path in (tmp_path / "dist").rglob("*") if path.is_file()}
    assert mobpack("lock").code == 0
    assert mobpack("build").code == 0
    assert (tmp_path / "dist" / FILE_NAME).is_file()
    assert {path: sha256_of(path) for path in before} == before
    assert "nothing has changed" in mobpack("build").err


def test_a_file_that_changes_while_the_build_runs_is_refused(release: Path, tmp_path: Path) -> None:
    from packager import config

    file = release.parent / "mobpack.toml"
    project = BuildProject(config=config.load(file), file=file)
    origins = origins_of(project, ("ios",), Console(quiet=True))
    assert origins
    request = BuildRequest(targets=("ios",), out=tmp_path)
    write_provenance(origins, (), (), request, tmp_path)
    assert (tmp_path / FILE_NAME).is_file()
    files: dict[str, Facts] = {**origins.lock.tables["file"], "net.onnx": {"size-bytes": 1, "sha256": "0" * 64}}
    changed = Origins(project=project, lock=replace(origins.lock, tables={**origins.lock.tables, "file": files}))
    with pytest.raises(GateError, match=r"a source changed while the build ran: file net\.onnx"):
        write_provenance(changed, (), (), request, tmp_path)
