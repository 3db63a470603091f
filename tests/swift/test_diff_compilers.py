"""`mobpack diff` calls a change of an interface breaking where the compilers of Dart, Kotlin, Swift and TypeScript
refuse an app that was written for the old one, and nowhere else."""

import shutil
from pathlib import Path

from packager.files.installed import templates_folder
from tests.cases.diff_compilers import OLD, files_with_errors, says_breaking, write
from tests.cases.differences_cases import APPS_IN_SWIFT, CHANGED, IOS, app
from tests.toolchain import apple


def test_swift_refuses_the_apps_that_the_verdict_says(tmp_path: Path) -> None:
    write({path.as_posix(): text for path, text in IOS.texts().items()}, tmp_path / "package")
    sources = tmp_path / "package" / "Sources"
    shutil.copytree(templates_folder() / "ios" / "onnxruntime", sources / "CChangesKit", dirs_exist_ok=True)
    apps = {name: app(APPS_IN_SWIFT, name, name) for name in OLD}
    apps |= {each.name: app(APPS_IN_SWIFT, each.of, each.name) for each in CHANGED}
    write({f"{name}.swift": text for name, text in apps.items()}, tmp_path / "apps")

    done = apple.compile_swift(
        "ChangesKit",
        [*sorted((tmp_path / "apps").glob("*.swift")), *sorted((sources / "ChangesKit").glob("*.swift"))],
        tmp_path,
        c_modules={"CChangesKit": sources / "CChangesKit" / "include"},
    )

    refused = {each.name for each in CHANGED if says_breaking("Swift", each)}
    assert files_with_errors(done.output) == refused, done.output
