"""Static frameworks become libraries that apps link and do not embed."""

from pathlib import Path

from packager.targets.xcframework.lint import lint
from packager.targets.xcframework.macho import read
from packager.targets.xcframework.repackage import library_format
from tests.toolchain import apple_runtime


def test_the_published_runtime_keeps_its_code_and_loses_what_the_app_store_refuses(tmp_path: Path) -> None:
    published = apple_runtime.published()
    result = library_format(published, tmp_path / "onnxruntime.xcframework")
    before, after = lint(published), lint(result.root)
    assert "static-framework" in {each.code for each in before.findings}
    assert after.errors == ()
    refusals = {"static-framework", "minimum-os-missing", "info-missing", "layout-links"}
    assert refusals.isdisjoint(each.code for each in after.findings)
    assert [each.identifier for each in result.libraries] == sorted(before.code)
    for identifier, pieces in before.code.items():
        for old, new in zip(pieces, after.code[identifier], strict=True):
            assert "_OrtGetApiBase" in new.exports
            assert (old.architecture, old.exports, old.undefined, old.builds, old.size_bytes) == (
                new.architecture,
                new.exports,
                new.undefined,
                new.builds,
                new.size_bytes,
            )
    (phone,) = read(result.root / "ios-arm64/libonnxruntime.a")
    assert (phone.start, phone.kind) == (0, "static")
