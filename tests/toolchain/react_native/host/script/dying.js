// Ends the process where a test wants it: this one says so, the process that started it kills it, and nothing more happens here.

import { AppState } from 'react-native';

const DURABLE = new Set(['writeText', 'finishPart', 'copyFile', 'applyDelta', 'removeFile']);
const forever = () => new Promise(() => undefined);

/**
 * How many durable writes are still to come, whether the next model that is open is the last, and whether its user leaves
 * the app then.
 */
export const dying = { writes: Infinity, isOpening: false, isLeaving: false };
/** Called with the path of each text that is on the disk. */
let wrote = () => undefined;

function leave() {
  const noted = new Promise((resolve) => (wrote = (path) => path.endsWith('/left.json') && resolve()));
  AppState.become('background');
  return noted;
}

function die() {
  console.log('DIE');
  return forever();
}

/** A module whose methods end the process. */
globalThis.watch = (module) =>
  new Proxy(module, {
    get: (target, name) => {
      const method = target[name];
      if (DURABLE.has(name)) {
        return async (...values) => {
          await method(...values);
          wrote(values[0]);
          dying.writes -= 1;
          if (dying.writes <= 0) await die();
        };
      }
      if (name !== 'open') return method;
      return async (...values) => {
        const opened = await method(...values);
        if (dying.isLeaving) await leave();
        if (dying.isOpening) await die();
        return opened;
      };
    },
  });
