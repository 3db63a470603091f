"""Programs with packages on a network, beside ONNX Runtime alone: `python -m benchmarks.privacy`.

Each program opens a model of one node, and waits. It runs as a user with an empty home, in a network of its own that
leads nowhere, with a library that writes down look-ups of names, connections, programs that it starts, and the files
that it leaves at home. Nobody has turned ONNX Runtime's telemetry off, unless a row says so.
"""

import argparse
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packager.engines.environments.environment import ensure
from packager.engines.environments.runtime import Runtime
from tests.cases.onnx_text import onnx_model, saved
from tests.toolchain import command, cpp_packages, desktop_java, jvm, node
from tests.toolchain.react_native.packages import unpack
from tests.toolchain.witness import SWITCH, Witnessed, watched

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
KOTLIN = """\
package apps

import com.example.vision.Net
import kotlinx.coroutines.runBlocking

fun main() {{
    runBlocking {{ Net.load() }}
    Thread.sleep({seconds}_000L)
}}
"""


def programs(project: Path, seconds: int) -> Iterator[tuple[str, Sequence[str | Path], Mapping[str, str]]]:
    """A name, a command, and variables of each program."""
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
    [tarball] = (project / "dist" / "npm").glob("*.tgz")
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

    jar = min((project / "dist" / "jvm").glob("*.jar"), key=lambda path: len(path.name))
    source = project / "Main.kt"
    source.write_text(KOTLIN.format(seconds=seconds), encoding="utf-8")
    line = desktop_java.command("apps.MainKt", jar, jvm.compile_kotlin([source], classpath=[jar]))
    yield "Java: the jar", line, {}
    yield f"Java: the jar, with `{SWITCH}=1`", line, {SWITCH: "1"}


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


def _cells(found: Witnessed) -> list[str]:
    columns = (found.lookups, found.connections, found.programs, found.files)
    return [", ".join(f"`{each}`" for each in sorted(set(column))) or "none" for column in columns]


if __name__ == "__main__":
    main()
