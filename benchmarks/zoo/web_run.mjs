// Runs the model of a web package once, as an app does: node web_run.mjs JOB.json ANSWER.json
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
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

function valuesOf({ type, shape, hex, texts }) {
  if (texts) return { data: texts, shape };
  const bytes = Uint8Array.from(Buffer.from(hex, 'hex'));
  return { data: new ARRAYS[type](bytes.buffer), shape };
}

function described({ type, data, shape }) {
  if (type === 'string') return { type, shape, texts: [...data] };
  return { type, shape, hex: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('hex') };
}

const job = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const everything = await import(pathToFileURL(job.package));
const [definition] = Object.values(everything).filter((each) => typeof each?.load === 'function');
const model = await definition.load();
const given = Object.fromEntries(Object.entries(job.inputs).map(([name, value]) => [name, valuesOf(value)]));
const found = await model.run(given);
writeFileSync(process.argv[3], JSON.stringify(Object.fromEntries(job.outputs.map((name) => [name, described(found[name])]))));
await model.dispose?.();
process.exit(0);
