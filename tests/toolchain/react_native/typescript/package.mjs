// The package under test, whose folder is in the environment, on a real ONNX Runtime.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = process.env.PACKAGE;
const require = createRequire(path.join(folder, 'package.json'));

export const ort = require('onnxruntime-node');

/** A module of the package's lib/. */
export function load(name) {
  return import(pathToFileURL(path.join(folder, 'lib', name)).href);
}

/** The file of the package that has this name, whichever platform it is for. */
export async function bytesOf(name) {
  for (const platform of ['both', 'android', 'ios']) {
    try {
      return await readFile(path.join(folder, 'models', platform, 'mobpack', process.env.MODULE, name));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  }
  throw new Error(`the package has no ${name}`);
}

/** What of ONNX Runtime's JavaScript API runs models here; `changes` take the place of parts of it. */
export async function backend(changes = {}) {
  const { OnnxRuntimeBackend } = await load('runtime/onnxruntimeBackend.js');
  const real = new OnnxRuntimeBackend(ort, { read: bytesOf });
  const { versions } = ort.env;
  return new Proxy(real, {
    get(target, key) {
      if (key === 'about' && !changes.about) return () => ({ ...real.about(), runtimeVersion: versions.common });
      if (key in changes) return changes[key];
      const value = target[key];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Inputs of the model, and what it must make of them: it transposes. */
export function samples() {
  const inputs = {
    f32: new Float32Array([1.5, -2, 3, 4, 5, 6]),
    f64: new Float64Array([1e300, 2, 3, 4, 5, 6]),
    f16: new Uint16Array([0x3c00, 0xbc00, 0, 0x7bff, 1, 2]),
    i8: new Int8Array([-128, 127, 3, 4, 5, 6]),
    i16: new Int16Array([-32768, 2, 3, 4, 5, 6]),
    i32: new Int32Array([-2147483648, 2, 3, 4, 5, 6]),
    i64: new BigInt64Array([1n, 2n, 3n, 2n ** 40n, 5n, 6n]),
    u8: new Uint8Array([255, 2, 3, 4, 5, 6]),
    flag: new Uint8Array([1, 0, 0, 1, 1, 0]),
    word: ['', 'b', '日本', '🙂', 'e', 'f'],
    scalar: new Float32Array([2.5]),
    rows: { data: new Float32Array([1, 2, 3, 4, 5, 6]), shape: [2, 3] },
  };
  return inputs;
}

/** `values` of a 2x3 tensor as those of a 3x2 one. */
export function transposed(values) {
  return [0, 3, 1, 4, 2, 5].map((index) => values[index]);
}
