"""Cost of what generated Kotlin does around a run: `python -m benchmarks.run_overhead`.

The same file on the CPU, in one process of a desktop JVM with ONNX Runtime's Android library: by the generated class
without policies, with them, with an observer too, and by ONNX Runtime's own Java API, used as by an app that keeps its
buffers. One thread each, in turns. Needs what the tests need that run generated Kotlin.
"""

import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from packager.files.user_cache import cache_folder
from tests.toolchain import device, projects

KINDS = ("ONNX Runtime", "no policies", "policies", "policies and observer")
RUNS = {"silero-vad": 20_000, "orientation": 300}
"""of the models of the tests' package"""
TIMEOUT_S = 3600.0


def times(built: device.Library, model: str, folder: Path) -> Mapping[str, str]:
    """Microseconds by kind and percentile."""
    with zipfile.ZipFile(built.aar) as archive:
        [name] = [each for each in archive.namelist() if each.endswith(f"/{model}.ort.tflite")]
        file = folder / f"{model}.ort"
        file.write_bytes(archive.read(name))
    phone, runs = device.device(built, folder), RUNS[model]
    done = phone.run("RunTimes", model=model, runs=runs, warmup=runs // 5, file=file, timeout_s=TIMEOUT_S)
    return done.facts


def main() -> int:
    print("| model | | p50 us | p90 us | p50 ratio |\n|---|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory(dir=cache_folder()) as name:
        built = device.library(projects.ANDROID.archive(), Path(name), apps="RunTimes")
        for model in RUNS:
            folder = Path(name) / model
            folder.mkdir()
            found = times(built, model, folder)
            usual = float(found["ONNX Runtime.p50"])
            for kind in KINDS:
                half, most = (float(found[f"{kind}.{each}"]) for each in ("p50", "p90"))
                print(f"| {model} | {kind} | {half:.1f} | {most:.1f} | {half / usual:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
