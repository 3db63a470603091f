"""Programs with packages on a network, beside ONNX Runtime alone: `python -m benchmarks.privacy`.

Each program opens a model of one node, and waits. It runs as a user with an empty home, in a network of its own that
leads nowhere, with a library that writes down look-ups of names, connections, programs that it starts, and the files
that it leaves at home. Nobody has turned ONNX Runtime's telemetry off, unless a row says so.
"""

import argparse
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from packager.engines.environments.environment import ensure
from packager.engines.environments.runtime import Runtime
from tests.cases.onnx_text import onnx_model, saved
from tests.toolchain import command, cpp_packages, dart, desktop_java, device, jvm, node, swift_app, swift_packages
from tests.toolchain.chromium import browser
from tests.toolchain.react_native.download.server import serving
from tests.toolchain.react_native.packages import unpack
from tests.toolchain.swift import Swift, swift
from tests.toolchain.swift_processes import command as command_of
from tests.toolchain.web.site import files_of
from tests.toolchain.witness import SWITCH, Line, Witnessed, library, watched

PROJECT = """\
[package]
name = "vision"
[model.net]
path = "net.onnx"
[target.python]
[target.node]
[target.cpp]
[target.jvm]
group = "com.example"
[target.android]
group = "com.example"
[target.ios]
[target.flutter]
[target.web]
"""
ALONE = "ONNX Runtime alone"
PYTHON = "import time\n{opened}\ntime.sleep({seconds})\n"
NODE = "{opened}\nsetTimeout(() => undefined, {seconds} * 1000);\n"
CPP = """\
#include <chrono>
#include <thread>
#include <vision/vision.h>
int main(int, char** arguments) {{
  vision::Options options;
  options.models = arguments[1];
  const auto model = vision::Net::load(options);
  std::this_thread::sleep_for(std::chrono::seconds({seconds}));
  return model ? 0 : 1;
}}
"""
ANDROID = """\
package apps

import com.example.vision.Net
import device.InstalledApp
import java.io.File

fun main() {{
    Net.loadBlocking(InstalledApp(apk = File("{apk}"), data = File("{data}"))).use {{ Thread.sleep({seconds}_000L) }}
}}
"""
SWIFT = """\
import Foundation
import VisionModels

let model = try Net()
Thread.sleep(forTimeInterval: {seconds})
model.close()
"""
DART = """\
import 'package:vision_models/vision_models.dart';

Future<void> main(List<String> arguments) async {{
  final model = await Net.load(LoadOptions(library: arguments.single));
  await Future<void>.delayed(const Duration(seconds: {seconds}));
  await model.dispose();
}}
"""
PAGE = """\
import { Net, setUp } from '/vision/lib/index.js';

setUp({ worker: false });
const model = await Net.load();
await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
await model.dispose();
"""
STORED = (
    "caches.keys().then((names) => [...names, ...Object.keys(localStorage), ...(document.cookie ? ['a cookie'] : [])])"
)
PACKED = (".aar", ".zip", ".tgz", ".whl", ".jar")
FOR_PEOPLE = (".md", ".json", "LICENSE", ".txt", "METADATA")
HOST = re.compile(rb"(?:https?|wss?)://([A-Za-z0-9.-]+\.[A-Za-z]{2,})")
KOTLIN = """\
package apps

import com.example.vision.Net
import kotlinx.coroutines.runBlocking

fun main() {{
    runBlocking {{ Net.load() }}
    Thread.sleep({seconds}_000L)
}}
"""


Program = tuple[str, Line | Callable[[Mapping[str, str]], Line], Mapping[str, str]]
"""A name, a command, and variables."""
NOTHING: Mapping[str, str] = {}


def programs(project: Path, seconds: int) -> Iterator[Program]:
    """Programs with the packages of each language."""
    yield from interpreted(project, seconds)
    yield from java(project, seconds)
    yield from android(project, seconds)
    yield from swift_and_dart(project, seconds)


