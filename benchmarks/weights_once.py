"""Cost of loading a fused graph over another file's weights: `python -m benchmarks.weights_once MODEL...`.

Compares the CPU's own ORT file with the ONNX graph over the weights in Core ML's, in ONNX Runtime's Android
x86_64 library, as `benchmarks.loading` does; also without the layout that only x86 has.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.loading import MAPPED_ORT, Form, cost, print_table, random_inputs
from packager import models
from packager.compile.compile import compile_fused, compile_variant
from packager.core.values import Style, baseline
from packager.engines.environments.android import ProbeJob
from packager.files.store import Store
from packager.files.user_cache import cache_folder

AS_ON_ARM = {"optimization.disable_specified_optimizers": "NchwcTransformer"}
REPEATS = 7


def forms(model: Path, folder: Path) -> Iterator[Form]:
    variant, store = baseline(models.load(model, "model")), Store(folder / "store")
    own = compile_variant(variant, store)
    over = compile_fused(variant, store, compile_variant(variant, store, style=Style.UNFUSED))
    beside = str(over.path.parent)
    yield Form(name=".ort of its own", path=own.path, job=ProbeJob(level="all", is_mapped=True, entries=MAPPED_ORT))
    for name, entries in ((".onnx over the other's", {}), (".onnx, layout as on ARM", AS_ON_ARM)):
        yield Form(
            name=name, path=over.path, job=ProbeJob(level="all", is_mapped=True, data_folder=beside, entries=entries)
        )


def main() -> int:
    for argument in sys.argv[1:]:
        model = Path(argument)
        with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
            inputs = random_inputs(model, Path(folder))
            print_table(model, [cost(form, inputs, REPEATS) for form in forms(model, Path(folder))], digits=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
