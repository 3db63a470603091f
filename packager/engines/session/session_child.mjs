/**
 * Runs ONNX Runtime's WebAssembly in Node.js: `node session_child.mjs JOB.json`. Needs no npm package.
 *
 * It uses the protocol of session_child.py, with the tasks `load` and `serve` and the provider `cpu`. The environment
 * variables MOBPACK_WEB_SCRIPT and MOBPACK_WEB_BINARY name the JavaScript and the WebAssembly of onnxruntime-web.
 * A request with `pace` asks for times; WebAssembly computes with one thread.
 * Weights beside a graph are passed to it as bytes, because WebAssembly opens no files.
 */

import { Console } from "node:console";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import zlib from "node:zlib";

/** numpy's type -> ONNX Runtime's. */
const TYPES = {
  "<f4": "float32",
  "<f8": "float64",
  "<f2": "float16",
  "|i1": "int8",
  "<i2": "int16",
  "<i4": "int32",
  "<i8": "int64",
  "|u1": "uint8",
  "<u2": "uint16",
  "<u4": "uint32",
  "<u8": "uint64",
  "|b1": "bool",
};
/** ONNX Runtime's type -> numpy's. */
const DESCRIPTIONS = Object.fromEntries(Object.entries(TYPES).map(([numpy, type]) => [type, numpy]));
const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  float16: globalThis.Float16Array ?? Uint16Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
};
const CODE_POINT_BYTES = 4;
/** As in timing.py: runs whose median is compared with that of as many before, and the largest difference of stable ones. */
const WINDOW = 5;
const STABLE = 0.05;

/** A model or a sample that cannot be opened or run, in words. */
class Refusal extends Error {}

/** ONNX Runtime, with one thread: sums are added in the same order on every machine. */
async function loaded() {
  const ort = await import(pathToFileURL(process.env.MOBPACK_WEB_SCRIPT).href);
  ort.env.wasm.wasmBinary = fs.readFileSync(process.env.MOBPACK_WEB_BINARY);
  ort.env.wasm.numThreads = 1;
  return ort;
}

/** The result of `work`. Raises Refusal with ONNX Runtime's message; a crash of WebAssembly aborts the process. */
async function unlessRefused(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) {
      console.error(error);
      process.abort();
    }
    if (!(error instanceof Error) || error.message.startsWith("no available backend")) throw error;
    throw new Refusal(error.message.replace(/^.*?ERROR_CODE: \d+, ERROR_MESSAGE: /s, ""));
  }
}

async function opened(ort, job) {
  const model = fs.readFileSync(job.model);
  const folder = job.data_folder ?? path.dirname(job.model);
  const options = {
    executionProviders: ["wasm"],
    externalData: job.model.endsWith(".ort") ? [] : externalData(model, folder),
    extra: job.entries,
    graphOptimizationLevel: job.optimize ? "all" : "disabled",
    logSeverityLevel: 4, // errors arrive as exceptions
  };
  return await unlessRefused(() => ort.InferenceSession.create(model, options));
}

/** The files that a serialized ModelProto names, by their names. */
function externalData(model, folder) {
  const names = [...new Set(locations(model, MODEL))];
  return names.map((name) => {
    const file = path.resolve(folder, name);
    if (path.relative(folder, file).startsWith("..")) throw new Refusal(`its weights are outside of its folder: ${name}`);
    if (!fs.existsSync(file)) throw new Refusal(`its weights are missing: ${name}`);
    return { path: name, data: fs.readFileSync(file) };
  });
}

/**
 * The messages of onnx.proto that lead to external data: field number -> the message in it. ONNX Runtime for the web
 * takes none from initializers of branches and loops.
 */
const ENTRY = { 1: "key", 2: "value" };
const TENSOR = { 13: ENTRY };
const GRAPH = { 5: TENSOR };
const MODEL = { 7: GRAPH };

/** The locations of external data in the protocol buffer `bytes` of the kind `message`. */
function* locations(bytes, message) {
  if (message === ENTRY) {
    const text = Object.fromEntries([...fields(bytes)].map(([field, value]) => [ENTRY[field], value.toString()]));
    if (text.key === "location") yield text.value;
    return;
  }
  for (const [field, value] of fields(bytes)) if (message[field]) yield* locations(value, message[field]);
}

