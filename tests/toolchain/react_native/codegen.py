"""React Native's own code generator, called as an app's build calls it on a package."""

import json
from pathlib import Path

from tests.toolchain import jsc, node


def for_android(package: Path, folder: Path, *, project: str = jsc.NEWEST) -> Path:
    """The folder that Gradle's generateCodegenSchemaFromJavaScript and generateCodegenArtifactsFromSchema write.

    `package` has React Native in its node_modules, or in those of a folder above.
    """
    config = json.loads((package / "package.json").read_text(encoding="utf-8"))["codegenConfig"]
    modules = node.project(project) / "node_modules"
    folder.mkdir(parents=True)
    schema = folder / "schema.json"
    combine = modules / "@react-native" / "codegen" / "lib" / "cli" / "combine" / "combine-js-to-schema-cli.js"
    _run(package, combine, "--platform", "android", schema, package / config["jsSrcsDir"])
    specs = modules / "react-native" / "scripts" / "generate-specs-cli.js"
    names = ("--libraryName", config["name"], "--javaPackageName", config["android"]["javaPackageName"])
    _run(package, specs, "--platform", "android", "--schemaPath", schema, "--outputDir", folder, *names)
    return folder


def for_ios(app: Path, folder: Path, *, project: str = jsc.NEWEST) -> Path:
    """The folder that an app's `pod install` generates for the packages that it depends on."""
    script = node.project(project) / "node_modules" / "react-native" / "scripts" / "generate-codegen-artifacts.js"
    _run(app, script, "--path", app, "--targetPlatform", "ios", "--outputPath", folder)
    made = folder / "build" / "generated" / "ios"
    newer = made / "ReactCodegen"
    return newer if newer.is_dir() else made


def _run(folder: Path, script: Path, *arguments: str | Path) -> None:
    done = node.run([script, *arguments], cwd=folder)
    assert done.returncode == 0, done.output
    assert "error" not in done.output.lower(), done.output
