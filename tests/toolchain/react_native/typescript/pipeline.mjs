// Runs the pipeline of the package `scanner`, and prints what it does as JSON. Arguments: a file with pixels and with
// boxes to cut out, and the file of the last stage's model. ENTRY in the environment is the package's module; without MODULE it
// is for pages or for Node.

import { readFileSync, renameSync } from 'node:fs';

const { bytesOf, load, ort } = await import('./package.mjs');
if (process.env.MODULE) (await load('runtime/onnxruntime.js')).setOnnxRuntime(ort, { read: bytesOf });
const { Detector, Finder, ModelError, Probe, Scan } = await load(process.env.ENTRY);
const { partOf } = await load('runtime/typed/stages.js');
const [, , givenFile, lastModel] = process.argv;
const { small, boxes } = JSON.parse(readFileSync(givenFile, 'utf8'));
const pixels = Uint8Array.from(small);
const ORIENTATIONS = ['up', 'upMirrored', 'down', 'downMirrored', 'leftMirrored', 'right', 'rightMirrored', 'left'];
const said = {};

async function failureOf(call) {
  try {
    await call();
    return 'none';
  } catch (error) {
    return error instanceof ModelError ? `${error.code}: ${error.message}` : `another: ${error.stack}`;
  }
}

function line({ box, seen, colour }, hasChroma) {
  const corners = [box.box.left, box.box.top, box.box.right, box.box.bottom].map((each) => each.toFixed(1)).join(' ');
  return [
    `${corners} ${box.score.toFixed(6)}`,
    `[${Array.from(seen.size.data).join(', ')}] ${seen.turned.data[0]}`,
    seen.seen.data.join(' '),
    hasChroma ? seen.tint.data.join(' ') : '-',
    colour === undefined ? 'null' : Array.from(colour, (each) => each.toFixed(6)).join(' '),
  ].join(' | ');
}

const scan = await Scan.load();
said.items = [];
for (const [index, name] of ORIENTATIONS.entries()) {
  const region = { left: 1, top: 0, right: 6, bottom: 6 };
  const stored = { data: pixels, width: 7, height: 6, rowBytes: 28, orientation: name, region };
  const camera = { data: pixels.subarray(0, 72), width: 8, height: 6, format: 'nv21', orientation: index + 1 };
  const [plain, chroma] = [await scan.run(stored), await scan.run(camera)];
  said.items.push([plain.map((each) => line(each, false)), chroma.map((each) => line(each, true))]);
}

/** The regions of boxes in a picture of `format`. */
function regions(format) {
  return boxes.map(([width, height, orientation, ...edges]) => {
    const whole = { left: 2, top: 4, right: width + 2, bottom: height + 4 };
    const picture = { data: pixels, width: width + 4, height: height + 4, format, orientation, region: whole };
    const [left, top, right, bottom] = edges.map(Number);
    const { region } = partOf(picture, { left, top, right, bottom });
    return [region.left - 2, region.top - 4, region.right - 2, region.bottom - 4];
  });
}
said.regions = [regions('rgba'), regions('nv12')];

const ran = [];
const released = [];
let onProbeLoaded = () => undefined;
let onLastRun = () => undefined;
const observer = {
  onLoad: ({ model }) => model === 'probe' && onProbeLoaded(),
  onRun: ({ model }) => {
    ran.push(model);
    if (model === 'finder') onLastRun();
  },
  onRelease: ({ model }) => released.push(model),
};
const picture = (rows) => ({ data: pixels.subarray(0, 16 * rows), width: 4, height: rows });

const watched = new Scan({
  box: await Detector.load({ observer }),
  seen: await Probe.load({ observer }),
  colour: await Finder.load({ observer }),
});
said.nineRows = [await failureOf(() => watched.run(picture(9))), [...ran]];
const controller = new AbortController();
onLastRun = () => controller.abort();
ran.length = 0;
said.cancelled = [await failureOf(() => watched.run(picture(6), { signal: controller.signal })), [...ran]];
onLastRun = () => undefined;
said.runAgain = (await watched.run(picture(6))).length;
said.refused = await failureOf(() => watched.run({ data: pixels }));
watched.dispose();
watched.dispose();
said.disposed = [[...released], await failureOf(() => watched.run(picture(6)))];

const late = new AbortController();
onProbeLoaded = () => late.abort();
released.length = 0;
said.notLoaded = [await failureOf(() => Scan.load({ observer, signal: late.signal })), [...released]];
scan.dispose();
onProbeLoaded = () => undefined;
released.length = 0;
renameSync(lastModel, `${lastModel}.gone`);
said.missing = [await failureOf(() => Scan.load({ observer })), [...released]];
console.log(JSON.stringify(said));