def interpreted(project: Path, seconds: int) -> Iterator[Program]:
    """Programs in Python and JavaScript, and one in C++."""
    ensure(Runtime())
    own, path = Runtime().command(), Runtime().variables()["PYTHONPATH"]
    [wheel] = (project / "dist" / "python").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(project / "site")
    opened = f"import onnxruntime\nonnxruntime.InferenceSession({str(project / 'net.onnx')!r})"
    alone = PYTHON.format(opened=opened, seconds=seconds)
    ours = PYTHON.format(opened="from vision import Net\nmodel = Net.load()", seconds=seconds)
    yield f"Python: {ALONE}", [*own, "-c", alone], {"PYTHONPATH": path}
    yield "Python: the wheel", [*own, "-c", ours], {"PYTHONPATH": f"{project / 'site'}:{path}"}

    modules = node.link(node.project("react_native"), project)
    [tarball] = (project / "dist" / "npm").glob("vision-node-*.tgz")
    unpack(tarball, project)
    (project / "package").rename(modules / "vision-node")
    alone = f"await (await import('onnxruntime-node')).InferenceSession.create({str(project / 'net.onnx')!r});"
    for name, opened in ((ALONE, alone), ("the package", "await (await import('vision-node')).Net.load();")):
        program = project / f"{name.split()[-1]}.mjs"
        program.write_text(NODE.format(opened=opened, seconds=seconds), encoding="utf-8")
        yield f"Node: {name}", [node.node().program, program], {}

    [tarball] = (project / "dist" / "cpp").glob("*.tgz")
    package, root = cpp_packages.unpacked(tarball, project / "cpp"), cpp_packages.root(project / "onnxruntime")
    source = project / "main.cpp"
    source.write_text(CPP.format(seconds=seconds), encoding="utf-8")
    program = cpp_packages.compiled(package, root, source, cpp_packages.gcc(), "-O1")
    yield "C++: the package", [program, package / "models"], {"LD_LIBRARY_PATH": str(root / "lib")}


def java(project: Path, seconds: int) -> Iterator[Program]:
    """A program in Kotlin on the oldest Java and on a new one."""
    jar = min((project / "dist" / "jvm").glob("*.jar"), key=lambda path: len(path.name))
    source = project / "Main.kt"
    source.write_text(KOTLIN.format(seconds=seconds), encoding="utf-8")
    own = (jar, jvm.compile_kotlin([source], classpath=[jar]))
    old = desktop_java.command("apps.MainKt", *own, java=desktop_java.oldest_java())
    yield "Java 25: the jar", desktop_java.command("apps.MainKt", *own), NOTHING
    yield "Java 11: the jar", old, NOTHING
    yield f"Java 11: the jar, with `{SWITCH}=1`", old, {SWITCH: "1"}


def android(project: Path, seconds: int) -> Iterator[Program]:
    """The Android library on ONNX Runtime's Android libraries; stand-ins take the place of Android's own classes."""
    folder = project / "device"
    folder.mkdir()
    [aar] = (project / "dist" / "android").glob("*.aar")
    with zipfile.ZipFile(aar) as archive:
        archive.extractall(folder)
    classes, apk = folder / "classes.jar", device.write_apk(aar, folder / "base.apk", is_stored=True)
    source = folder / "Main.kt"
    source.write_text(ANDROID.format(apk=apk, data=folder, seconds=seconds), encoding="utf-8")
    compiled = jvm.compile_kotlin([source], classpath=[classes, jvm.fakes(), jvm.android_runtime().classes])
    line = jvm.command("apps.MainKt", {}, [compiled, classes], {"java.library.path": folder / "jni" / jvm.ABI})
    yield "Android: the library", line, {"LD_LIBRARY_PATH": jvm.environment()["LD_LIBRARY_PATH"]}


def swift_and_dart(project: Path, seconds: int) -> Iterator[Program]:
    """The Swift package and the Flutter plugin on ONNX Runtime for Linux."""
    source = project / "main.swift"
    source.write_text(SWIFT.format(seconds=seconds), encoding="utf-8")
    package = swift_packages.unpack(project / "dist" / "swift", project / "swift")
    app = swift_app.build_in(package, "VisionModels", {"main.swift": source}, lambda built: None)
    yield (
        "Swift: the package",
        seen([app.folder / app.name], app.folder, swift(), swift().onnxruntime_library()),
        NOTHING,
    )

    folder = shutil.copytree(project / "dist" / "flutter" / "vision_models", project / "flutter")
    (folder / "main.dart").write_text(DART.format(seconds=seconds), encoding="utf-8")
    shutil.rmtree(folder / "hook", ignore_errors=True)  # `dart compile` takes no package that builds something
    dart.compile_program(dart.configured_package(folder, "vision_models"), "exe", "main.dart", "App")
    shutil.copytree(folder / "models", folder / "data" / "flutter_assets" / "packages" / "vision_models" / "models")
    library = dart.dart().onnxruntime()
    toolchain = Swift(dart.dart().folder)
    yield "Dart: the Flutter plugin", seen([folder / "App", library], folder, toolchain, library.parent), NOTHING


