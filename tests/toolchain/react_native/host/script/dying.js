// Ends the process where a test wants it: this one says so, the process that started it kills it, and nothing more happens here.

const DURABLE = new Set(['writeText', 'finishPart', 'copyFile', 'applyDelta', 'removeFile']);
const forever = () => new Promise(() => undefined);

/** How many durable writes are still to come, and whether the next model that is open is the last. */
export const dying = { writes: Infinity, isOpening: false };

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
          dying.writes -= 1;
          if (dying.writes <= 0) await die();
        };
      }
      if (name !== 'open') return method;
      return async (...values) => {
        const opened = await method(...values);
        if (dying.isOpening) await die();
        return opened;
      };
    },
  });
