// Asks a server for a small file, and stops when it sends more than is wanted.

import { ModelError } from '../../runtime/errors.js';
import { isSafe } from '../../runtime/updating/delivery.js';
import type { Answer } from '../../runtime/updating/platform.js';

const OK = 200;
/** For all of it: a server that sends a byte now and then must not hold an update for hours. */
const DOCUMENT_MS = 30_000;
const LATE = 'late';

/**
 * The answer to a request for `url`. A file that has not changed comes from the browser's cache.
 *
 * @throws ModelError `network`, `corrupted` for a longer file, `cancelled`
 */
export async function ask(url: string, limitBytes: number, signal: AbortSignal | undefined): Promise<Answer> {
  const stop = new AbortController();
  const cancel = (): void => {
    stop.abort();
  };
  const end = setTimeout(() => {
    stop.abort(LATE);
  }, DOCUMENT_MS);
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted === true) cancel();
  try {
    const response = await fetch(url, { cache: 'no-cache', signal: stop.signal });
    if (!isSafe(response.url)) {
      throw new ModelError('network', `${url} leads to ${response.url}, which is not an https: address`);
    }
    const { status } = response;
    const bytes = status === OK ? await bytesOf(response, limitBytes) : new Uint8Array(0);
    return { status, bytes };
  } catch (reason) {
    if (signal?.aborted === true) throw new ModelError('cancelled', 'the update was cancelled');
    if (stop.signal.reason === LATE) throw new ModelError('network', `${url} takes too long`);
    if (reason instanceof ModelError) throw reason;
    throw new ModelError('network', `${url} cannot be fetched: ${String(reason)}`, { cause: reason });
  } finally {
    clearTimeout(end);
    signal?.removeEventListener('abort', cancel);
    stop.abort();
  }
}

async function bytesOf({ body, url }: Response, limitBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    size += value.length;
    if (size > limitBytes) throw new ModelError('corrupted', `${url} has more than ${String(limitBytes)} bytes`);
    chunks.push(value);
  }
  const all = new Uint8Array(size);
  let start = 0;
  for (const chunk of chunks) {
    all.set(chunk, start);
    start += chunk.length;
  }
  return all;
}