def seen(line: Line, folder: Path, toolchain: Swift, libraries: Path) -> Callable[[Mapping[str, str]], Line]:
    """The command that runs a program in the folder that it lies in, with what the witness needs."""

    def started(variables: Mapping[str, str]) -> Line:
        own = {**variables, "LD_LIBRARY_PATH": str(libraries)}
        places = (libraries, library().parent, Path(variables["HOME"]).parent)
        mounts = {str(each): each for each in places}
        return command_of(line, cwd=folder, mounts=mounts, environment=own, toolchain=toolchain)

    return started


def page(project: Path, home: Path, seconds: int) -> Witnessed:
    """A page that opens a model of the web package: its requests to other hosts than its own, and what it stores."""
    [tarball] = (project / "dist" / "npm").glob("vision-web-*.tgz")
    unpack(tarball, home)
    opened = PAGE.replace("SECONDS", str(seconds)).encode()
    files = {**files_of(home / "package", "/vision/"), "/page.html": b"<!doctype html><title>models</title>"}
    with browser(home, seconds=seconds + 120) as chromium, serving() as server:
        server.files.by_path.update({**files, "/open.mjs": opened})
        chromium.visit(f"{server.url}page.html")
        answer = chromium.call(
            "Runtime.evaluate", expression="import('/open.mjs')", awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer
        stored = chromium.call("Runtime.evaluate", expression=STORED, awaitPromise=True, returnByValue=True)
        asked = {urlsplit(url).hostname or "" for url in chromium.requests()}
    others = tuple(sorted(asked - {urlsplit(server.url).hostname or "", ""}))
    return Witnessed(lookups=others, connections=others, programs=(), files=tuple(stored["result"]["value"]))


def addresses(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Files of a package that have addresses of the web in them, and their hosts; texts for people are left out."""
    if path.suffix == ".tgz":
        with tarfile.open(path) as tar:
            contents = {each.name: tar.extractfile(each) for each in tar if each.isfile()}
            members = {name: content.read() for name, content in contents.items() if content}
    else:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    for name, content in members.items():
        if name.endswith(".jar"):
            (inner := path.with_name("inner.jar")).write_bytes(content)
            yield from ((f"{name}: {within}", hosts) for within, hosts in addresses(inner))
            inner.unlink()
        elif not name.endswith(FOR_PEOPLE) and (hosts := {each.decode() for each in HOST.findall(content)}):
            yield Path(name).name, sorted(hosts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="for which each program waits (default: 60)")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch, "project")
        project.mkdir()
        saved(project / "net.onnx", onnx_model("(float[1, 4] x) => (float[1, 4] y) { y = Relu (x) }"))
        (project / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
        done = command.run("build", folder=project)
        if done.returncode != 0:
            sys.exit(done.stderr)
        print("| program | look-ups | connections | programs | files at home |\n|---|---|---|---|---|")
        for number, (name, line, variables) in enumerate(programs(project, seconds)):
            found = watched(line, Path(scratch, str(number)), variables, seconds=seconds + 120)
            print(f"| {name} | {' | '.join(_cells(found))} |", flush=True)
        print(f"| Chromium: the web package | {' | '.join(_cells(page(project, Path(scratch), seconds)))} |")
        print("\n| package | addresses in its files |\n|---|---|")
        for archive in packages(project / "dist"):
            told = [f"`{name}`: {', '.join(hosts)}" for name, hosts in addresses(archive)]
            print(f"| `{archive.name}` | {'; '.join(told) or 'none'} |")


def packages(dist: Path) -> Iterator[Path]:
    """The packages of a build, without sources of other ones and documentation."""
    for folder in ("android", "flutter", "swift", "npm", "python", "cpp", "jvm"):
        for path in sorted((dist / folder).iterdir()):
            if path.suffix in PACKED and not path.stem.endswith(("-sources", "-javadoc")):
                yield path


def _cells(found: Witnessed) -> list[str]:
    columns = (found.lookups, found.connections, found.programs, found.files)
    return [", ".join(f"`{each}`" for each in sorted(set(column))) or "none" for column in columns]


if __name__ == "__main__":
    main()
