"""A web package beside transformers.js with the same model: `python -m benchmarks.web_transformers`.

MiniLM, 128 tokens, one thread, in one Chromium: what comes over the wire (brotli 9), seconds until the first result on
a first and on a second visit, milliseconds of a run, and the longest tasks of the page's thread (browsers tell those
over 50 ms). transformers.js runs the model's own file, the package the one that mobpack has made of it.
"""

import json
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from packager.engines.environments import web
from packager.files.processes import downloads
from packager.files.user_cache import cache_folder
from tests.toolchain import models
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.web.page import Page, package, page_of
from tests.toolchain.web.site import files_of

CONFIG = {
    "model_type": "bert",
    "architectures": ["BertModel"],
    "hidden_size": 384,
    "num_attention_heads": 12,
    "num_hidden_layers": 6,
}
OURS = """
const { Minilm } = await import('/vision/lib/index.js');
const tensor = (value) => ({ data: new BigInt64Array(128).fill(value), shape: [1, 128] });
const values = { input_ids: 2088n, attention_mask: 1n };
const given = Object.fromEntries(
  Object.entries(Minilm.inputs).map(([key, { name }]) => [key, tensor(values[name] ?? 0n)]));
const model = await Minilm.load();
const call = async () => Object.values(await model.run(given))[0].data;
"""
THEIRS = """
const { AutoModel, Tensor, env } = await import('/theirs/transformers.min.js');
Object.assign(env, { allowRemoteModels: false, allowLocalModels: true, localModelPath: '/theirs/models/' });
env.backends.onnx.wasm.wasmPaths = '/theirs/';
const tensor = (value) => new Tensor('int64', new BigInt64Array(128).fill(value), [1, 128]);
const given = { input_ids: tensor(2088n), attention_mask: tensor(1n), token_type_ids: tensor(0n) };
const model = await AutoModel.from_pretrained('minilm', { dtype: 'fp32', device: 'wasm' });
const call = async () => Object.values(await model(given))[0].data;
"""
PROGRAM = """(async () => {{
  const tasks = {{ loading: 0, running: 0 }};
  let phase = 'loading';
  const observer = new PerformanceObserver((list) => {{
    for (const {{ duration }} of list.getEntries()) tasks[phase] = Math.max(tasks[phase], duration);
  }});
  observer.observe({{ type: 'longtask' }});
  const pause = () => new Promise((resolve) => setTimeout(resolve, 300));
  const start = performance.now();
  {program}
  const first = await call();
  const seconds = (performance.now() - start) / 1e3;
  await pause();
  phase = 'running';
  const runs = [];
  for (let index = 0; index < 10; index += 1) {{
    const begin = performance.now();
    await call();
    runs.push(performance.now() - begin);
  }}
  await pause();
  return {{ seconds, runs, ...tasks, result: Array.from(first).slice(0, 384) }};
}})()"""
BROTLI = """
const zlib = require("zlib"), fs = require("fs");
const options = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 9 } };
console.log(zlib.brotliCompressSync(fs.readFileSync(0), options).length);
"""
MODELS = (".ort", ".onnx")


def theirs(folder: Path) -> dict[str, bytes]:
    """transformers.js, the ONNX Runtime that it asks for, and the model, by their path on the site."""
    for pin, names in (
        ("transformers-js", ("dist/transformers.min.js",)),
        (
            "transformers-js-onnxruntime",
            ("dist/ort-wasm-simd-threaded.asyncify.mjs", "dist/ort-wasm-simd-threaded.asyncify.wasm"),
        ),
    ):
        with tarfile.open(downloads.fetch(pin)) as archive:
            for name in names:
                content = archive.extractfile(f"package/{name}")
                assert content is not None
                (folder / Path(name).name).write_bytes(content.read())
    return {
        **files_of(folder, "/theirs/"),
        "/theirs/models/minilm/config.json": json.dumps(CONFIG).encode(),
        "/theirs/models/minilm/onnx/model.onnx": models.minilm().read_bytes(),
    }


def wire_mb(contents: list[bytes]) -> float:
    """Megabytes (10^6) of files, each compressed by brotli 9."""
    return sum(_compressed(content) for content in contents) / 1e6


def _compressed(content: bytes) -> int:
    done = subprocess.run([web.node(), "-e", BROTLI], input=content, capture_output=True, check=True)
    return int(done.stdout)


def measured(opened: Browser, files: dict[str, bytes], program: str) -> tuple[list[str], list[float]]:
    """Cells of a row, of two visits, and what the model computes."""
    with page_of(opened, files) as page:
        first, asked = visited(page, program)
        second, _ = visited(page, program)
    code = [files[path] for path in asked if path in files and not path.endswith(MODELS)]
    model = [files[path] for path in asked if path in files and path.endswith(MODELS)]
    tasks = [max(each[phase] for each in (first, second)) for phase in ("loading", "running")]
    cells = [
        f"{wire_mb(code):.2f}",
        f"{wire_mb(model):.1f}",
        f"{first['seconds']:.2f}",
        f"{second['seconds']:.2f}",
        f"{statistics.median(second['runs']):.0f}",
        *(f"{each:.0f}" if each else "none" for each in tasks),
    ]
    return cells, first["result"]


def visited(page: Page, program: str) -> tuple[dict[str, Any], list[str]]:
    """The figures of a visit, and the files that it has asked for."""
    page.visit()
    found: dict[str, Any] = page.value(PROGRAM.format(program=program))
    return found, list(dict.fromkeys(page.asked()))


def main() -> int:
    print(
        "| | code MB | model MB | first result s | on a second visit s | run ms | longest task, loading ms "
        "| longest task, running ms |"
    )
    print(f"|---|{'--:|' * 7}")
    with tempfile.TemporaryDirectory(dir=cache_folder()) as name, browser(Path(name), seconds=500.0) as opened:
        (Path(name) / "theirs").mkdir()
        sites = {
            "mobpack": (files_of(package(Path(name) / "package"), "/vision/"), OURS),
            "transformers.js": (theirs(Path(name) / "theirs"), THEIRS),
        }
        results = []
        for who, (files, program) in sites.items():
            cells, result = measured(opened, files, program)
            results.append(result)
            print(f"| {who} | {' | '.join(cells)} |", flush=True)
    difference = max(abs(one - other) for one, other in zip(*results, strict=True))
    print(f"\nlargest difference of the results: {difference:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
