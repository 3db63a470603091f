// The files of an engine over Node's own: what native code does with them, and nothing else.
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';

const CODES = { ENOSPC: 'no-space', ENOENT: 'missing' };

/** Does `step`, and turns errors of the system into those of an engine. */
async function coded(path, step) {
  // Not at once, as in an app: the caller goes on meanwhile.
  await new Promise((resolve) => setImmediate(resolve));
  try {
    return step();
  } catch (error) {
    if (!error.code) throw error;
    throw new Error(`[${CODES[error.code] ?? 'unreadable'}] ${path}: ${error.message}`);
  }
}

function sizeOf(path) {
  const found = fs.statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? found.size : -1;
}

function append(path, offset, bytes) {
  fs.mkdirSync(dirname(path), { recursive: true });
  if (offset > Math.max(sizeOf(path), 0)) throw new Error(`[missing] ${path} is shorter than ${offset} bytes`);
  const file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT);
  try {
    fs.ftruncateSync(file, offset);
    for (let done = 0; done < bytes.byteLength; ) {
      done += fs.writeSync(file, new Uint8Array(bytes), done, bytes.byteLength - done, offset + done);
    }
  } finally {
    fs.closeSync(file);
  }
}

function finish(part, path, size, sha256) {
  const content = fs.readFileSync(part);
  const found = createHash('sha256').update(content).digest('hex');
  if (content.length !== size || found !== sha256) {
    fs.rmSync(part);
    throw new Error(`[corrupted] ${part} has sha256 ${found}, expected ${sha256}`);
  }
  fs.renameSync(part, path);
}

function check(path, sha256) {
  const found = createHash('sha256').update(fs.readFileSync(path)).digest('hex');
  if (found !== sha256) throw new Error(`[corrupted] ${path} has sha256 ${found}, expected ${sha256}`);
}

function tidy(path, keep) {
  fs.mkdirSync(path, { recursive: true });
  for (const name of fs.readdirSync(dirname(path))) {
    if (/^[0-9a-f]{64}-/.test(name) && !keep.includes(name)) fs.rmSync(join(dirname(path), name), { recursive: true });
  }
}

/** What a download writes to. */
export const files = {
  fileSize: sizeOf,
  writePart: (path, offset, bytes) => coded(path, () => append(path, offset, bytes)),
  finishPart: (part, path, size, sha256) => coded(part, () => finish(part, path, size, sha256)),
  removeFile: (path) => coded(path, () => fs.rmSync(path, { force: true })),
  makeFolder: (path, keep) => coded(path, () => tidy(path, keep)),
};

/** Opens no model, but looks at the files of one as native code does. */
export async function openParts({ file, weights }) {
  for (const { path, sha256 } of [file, ...weights]) await coded(path, () => check(path, sha256));
  return { session: 1, inputs: [], outputs: [], sizeBytes: 0, assignment: null };
}