/** Field numbers and contents of those fields of a protocol buffer that have a length. */
function* fields(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * shift;
      if (!(byte & 128)) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const kind = tag & 7;
    if (kind === 0) varint();
    else if (kind === 1) at += 8;
    else if (kind === 5) at += 4;
    else if (kind === 2) {
      const size = varint();
      yield [Math.floor(tag / 8), bytes.subarray(at, at + size)];
      at += size;
    } else throw new Refusal("it is no protocol buffer");
  }
}

/** Runs a sample and writes its outputs; returns ONNX Runtime's message if it refuses the sample, else "". */
async function runSample(ort, session, { sample, folder }) {
  try {
    const feeds = Object.fromEntries(arraysIn(sample).map(([name, array]) => [name, tensorOf(ort, name, array)]));
    const results = await unlessRefused(() => session.run(feeds));
    const written = session.outputNames.map((name) => npy(name, results[name]));
    written.forEach((content, index) => fs.writeFileSync(path.join(folder, `${index}.npy`), content));
    return "";
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** Names and .npy contents of a .npz file, from its central directory. */
function arraysIn(file) {
  const bytes = fs.readFileSync(file);
  const end = bytes.lastIndexOf("PK\x05\x06", undefined, "latin1");
  const found = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let count = bytes.readUInt16LE(end + 10); count > 0; count--) {
    const [nameSize, extraSize, commentSize] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    const name = bytes.toString("utf8", at + 46, at + 46 + nameSize);
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const packed = bytes.subarray(start, start + bytes.readUInt32LE(at + 20));
    const isDeflated = bytes.readUInt16LE(at + 10) === 8;
    found.push([name.replace(/\.npy$/, ""), isDeflated ? zlib.inflateRawSync(packed) : packed]);
    at += 46 + nameSize + extraSize + commentSize;
  }
  return found;
}

/** The tensor in a .npy file. */
function tensorOf(ort, name, bytes) {
  const start = bytes[6] === 1 ? 10 : 12;
  const end = start + (bytes[6] === 1 ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8));
  const header = bytes.toString("latin1", start, end);
  const type = /'descr': '([^']*)'/.exec(header)?.[1];
  const dims = (/'shape': \(([^)]*)\)/.exec(header)[1].match(/\d+/g) ?? []).map(Number);
  const count = dims.reduce((product, size) => product * size, 1);
  const values = valuesOf(name, type, bytes.subarray(end), count);
  const ordered = header.includes("'fortran_order': True") ? inRows(values, dims) : values;
  return new ort.Tensor(TYPES[type] ?? "string", ordered, dims);
}

function valuesOf(name, type, content, count) {
  if (type?.startsWith("<U")) return strings(content, Number(type.slice(2)), count);
  const Values = ARRAYS[TYPES[type]];
  if (!Values) throw new Refusal(`input '${name}' has numpy's type ${type}, which ONNX Runtime for the web does not take`);
  return new Values(new Uint8Array(content).buffer, 0, count); // a copy: arrays must be aligned
}

/** The strings of numpy's Unicode type: `length` code points each, padded with zeros. */
function strings(content, length, count) {
  const size = length * CODE_POINT_BYTES;
  return Array.from({ length: count }, (_, index) => {
    const points = Array.from({ length }, (_, at) => content.readUInt32LE(index * size + at * CODE_POINT_BYTES));
    while (points.at(-1) === 0) points.pop();
    return String.fromCodePoint(...points);
  });
}

/** Values in Fortran's order, first axis fastest, in C's order. */
function inRows(values, dims) {
  const rows = values.slice();
  const steps = dims.map((_, axis) => dims.slice(0, axis).reduce((product, size) => product * size, 1));
  for (let index = 0; index < values.length; index++) {
    let [rest, from] = [index, 0];
    for (let axis = dims.length - 1; axis >= 0; axis--) {
      from += (rest % dims[axis]) * steps[axis];
      rest = Math.floor(rest / dims[axis]);
    }
    rows[index] = values[from];
  }
  return rows;
}

