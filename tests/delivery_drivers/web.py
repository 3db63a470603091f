"""The program for the web: a page in Chromium with the package, on a site of its own, and the channel on another one.

Beside the commands of all programs, it takes these: `limit BYTES` of storage; `metered yes|no|unknown` and
`charging yes|no|unknown` are what the app says of the device; `die N` ends the browser before the Nth durable write
from then on, and `die-after N` once that is written; `hold opening` stops once a model was opened, before that is
written, and answers `held`, `hold trying` once it was tried; `test` is the self-test of the model that `load` opened.
`python -m tests.delivery_drivers.web PACKAGE ADDRESS FOLDER` reads commands from standard input.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cases import delivery_releases
from tests.cases.delivery_language import Language, serving_pages
from tests.cases.delivery_releases import BUNDLED
from tests.toolchain.chromium import Browser, browser
from tests.toolchain.react_native.download.server import serving
from tests.toolchain.react_native.packages import unpack
from tests.toolchain.web.bundled import ENTRIES, bundled
from tests.toolchain.web.site import PAGE, files_of

PORT = "port.txt"
"""name of the file with the port of the app's site: a browser keeps what it keeps for each site"""
ANY_SITE = ("--disable-web-security", "--ignore-certificate-errors")
"""The channel's server need not allow other sites, nor have a certificate that anybody knows."""
NO_VARIABLES: Mapping[str, str] = {}
SECONDS = 7200.0

PROGRAM = """
window.startApp = async (address) => {
  let isDead = false;
  const tellNobody = (event) => { if (isDead) event.stopImmediatePropagation(); };
  for (const event of ['pagehide', 'visibilitychange']) window.addEventListener(event, tellNobody, { capture: true });
  const { ModelUpdater } = await import('/vision/lib/updates.js');
  const models = await import('/vision/lib/index.js');
  const Model = Object.values(models).find((each) => each?.descriptor !== undefined);
  const { name, version: own, inputs } = Model.descriptor;
  let options = {}, device = {}, writes = null, holds = null, model = null;
  const dead = new Promise((resolve) => {
    window.dieNow = () => { isDead = true; resolve({ died: true }); };
    window.holdNow = () => resolve({ held: true });
  });
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (...given) {
    if (holds !== null) {
      const isCounted = String(given[0]).includes(`"${holds.what}":{`);
      if (isCounted || !holds.wasCounted) {
        holds.wasCounted = isCounted;
        return put.apply(this, given);
      }
      window.holdNow();
      Object.defineProperty(this.transaction, 'oncomplete', { set() {} });
      return this.get('nothing');
    }
    if (writes === null || --writes.left > 0) return put.apply(this, given);
    if (writes.isAfter) this.transaction.addEventListener('complete', (event) => {
      event.stopImmediatePropagation();
      window.dieNow();
    });
    else window.dieNow();
    if (writes.isAfter) return put.apply(this, given);
    Object.defineProperty(this.transaction, 'oncomplete', { set() {} });
    Object.defineProperty(this.transaction, 'onabort', { set() {} });
    return this.get('nothing');
  };
  let updater = new ModelUpdater(address, { conditions: () => device });
  const KNOWN = { yes: true, no: false };
  const told = (key, word, isTurned) => {
    const { [key]: _, ...rest } = device;
    device = word in KNOWN ? { ...rest, [key]: KNOWN[word] !== isTurned } : rest;
    return {};
  };
  const feed = ({ type, shape }) => {
    const sizes = shape.map((size) => size ?? 1), count = sizes.reduce((one, other) => one * other, 1);
    const data = Float32Array.from({ length: count }, (_, index) => index / 64);
    return { data, shape: sizes };
  };
  const run = async (options = {}) => {
    const given = Object.fromEntries(Object.entries(inputs).map(([key, spec]) => [key, feed(spec)]));
    const [output] = Object.values(await model.run(given, options));
    return Math.round(1000 * Array.from(output.data, Number).reduce((one, other) => one + other, 0)) / 1000;
  };
  const commands = {
    runs: async (count, cancelled, word) => {
      const update = word === 'update' ? updater.update({ force: true }) : Promise.resolve();
      const controllers = Array.from({ length: Number(count) }, () => new AbortController());
      let slowest = 0;
      const running = controllers.map(async ({ signal }) => {
        const began = performance.now(), sum = await run({ signal });
        slowest = Math.max(slowest, performance.now() - began);
        return sum;
      });
      for (const each of controllers.slice(0, Number(cancelled))) each.abort();
      const ended = await Promise.allSettled(running);
      await Promise.allSettled([update]);
      const right = ended.filter(({ status }) => status === 'fulfilled').map(({ value }) => value);
      const errors = ended.filter(({ reason }) => reason !== undefined && reason.code !== 'cancelled')
        .map(({ reason }) => `${reason.code} ${reason.message}`).join('; ');
      return { sums: [...new Set(right)], answers: right.length, errors, slowest };
    },
    close: () => {
      model?.dispose();
      model = null;
      return {};
    },
    update: async (force) => { await updater.update({ force: force === 'force' }); return commands.state(); },
    state: () => ({ states: Object.fromEntries(Object.entries(updater.states).map(
      ([key, { phase, version, reason }]) => [key, { phase, version, reason }])) }),
    load: async () => {
      model?.dispose();
      model = null;
      model = await Model.load({ source: updater.source });
      const sum = await run();
      const { version } = model.info;
      return { version, source: version === own ? 'bundled' : 'updater', sum };
    },
    test: async () => {
      const { passed, outputs } = await model.selfTest();
      return { passed, outputs: outputs.length };
    },
    freeze: async () => { await updater.freeze(); return {}; },
    unfreeze: async () => { await updater.unfreeze(); return {}; },
    pin: async (each, version) => { await updater.pin(each, version); return {}; },
    unpin: async (each) => { await updater.unpin(each); return {}; },
    remove: async () => { await updater.remove(); return {}; },
    limit: (bytes) => {
      updater = new ModelUpdater(address, { conditions: () => device, limitBytes: Number(bytes) });
      return {};
    },
    metered: (word) => told('isUnmetered', word, true),
    charging: (word) => told('isCharging', word, false),
    die: (left) => { writes = { left: Number(left), isAfter: false }; return {}; },
    hold: (what) => { holds = { what, wasCounted: false }; return {}; },
    'die-after': (left) => { writes = { left: Number(left), isAfter: true }; return {}; },
  };
  const answered = async (line) => {
    const [command, ...words] = line.trim().split(/\\s+/);
    try {
      return await commands[command](...words);
    } catch (error) {
      return { error: error.name, message: error.message, code: error.code };
    }
  };
  return { answer: (line) => Promise.race([dead, answered(line)]), get updater() { return updater; }, Model };
};
"""
"""a function that starts the app with the address of a channel, and gives what answers to its commands"""


