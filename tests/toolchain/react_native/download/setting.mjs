// Runs the code of tests, each a line of JSON, with the package's own downloads, XMLHttpRequest, and files of this machine.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { files, openParts } from './store.mjs';

const [project, runtime] = process.argv.slice(2);
globalThis.XMLHttpRequest = createRequire(`${project}/`)('xhr2');
// Browsers do not let it be set, React Native does.
delete XMLHttpRequest.prototype._restrictedHeaders['accept-encoding'];

const load = (name) => import(pathToFileURL(`${runtime}/${name}.js`).href);
const { download } = await load('download');
const { removeDownloads, sourceOf } = await load('sources');
const { openModel } = await load('opening');
const { bytesInMemory } = await load('downloadMemory');

/** Small and fast, for tests. */
const PACE = { largestPieceBytes: 32768, smallestPieceBytes: 4096, stallMs: 400, fileMs: 60000, firstPauseMs: 10, attempts: 4 };

/**
 * Timers for stalled answers. They have a clock of their own, which goes on when a test says so: on a busy machine, what
 * is only late would count as stalled.
 */
const silence = {
  now: 0,
  timers: new Map(),
  pass(ms) {
    this.now += ms;
    for (const [timer, { end, done }] of this.timers) {
      if (end <= this.now && this.timers.delete(timer)) done();
    }
  },
};
const { setTimeout: start, clearTimeout: stop } = globalThis;
globalThis.setTimeout = (done, ms, ...given) => {
  if (ms !== PACE.stallMs) return start(done, ms, ...given);
  const timer = {};
  silence.timers.set(timer, { end: silence.now + ms, done });
  return timer;
};
globalThis.clearTimeout = (timer) => {
  if (!silence.timers.delete(timer)) stop(timer);
};

const AsyncFunction = (async () => undefined).constructor;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What became of a promise, for a test in Python. */
const outcome = (promise) =>
  promise.then(
    (value) => ({ value: value ?? null }),
    (error) => ({ code: error.code ?? error.name, message: error.message }),
  );

/** What runs models on a platform, as far as files are concerned. */
const backendOf = (platform, cache) => ({
  ...files,
  platform,
  kept: null,
  device: { chip: '', apiLevel: 34 },
  open: openParts,
  about: () => ({ runtimeVersion: '', bundle: '', cache, cores: 1 }),
  locate: async (path) => ({ path: `/package/${path}`, offset: 4096 }),
});

for await (const line of createInterface({ input: process.stdin })) {
  const { code, ...given } = JSON.parse(line);
  const progress = [];
  const watcher = { signal: undefined, onBytes: (loaded) => progress.push(loaded) };
  const tools = { download, sourceOf, openModel, removeDownloads, bytesInMemory, backendOf, files, sleep, silence, outcome, PACE };
  const names = { ...given, ...tools, progress, watcher };
  const value = await outcome(new AsyncFunction(...Object.keys(names), code)(...Object.values(names)));
  process.stdout.write(`${JSON.stringify({ ...value, progress })}\n`);
}
// xhr2 leaves connections open after redirects, for which Node would wait.
process.exit();
