"""`provenance.intoto.json`: valid for the reference library, complete, true, and the same bytes everywhere."""

from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.distribution.locking import Lock
from packager.distribution.provenance import FILE_NAME
from packager.distribution.provenance import read as read_statement
from packager.distribution.provenance.resources import dependencies, lock_of, states, uri
from tests.cases.cli import mobpack

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