@dataclass(kw_only=True)
class Driver:
    """A browser that has the page open."""

    opened: Browser
    end: Any
    """ends the browser at once"""
    visit: Callable[[], None]
    """leaves the page, as a user does who opens it again"""
    has_ended: bool = False

    def ask(self, command: str) -> Mapping[str, Any]:
        """The answer to a line. Raises AssertionError when the browser ends instead."""
        found = self.send(command)
        assert found is not None, f"the browser ended at `{command}`"
        return found

    def send(self, command: str) -> Mapping[str, Any] | None:
        """The answer to a line; None when the browser ends instead."""
        found: Mapping[str, Any] = evaluated(self.opened, f"app.answer({json.dumps(command)})")
        if "died" not in found:
            return found
        self.kill()
        return None

    def kill(self) -> None:
        """Ends the browser with all its processes, as a system does that needs memory."""
        self.end()
        self.has_ended = True


def evaluated(opened: Browser, expression: str) -> Any:
    answer = opened.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
    assert "exceptionDetails" not in answer, answer
    return answer["result"].get("value")


@contextmanager
def driver(
    package: Path,
    address: str,
    folder: Path,
    trusted: Path | None = None,
    environment: Mapping[str, str] = NO_VARIABLES,
    *,
    shared: Browser | None = None,
) -> Iterator[Driver]:
    """Starts a page with the package, a tarball or a folder, whose updater downloads from `address`.

    What the browser keeps is below `folder`: the next call with it goes on from there, as the same app. Any certificate
    will do, whatever `trusted` is, and variables of the `environment` reach no page.

    A browser that is `shared`, which ANY_SITE has, keeps what it keeps for each site, so each folder has one of its
    own; the page is left at the end, without a word to it.
    """
    assert not environment, "a page has no variables"
    folder.mkdir(parents=True, exist_ok=True)
    unpacked = package
    if package.is_file():
        unpacked = folder / "unpacked" / "package"
        if not unpacked.exists():
            unpack(package, folder / "unpacked")
    port = folder / PORT
    known = int(port.read_text(encoding="utf-8")) if port.exists() else 0
    own = nullcontext(shared) if shared else browser(folder, more=ANY_SITE, seconds=SECONDS)
    with serving(port=known) as server, own as opened:
        if not known:
            opened.call("Network.clearBrowserCache")
        port.write_text(server.url.rpartition(":")[2].strip("/"), encoding="utf-8", newline="\n")
        server.files.headers["Connection"] = "close"  # else it would go on with these files after this visit
        server.files.by_path.update({"/page.html": PAGE, **files_of(unpacked, "/vision/")})

        def visit() -> None:
            opened.visit(f"{server.url}page.html")
            evaluated(opened, f"{PROGRAM} startApp({json.dumps(address)}).then((app) => {{ window.app = app; }})")

        visit()
        made = Driver(opened=opened, end=opened.end, visit=visit)
        yield made
        if shared and not made.has_ended:
            evaluated(shared, "window.dieNow()")
            shared.call("Page.navigate", url="about:blank")
            shared.events.clear()


@contextmanager
def of_releases(folder: Path) -> Iterator[Language]:
    """A channel with the releases, and the page that updates from it."""
    package = bundled_package(folder / "package")
    with serving_pages("web", folder) as channel:
        yield Language(channel=channel, start=lambda place: driver(package, channel.url, place), follows=True)


def bundled_package(folder: Path) -> Path:
    """The package, unpacked, with its modules bundled: a visit has several pages."""
    [archive] = (delivery_releases.releases("web")[BUNDLED] / "npm").glob("*.tgz")
    folder.mkdir(parents=True, exist_ok=True)
    unpack(archive, folder)
    return bundled(folder / "package", *ENTRIES)


def main() -> None:
    package, address, folder = sys.argv[1:]
    with driver(Path(package), address, Path(folder)) as program:
        for line in sys.stdin:
            answer = program.send(line)
            if answer is None:
                return
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
