"""Checks the library that minimal_build.sh made: models that it runs and refuses, and its size.

    python tests/nightly/check_minimal_build.py ROOT

ROOT is the folder of the Debian that it was built in. Prints one JSON document; exit code 1 when a check fails.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from packager.files.processes import commands

SHAPE = (1, 3, 224, 224)
NO_KERNEL = "Could not find an implementation"
REFUSED = {
    "other-operator": """
<ir_version: 10, opset_import: ["" : 13]>
other_operator (float[2, 3] x) => (float[3, 2] y) { y = Einsum <equation = "ij->ji"> (x) }
""",
    "other-type": """
<ir_version: 10, opset_import: ["" : 13]>
other_type (double[1, 4] x) => (double[1, 4] y) { y = Softmax (x) }
""",
}
"""An operator that is not in the configuration, and one that is there with another type."""


def main(root: Path) -> int:
    build = root / "build"
    for name, text in REFUSED.items():
        onnx.save(onnx.parser.parse_model(text), build / f"{name}.onnx")
        commands.run(
            [sys.executable, "-m", "packager.cli", "convert", build / f"{name}.onnx", "-o", build / f"{name}.ort"],
            what="mobpack convert",
        )
    page = np.random.default_rng(1).normal(size=SHAPE).astype(np.float32)
    (build / "page").write_bytes(page.tobytes())
    ran = run(root, "orientation.ort")
    facts: dict[str, Any] = {
        "reduced-runtime": ran.stdout.strip(),
        "pip-runtime": onnxruntime.__version__,
        "difference": difference(build, page) if ran.returncode == 0 else ran.stderr,
        "refused": {name: refusal(root, f"{name}.ort") for name in ("basic_pitch", *REFUSED)},
        "size-bytes": {
            "reduced, stripped": (build / "libonnxruntime.stripped.so").stat().st_size,
            "Debian's full build of the same version": largest(build / "full", "libonnxruntime.so.*"),
        },
    }
    sys.stdout.write(json.dumps(facts, indent=2) + "\n")
    is_right = facts["difference"] == 0.0 and all(NO_KERNEL in words for words in facts["refused"].values())
    return 0 if is_right else 1


def run(root: Path, model: str) -> subprocess.CompletedProcess[str]:
    """Runs a model in the reduced runtime."""
    command = ["chroot", str(root), "sh", "-c", 'cd /build && exec ./run_model "$@"', "sh", model, "page", "scores"]
    return subprocess.run([*command, *map(str, SHAPE)], capture_output=True, text=True, check=False)


def refusal(root: Path, model: str) -> str:
    """The last line of the reduced runtime's error for a model; empty if it loads."""
    done = run(root, model)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def difference(build: Path, page: NDArray[np.float32]) -> float:
    """The largest difference between what the reduced runtime wrote and pip's runtime computes of the same file."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(build / "orientation.ort"), options)
    (expected,) = session.run(None, {session.get_inputs()[0].name: page})
    return float(np.abs(np.fromfile(build / "scores", np.float32).reshape(expected.shape) - expected).max())


def largest(folder: Path, pattern: str) -> int:
    return max((path.stat().st_size for path in folder.rglob(pattern) if not path.is_symlink()), default=0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
