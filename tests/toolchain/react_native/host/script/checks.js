// How cases say what they expect.

export function check(isRight, words) {
  if (!isRight) throw new Error(`not so: ${words}`);
}

export function equal(found, expected, words) {
  const [left, right] = [text(found), text(expected)];
  if (left !== right) throw new Error(`${words}: found ${left}, expected ${right}`);
}

/** JSON, with arrays of numbers as lists, and integers of 64 bits as text. */
export function text(value) {
  return JSON.stringify(value, (_key, each) => {
    if (typeof each === 'bigint') return each.toString();
    return ArrayBuffer.isView(each) ? Array.from(each, (item) => (typeof item === 'bigint' ? item.toString() : item)) : each;
  });
}

/** The error that something ends with. */
export async function failure(action) {
  try {
    await action();
  } catch (error) {
    return error;
  }
  throw new Error('no error came');
}

/** Fails unless something ends with an error of this code and these words. */
export async function fails(action, code, words = '') {
  const error = await failure(action);
  const found = error.code ?? /^\[([a-z-]+)\]/.exec(error.message)?.[1];
  if (found !== code || !error.message.includes(words)) {
    throw new Error(`expected [${code}] ${words}, found [${found}] ${error.message}`);
  }
  return error;
}

export const later = (milliseconds) => new Promise((resolve) => void setTimeout(resolve, milliseconds));

/**
 * Repeats an attempt, with waits of 1, 2, 4 and more ms, until one says that it met work under way. Nothing tells when
 * another thread begins or ends its work, and a wait that is right on an idle machine is not on a busy one.
 */
export async function untilMet(attempt) {
  for (let round = 0; round < 40; round += 1) {
    if (await attempt(2 ** (round % 10))) return;
  }
  throw new Error('not so: work is met while it is under way');
}

/** Waits until something is so: for a minute, after which it fails. `again` is done before each look. */
export async function until(isSo, words, again = () => later(10)) {
  const end = host.now() + 60000;
  while (!isSo()) {
    check(host.now() < end, words());
    await again();
  }
}

/** All that follows from what has happened, without what other threads or timers have to tell. */
export async function atOnce() {
  for (let turn = 0; turn < 100; turn += 1) await null;
}

/**
 * How many bytes the process has more than `before` once garbage is collected. Memory goes back to the system when the
 * allocator likes, so this waits for a minute while there are `plan.limitBytes` or more.
 */
export async function grownBytes(before) {
  const end = host.now() + 60000;
  for (;;) {
    host.collectGarbage();
    await later(20);
    const grown = host.residentBytes() - before;
    if (grown < plan.limitBytes || host.now() > end) return grown;
  }
}