/** A .npy file with the content of `tensor`. */
function npy(name, tensor) {
  const [type, content] = tensor.type === "string" ? unicode(tensor.data) : [DESCRIPTIONS[tensor.type], bytesOf(tensor.data)];
  if (!type) throw new Refusal(`output '${name}' is of type ${tensor.type}, which numpy does not have`);
  const shape = tensor.dims.map((size) => `${size},`).join(" ");
  const header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape}), }`;
  const size = Math.ceil((10 + header.length + 1) / 64) * 64 - 10;
  const start = Buffer.from("\x93NUMPY\x01\x00\x00\x00", "latin1");
  start.writeUInt16LE(size, 8);
  return Buffer.concat([start, Buffer.from(header.padEnd(size - 1) + "\n", "latin1"), content]);
}

function bytesOf(values) {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}

/** numpy's Unicode type for `texts`, and their bytes. */
function unicode(texts) {
  const points = texts.map((text) => Array.from(text, (character) => character.codePointAt(0)));
  const length = Math.max(1, ...points.map((each) => each.length));
  const content = Buffer.alloc(texts.length * length * CODE_POINT_BYTES);
  points.forEach((each, index) =>
    each.forEach((point, at) => content.writeUInt32LE(point, (index * length + at) * CODE_POINT_BYTES)),
  );
  return [`<U${length}`, content];
}

/** A number of bytes in Linux's description of this process; null on other systems. */
function ofStatus(key) {
  try {
    const found = new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(fs.readFileSync("/proc/self/status", "utf8"));
    return found ? Number(found[1]) * 1024 : null;
  } catch {
    return null;
  }
}

/** Times of runs of a sample, or its refusal: as `measured` in timing.py. */
async function timesOf(ort, session, { sample, pace }) {
  const feeds = Object.fromEntries(arraysIn(sample).map(([name, array]) => [name, tensorOf(ort, name, array)]));
  const timed = async () => {
    const start = process.hrtime.bigint();
    await unlessRefused(() => session.run(feeds));
    return Number(process.hrtime.bigint() - start);
  };
  try {
    const warmUp = await repeated(timed, pace.warm_up_seconds, (times) => isStable(times), () => true);
    const before = process.cpuUsage();
    const enough = (times) => times.length >= pace.least_runs;
    const times = await repeated(timed, pace.seconds, (found) => found.length >= pace.runs, enough);
    const { user, system } = process.cpuUsage(before);
    const peak = ofStatus("VmHWM") ?? process.resourceUsage().maxRSS * 1024;
    return { error: "", warm_up_ns: warmUp, times_ns: times, cpu_ns: (user + system) * 1000, peak_bytes: peak };
  } catch (error) {
    if (error instanceof Refusal) return { error: error.message };
    throw error;
  }
}

/** Results of `timed`, until `isDone`, or until the time is over and there are enough of them. */
async function repeated(timed, seconds, isDone, isEnough) {
  const times = [];
  const end = process.hrtime.bigint() + BigInt(Math.round(seconds * 1e9));
  while (!isDone(times) && !(times.length > 0 && isEnough(times) && process.hrtime.bigint() >= end)) {
    times.push(await timed());
  }
  return times;
}

/** Whether the medians of the last two windows of `times` are about equal. */
function isStable(times) {
  if (times.length < 2 * WINDOW) return false;
  const middle = (some) => [...some].sort((a, b) => a - b)[Math.floor(some.length / 2)];
  const [before, after] = [times.slice(-2 * WINDOW, -WINDOW), times.slice(-WINDOW)].map(middle);
  return Math.abs(after - before) <= STABLE * before;
}

/** Runs samples, or times them, until there are no more requests. */
async function serve(ort, session, say) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    say(request.pace ? await timesOf(ort, session, request) : { error: await runSample(ort, session, request) });
  }
}

async function main() {
  const say = (answer) => fs.writeSync(1, JSON.stringify(answer) + "\n");
  globalThis.console = new Console(process.stderr); // standard output is for answers alone
  const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
  const ort = await loaded();
  const isServing = job.task === "serve";
  const about = { version: ort.env.versions.web, plugin: "", placed: null, nodes: null };
  const baseBytes = ofStatus("VmRSS");
  const start = process.hrtime.bigint();
  try {
    const session = await opened(ort, job);
    say({ ...about, load_ns: Number(process.hrtime.bigint() - start), base_bytes: baseBytes, threads: 1 });
    if (isServing) await serve(ort, session, say);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    say(isServing ? { refused: error.message } : { ...about, error: error.message });
  }
}

export { Refusal, loaded, opened, runSample };

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
