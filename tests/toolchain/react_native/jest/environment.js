// React Native's environment for tests, with the arrays that Node's own native modules make.
const ReactNativeEnvironment = require('@react-native/jest-preset/jest/react-native-env.js');

const ARRAYS = [
  'ArrayBuffer',
  'Float32Array',
  'Float64Array',
  'Int8Array',
  'Int16Array',
  'Int32Array',
  'BigInt64Array',
  'Uint8Array',
  'Uint16Array',
  'Uint32Array',
  'BigUint64Array',
];

/** A test has its own global objects, and onnxruntime-node refuses arrays that are not of them: it makes the others. */
module.exports = class extends ReactNativeEnvironment {
  constructor(...parameters) {
    super(...parameters);
    for (const name of ARRAYS) this.global[name] = globalThis[name];
  }
};
