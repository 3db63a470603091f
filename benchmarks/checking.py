"""Cost of checking a model's file when an app loads it: `python -m benchmarks.checking [--megabytes 7 438]`.

A model with one large table is loaded by generated code: for the first time, which reads all of the file, later,
which reads its ends, and with `verify = ALWAYS`. Kotlin runs on a desktop JVM with ONNX Runtime's Android library,
Swift on Linux; both load the model. C++ is React Native's and opens the file alone. The figures are processor time of
the calling thread, medians within one process that has loaded the model before; the file is in the system's cache.
Needs what the tests need that run generated code.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from packager import models as onnx_models
from packager.compile.compile import compile_variant
from packager.core.findings import Report
from packager.core.values import Choice, Compiled, Model, Package, Plan, baseline
from packager.engines.environments.runtime import Runtime
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import environment
from packager.targets.android import Android
from packager.targets.ends import ends_sha256
from packager.targets.ios import Ios
from tests.toolchain import cxx, device, jsc, swift_packages
from tests.toolchain.swift import swift

COLUMNS = 1024
TIMEOUT_S = 3600.0
PACKAGE = Package(name="models", version="1.0.0", license="MIT")
NAME = "orientation"
"""the name that the app in tests/toolchain/apps loads"""
PARTS = ("Checked", "Failure", "Files", "MappedFile", "OpenFile", "Sha256")
"""of React Native's C++: what checks a file"""
SWIFT = """\
import Foundation
import ModelsKit

let records = URL(fileURLWithPath: CommandLine.arguments[1])
let repeats = Int(CommandLine.arguments[2]) ?? 1

func load(_ verify: Verify) throws -> Double {
    let options = Options(providers: [.cpu], threads: 1, verify: verify)
    let start = processorTime()
    let model = try OrientationModel(options: options)
    let spent = processorTime() - start
    model.close()
    return spent
}

func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6
}

func median(_ load: () throws -> Double) rethrows -> Double {
    try (0..<repeats).map { _ in try load() }.sorted()[repeats / 2]
}

_ = try load(.always)
let first = try median {
    for each in try FileManager.default.contentsOfDirectory(at: records, includingPropertiesForKeys: nil) {
        try FileManager.default.removeItem(at: each)
    }
    return try load(.once)
}
print("first.ms\\t\\(first)")
print("later.ms\\t\\(try median { try load(.once) })")
print("always.ms\\t\\(try median { try load(.always) })")
"""
MANIFEST = """\
// swift-tools-version:5.9
import PackageDescription

let package = Package(
    name: "times",
    dependencies: [.package(path: "../package")],
    targets: [.executableTarget(name: "times", dependencies: [.product(name: "ModelsKit", package: "package")])]
)
"""
CPP = """\
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <vector>

#include "Checked.h"

namespace own = mobpack::times;

int main(int, char** given) {
  const own::Part part{"", given[3], 0, std::nullopt, given[4], given[5]};
  const std::string records = given[1];
  const int repeats = std::stoi(given[2]);
  const auto load = [&](own::Verify verify) {
    const auto start = std::clock();
    const auto file = own::mapChecked(part, records, verify);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC * 1000;
  };
  const auto median = [&](bool isFirst, own::Verify verify) {
    std::vector<double> spent;
    for (int index = 0; index < repeats; ++index) {
      if (isFirst) std::filesystem::remove_all(records);
      spent.push_back(load(verify));
    }
    std::sort(spent.begin(), spent.end());
    return spent[spent.size() / 2];
  };
  load(own::Verify::always);
  std::cout << "first.ms\\t" << median(true, own::Verify::once) << std::endl;
  std::cout << "later.ms\\t" << median(false, own::Verify::once) << std::endl;
  std::cout << "always.ms\\t" << median(false, own::Verify::always) << std::endl;
}
"""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Milliseconds of processor time."""

    code: str
    first: float
    later: float
    always: float


def costs(compiled: Compiled, model: Model, folder: Path, store: Store, repeats: int) -> Iterator[Cost]:
    yield kotlin(compiled, model, folder / "kotlin", store, repeats)
    yield swift_app(compiled, model, folder / "swift", store, repeats)
    yield cpp(compiled, folder / "cpp", repeats)


def table(path: Path, megabytes: int) -> Path:
    """A model that looks rows up in a table; its file has about this many megabytes."""
    rows = megabytes * 10**6 // (4 * COLUMNS)
    numbers = np.random.default_rng(1).integers(0, 1 << 16, (rows, COLUMNS)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "row"], ["found"])],
        "table",
        [helper.make_tensor_value_info("row", TensorProto.INT64, [1])],
        [helper.make_tensor_value_info("found", TensorProto.FLOAT, [1, COLUMNS])],
        [numpy_helper.from_array(numbers, "table")],
    )
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]), path)
    return path


def plan(target: str, model: Model, compiled: Compiled) -> Plan:
    return Plan(
        model=model,
        target=target,
        environment=Runtime.NAME,
        choices=(Choice(provider="cpu", compiled=compiled, reason=""),),
    )


def library(compiled: Compiled, model: Model, folder: Path, store: Store) -> device.Library:
    """A library with one file for the CPU, and the app that times how it loads."""
    target = Android(providers=())
    view = target.view(PACKAGE, (plan("android", model, compiled),), Report(parities=()))
    return device.library(target.assemble(view, target.render(view), store)[0].path, folder, apps="LoadTimes")


def kotlin(compiled: Compiled, model: Model, folder: Path, store: Store, repeats: int) -> Cost:
    folder.mkdir()
    phone = device.device(library(compiled, model, folder, store), folder)
    return cost("Kotlin, load()", phone.run("LoadTimes", providers="CPU", repeats=repeats, timeout_s=TIMEOUT_S).facts)


def swift_app(compiled: Compiled, model: Model, folder: Path, store: Store, repeats: int) -> Cost:
    target = Ios(providers=())
    view = target.view(PACKAGE, (plan("ios", model, compiled),), Report(parities=()))
    archive = target.assemble(view, target.render(view), store)[0].path
    unpacked = swift_packages.unpack(archive, folder / "unpacked")
    package = unpacked.rename(folder / "package")
    client, scratch, caches = folder / "client", folder / "scratch", folder / "caches"
    (client / "Sources" / "times").mkdir(parents=True)
    (client / "Package.swift").write_text(MANIFEST, encoding="utf-8")
    (client / "Sources" / "times" / "main.swift").write_text(SWIFT, encoding="utf-8")
    done = swift().package("build", client, "-c", "release", scratch=scratch, mounts={str(package): package})
    if done.returncode != 0:
        raise RuntimeError(done.output)
    made = scratch / "x86_64-pc-linux-gnu" / "release"

    caches.mkdir()
    variables = {"LD_LIBRARY_PATH": str(swift().onnxruntime_library()), "XDG_CACHE_HOME": str(caches)}
    command: list[str | Path] = [made / "times", caches, str(repeats)]
    mounts = {str(caches): caches}
    ran = swift().run(command, cwd=made, mounts=mounts, environment=variables, timeout_s=TIMEOUT_S)
    return cost("Swift, init()", facts(ran.output))


def cpp(compiled: Compiled, folder: Path, repeats: int) -> Cost:
    folder.mkdir()
    for template in (*(f"{part}.{end}" for part in PARTS for end in ("h", "cpp")), "Part.h"):
        text = environment().get_template(f"react_native/cpp/{template}.j2").render(cpp_namespace="times")
        (folder / template).write_text(text, encoding="utf-8")
    (folder / "times.cpp").write_text(CPP, encoding="utf-8")
    program, records = folder / "times", folder / "records"
    cxx.compiler(
        ["-target", cxx.TARGET, *jsc.FLAGS, *sorted(folder.glob("*.cpp")), "-o", program], what="compiling times.cpp"
    )
    file = (compiled.path, compiled.sha256, ends_sha256(compiled.path))
    done = subprocess.run([program, records, str(repeats), *file], capture_output=True, text=True, check=True)
    return cost("C++, the file alone", facts(done.stdout))


def facts(output: str) -> Mapping[str, str]:
    """The program's output, as `name<TAB>value`."""
    return dict(line.split("\t", 1) for line in output.splitlines() if "\t" in line)


def cost(code: str, found: Mapping[str, str]) -> Cost:
    return Cost(
        code=code,
        first=float(found["first.ms"]),
        later=float(found["later.ms"]),
        always=float(found["always.ms"]),
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checking")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[7, 438])
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    print("| file | code | first load ms | later load ms | ALWAYS ms |\n|---|---|---|---|---|")
    for megabytes in asked.megabytes:
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR") or cache_folder()) as scratch:
            folder = Path(scratch)
            store = Store(folder / "store")
            model = onnx_models.hashed(onnx_models.load(table(folder / "table.onnx", megabytes), NAME))
            compiled = compile_variant(baseline(model, "fp32"), store)
            for each in costs(compiled, model, folder, store, asked.repeats):
                print(
                    f"| {megabytes} MB | {each.code} | {each.first:.1f} | {each.later:.1f} | {each.always:.1f} |",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
