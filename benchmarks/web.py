"""Models in a page's worker beside the page's own thread: `python -m benchmarks.web`.

In Chromium, with the packages of the tests: seconds until a model is loaded on a first and a second visit, milliseconds
of a run, and the longest time for which the page does not answer, measured by messages that it sends itself. Those
messages take part of a core.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from packager.files.user_cache import cache_folder
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.web.page import files_of, package, page_of

CALLS = {
    "Orientation": """
        const picture = { data: new Uint8Array(4 * 640 * 480).fill(90), width: 640, height: 480 };
        const call = () => model.predict(picture);
    """,
    "Minilm": """
        const tensor = (value) => ({ data: new BigInt64Array(128).fill(value), shape: [1, 128] });
        const values = { input_ids: 2088n, attention_mask: 1n };
        const given = Object.fromEntries(
          Object.entries(Minilm.inputs).map(([key, { name }]) => [key, tensor(values[name] ?? 0n)]));
        const call = () => model.run(given);
    """,
}
PROGRAM = """
setUp({{ worker: {worker} }});
const silent = {{ loading: 0, running: 0 }};
const channel = new MessageChannel();
let [phase, last, isOn] = ['loading', performance.now(), true];
channel.port1.onmessage = () => {{
  const now = performance.now();
  silent[phase] = Math.max(silent[phase], now - last);
  last = now;
  if (isOn) channel.port2.postMessage(0);
}};
channel.port2.postMessage(0);
const start = performance.now();
const model = await {model}.load();
const loaded = performance.now() - start;
{call}
await call();
phase = 'running';
const runs = [];
for (let index = 0; index < 10; index += 1) {{
  const begin = performance.now();
  await call();
  runs.push(performance.now() - begin);
}}
await new Promise((resolve) => setTimeout(resolve, 100));
isOn = false;
return {{ loaded, runs, ...silent }};
"""


def measured(opened: Browser, files: dict[str, bytes], model: str, worker: str) -> list[str]:
    """Cells of a row, of two visits."""
    program = PROGRAM.format(model=model, worker=worker, call=CALLS[model])
    with page_of(opened, files) as page:
        visits = []
        for _ in range(2):
            page.visit()
            visits.append(page.run(program, model))
    first, second = visits
    return [
        f"{first['loaded'] / 1e3:.2f}",
        f"{second['loaded'] / 1e3:.2f}",
        f"{statistics.median(second['runs']):.0f}",
        f"{max(first['loading'], second['loading']):.0f}",
        f"{max(first['running'], second['running']):.0f}",
    ]


def main() -> int:
    print("| model | where | first load s | second load s | run ms | silent, loading ms | silent, running ms |")
    print("|---|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory(dir=cache_folder()) as name, browser(Path(name)) as opened:
        files = files_of(package(Path(name) / "package"), "/vision/")
        for model in CALLS:
            for where, worker in (("worker", "true"), ("page", "false")):
                print(f"| {model} | {where} | {' | '.join(measured(opened, files, model, worker))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
