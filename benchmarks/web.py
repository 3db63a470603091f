"""Models in a page's worker beside the page's own thread: `python -m benchmarks.web`.

In Chromium, with the packages of the tests: seconds until a model is loaded on a first and a second visit, milliseconds
of a run, and the longest time for which the page does not answer, measured by messages that it sends itself. Those
messages take part of a core. In visits without them: the longest task of the page's thread while a model is loaded
(browsers tell those over 50 ms), and by how much its process grows at most.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

from packager.files.user_cache import cache_folder
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.web.page import package, page_of
from tests.toolchain.web.site import files_of

CALLS = {
    "OrientationModel": """
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
LOAD = """
setUp({{ worker: {worker} }});
let longest = 0;
const observer = new PerformanceObserver((list) => {{
  for (const {{ duration }} of list.getEntries()) longest = Math.max(longest, duration);
}});
observer.observe({{ type: 'longtask' }});
await {model}.load();
await new Promise((resolve) => setTimeout(resolve, 300));
observer.disconnect();
return longest;
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
        *loaded(files, model, worker),
    ]


def loaded(files: dict[str, bytes], model: str, worker: str) -> list[str]:
    """Cells of a row, of two visits of a new browser that load the model and do nothing else."""
    tasks, growths = [], []
    with (
        tempfile.TemporaryDirectory(dir=cache_folder()) as name,
        browser(Path(name)) as opened,
        page_of(opened, files) as page,
    ):
        for _ in range(2):
            page.visit()
            opened.call("HeapProfiler.collectGarbage")
            before = {each: resident_mb(each, "VmRSS") for each in renderers()}
            for each in before:
                Path(f"/proc/{each}/clear_refs").write_text("5", encoding="utf-8")  # its peak begins anew
            tasks.append(page.run(LOAD.format(model=model, worker=worker), model))
            growths.append(max(resident_mb(each, "VmHWM") - rss for each, rss in before.items()))
    return [f"{max(tasks):.0f}" if max(tasks) else "none", *(f"{growth:.0f}" for growth in growths)]


def renderers() -> list[int]:
    """Processes of this program's browser that run pages."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state = entry.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        parents[int(entry.parent.name)] = int(state[1])

    def is_ours(process: int) -> bool:
        return process == os.getpid() or (process in parents and is_ours(parents[process]))

    return [each for each in parents if is_ours(each) and b"--type=renderer" in command_of(each)]


def command_of(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def resident_mb(process: int, name: str) -> float:
    """`VmRSS`, what a process has in memory, or `VmHWM`, the most that it had."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    [kibibytes] = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return int(kibibytes) * 1024 / 1e6


def main() -> int:
    print(
        "| model | where | first load s | second load s | run ms | silent, loading ms | silent, running ms "
        "| longest task, loading ms | growth, first load MB | growth, second load MB |"
    )
    print(f"|---|---|{'--:|' * 8}")
    with tempfile.TemporaryDirectory(dir=cache_folder()) as name, browser(Path(name), seconds=500.0) as opened:
        files = files_of(package(Path(name) / "package"), "/vision/")
        for model in CALLS:
            for where, worker in (("worker", "true"), ("page", "false")):
                print(f"| {model} | {where} | {' | '.join(measured(opened, files, model, worker))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
