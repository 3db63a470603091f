"""C++ packages on the processor of the Raspberry Pi and of Jetson, emulated."""

import os
import subprocess
from pathlib import Path

from packager.engines.environments.arm64 import Arm64
from tests.commands.test_cpp_package import built, unpacked
from tests.toolchain import cpp_packages
from tests.toolchain.require import require

TESTED = """
#include <vision/vision.h>

#include <cstdio>

int main(int, char** arguments) {
  vision::Options options;
  options.models = arguments[1];
  auto model = vision::Classifier::load(options);
  if (!model) return std::puts(model.error().what());
  const auto test = model->self_test();
  std::puts(!test ? test.error().what() : test->passed() ? "passed" : test->report().c_str());
}
"""


def test_a_package_computes_the_same_on_arm64(tmp_path: Path) -> None:
    processor = Arm64(runtime="shipped")
    require(not processor.missing(), processor.missing())
    runtime = Path(processor.variables()["PYTHONPATH"].split(os.pathsep)[1])
    [library] = runtime.glob("onnxruntime/capi/libonnxruntime.so.*")
    (tmp_path / "vision").mkdir()
    package = unpacked(built(tmp_path / "vision"), tmp_path / "unpacked")
    root = cpp_packages.root(tmp_path / "onnxruntime", library)
    program = tmp_path / "main.cpp"
    program.write_text(TESTED, encoding="utf-8")
    compiler = cpp_packages.clang("aarch64-linux-gnu.2.34")
    made = cpp_packages.compiled(package, root, program, compiler, "-DVISION_NO_EXCEPTIONS", "-fno-exceptions")
    libraries = f"LD_LIBRARY_PATH={root / 'lib'}"
    command = [*processor.emulator(), "-E", libraries, str(made), str(package / "models")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "passed\n"), done.stderr
