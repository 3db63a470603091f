"""ONNX Runtime's own archive for iOS is fetched from its address, and only its own bytes are accepted."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from packager.cli.runtime_xcframework import xcframework
from packager.runtimes.operators import read_config
from tests.cases.xcframework_pinned import pinned_zip

__all__ = ["pinned_zip"]


def test_the_published_runtime_comes_with_its_operators(tmp_path: Path, pinned_zip: Callable[[str], bytes]) -> None:
    by_hand = tmp_path / "by-hand.zip"
    by_hand.write_bytes(pinned_zip(""))
    shown = CliRunner().invoke(xcframework, [str(by_hand), "--out", str(tmp_path / "out.xcframework"), "--json"])
    assert json.loads(shown.stdout)["config"] == str(tmp_path / "out.config")
    text = (tmp_path / "out.config").read_text(encoding="utf-8")
    assert text == "!no_ops_specified_means_all_ops_are_required\n"
    assert read_config(tmp_path / "out.config").has_all_operators


def test_operators_of_another_runtime_are_left_and_warned_of(
    tmp_path: Path, pinned_zip: Callable[[str], bytes]
) -> None:
    (tmp_path / "by-hand.zip").write_bytes(pinned_zip(""))
    (tmp_path / "out.config").write_text("ai.onnx;13;Add\n", encoding="utf-8")
    shown = CliRunner().invoke(xcframework, [str(tmp_path / "by-hand.zip"), "--out", str(tmp_path / "out.xcframework")])
    assert "out.config belongs to another runtime" in " ".join(shown.output.split())
    assert (tmp_path / "out.config").read_text(encoding="utf-8") == "ai.onnx;13;Add\n"
