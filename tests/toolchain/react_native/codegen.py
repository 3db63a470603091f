"""React Native's own code generator, called as an app's build calls it on a package; its output is kept by content."""

import json
import shutil
from pathlib import Path

from tests.toolchain import jsc, node
from tests.toolchain.kept import kept
from tests.toolchain.npm_checks import contents

NOT_READ = ("android/build", "models", "node_modules")
"""Folders of a package that have no part in it."""


def for_android(package: Path, folder: Path, *, project: str = jsc.NEWEST) -> Path:
    """The folder that Gradle's generateCodegenSchemaFromJavaScript and generateCodegenArtifactsFromSchema write.

    `package` has React Native in its node_modules, or in those of a folder above.
    """
    config = json.loads((package / "package.json").read_text(encoding="utf-8"))["codegenConfig"]
    modules = node.project(project) / "node_modules"
    combine = modules / "@react-native" / "codegen" / "lib" / "cli" / "combine" / "combine-js-to-schema-cli.js"
    specs = modules / "react-native" / "scripts" / "generate-specs-cli.js"

    def make(made: Path) -> None:
        schema = made / "schema.json"
        _run(package, combine, "--platform", "android", schema, package / config["jsSrcsDir"])
        names = ("--libraryName", config["name"], "--javaPackageName", config["android"]["javaPackageName"])
        _run(package, specs, "--platform", "android", "--schemaPath", schema, "--outputDir", made, *names)

    return _copied(kept("codegen-android", make, str(specs), *contents(package, NOT_READ)), folder)


def for_ios(app: Path, folder: Path, *, project: str = jsc.NEWEST) -> Path:
    """The folder that an app's `pod install` generates for the packages that it depends on."""
    modules = app / "node_modules"
    packages = [path.parent for path in (*modules.glob("*/package.json"), *modules.glob("@*/*/package.json"))]
    installed = [path for path in sorted(packages) if not path.is_symlink()]
    assert installed, f"{app} has no package of its own"
    read = [line for path in installed for line in (path.name, *contents(path, NOT_READ))]
    asked = (app / "package.json").read_text(encoding="utf-8")
    made = kept("codegen-ios", lambda made: generate_for_ios(app, made, project), str(_script(project)), asked, *read)
    return _place(_copied(made, folder))


def generate_for_ios(app: Path, folder: Path, project: str) -> None:
    """Generates it below `folder`, whose place in the app it may name."""
    _run(app, _script(project), "--path", app, "--targetPlatform", "ios", "--outputPath", folder)


def _script(project: str) -> Path:
    return node.project(project) / "node_modules" / "react-native" / "scripts" / "generate-codegen-artifacts.js"


def _place(folder: Path) -> Path:
    made = folder / "build" / "generated" / "ios"
    newer = made / "ReactCodegen"
    return newer if newer.is_dir() else made


def _copied(made: Path, folder: Path) -> Path:
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return folder


def _run(folder: Path, script: Path, *arguments: str | Path) -> None:
    done = node.run([script, *arguments], cwd=folder)
    assert done.returncode == 0, done.output
    assert "error" not in done.output.lower(), done.output
