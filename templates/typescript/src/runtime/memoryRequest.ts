// One request for bytes of a file by fetch, which gives them as they come.

import { type Deadline, FileChanged, Interruption, isSecure, PASSING } from './downloadRequest.js';
import { ModelError } from './errors.js';

/** A file on a server. */
export interface MemoryDownload {
  readonly url: string;
  /** In bytes; -1 where nobody knows. */
  readonly sizeBytes: number;
  /** In hexadecimal; empty for what is not checked. */
  readonly sha256: string;
  /** Whether the address and all that it leads to have to be https: ones. */
  readonly mustBeSecure: boolean;
}

/** Bytes that are asked for. */
export interface Gap {
  /** Offset of the first byte in the file. */
  readonly start: number;
  /** Offset of the first byte after them. */
  readonly end: number;
  /** ETag of the bytes that are there already; empty when there is none. */
  readonly tag: string;
  /** Whether an answer that the browser has stored will not do. */
  readonly isFresh: boolean;
}

/** Who takes the answer. */
export interface Taker {
  /** Aborts the request. */
  readonly signal: AbortSignal | undefined;
  /** An answer that brings nothing for so long is given up, in milliseconds. */
  readonly stallMs: number;
  readonly deadline: Deadline;
  /** Called before the first bytes: whether they are those of the whole file, and their ETag, empty when there is none. */
  begin(isWhole: boolean, tag: string): void;
  take(bytes: Uint8Array): void;
}

/**
 * Asks for `gap`, and hands over what comes.
 *
 * @throws Interruption and FileChanged; ModelError `cancelled`, `missing` or `network` where asking again is no use
 */
export async function requestBytes(wanted: MemoryDownload, gap: Gap, taker: Taker): Promise<void> {
  const { signal, stallMs, deadline } = taker;
  const stop = new AbortController();
  const cancel = (): void => {
    stop.abort();
  };
  let stall: ReturnType<typeof setTimeout> | undefined;
  const watch = (): void => {
    clearTimeout(stall);
    stall = setTimeout(cancel, deadline.waitMs(stallMs));
  };
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted === true) cancel();
  watch();
  try {
    const response = await fetch(wanted.url, requestOf(wanted, gap, stop.signal));
    refuse(response, wanted, gap);
    taker.begin(response.status !== 206, response.headers.get('ETag') ?? '');
    await read(response, (bytes) => {
      taker.take(bytes);
      watch();
    });
  } catch (reason) {
    stop.abort();
    throw explained(reason, wanted.url, signal);
  } finally {
    clearTimeout(stall);
    signal?.removeEventListener('abort', cancel);
  }
}

/** No If-Range: other origins would be asked for leave first. The ETag of the answer is compared instead. */
function requestOf({ sizeBytes }: MemoryDownload, { start, end, isFresh }: Gap, signal: AbortSignal): RequestInit {
  const isWhole = start === 0 && end === sizeBytes;
  return {
    signal,
    ...(isWhole ? {} : { headers: { Range: `bytes=${String(start)}-${String(end - 1)}` } }),
    ...(isFresh ? { cache: 'reload' } : {}),
  };
}

/** Why the body need not be waited for. */
function refuse(response: Response, wanted: MemoryDownload, gap: Gap): void {
  const { url } = wanted;
  const { status, headers } = response;
  if (wanted.mustBeSecure && !isSecure(response.url)) {
    throw new ModelError('network', `${url} leads to ${response.url}, which is not an https: address`);
  }
  if (status === 416) throw new FileChanged(`${url} has no byte ${String(gap.start)}`);
  if (PASSING.has(status)) throw new Interruption(`${url} answers with status ${String(status)}`);
  if (!response.ok) throw new ModelError(status === 404 ? 'missing' : 'network', `${url} answers with status ${String(status)}`);
  // Servers of single-page apps answer with their page instead of 404.
  if (wanted.sizeBytes >= 0 && headers.get('Content-Type')?.startsWith('text/html') === true) {
    throw new ModelError('missing', `${url} is answered with a page of HTML: the file is not there`);
  }
  if (status === 206) refuseRange(headers, wanted, gap);
}

/** Other origins do not show which bytes they send: the checksum of the whole tells then. */
function refuseRange(headers: Headers, { url, sizeBytes }: MemoryDownload, { start, tag }: Gap): void {
  if (tag !== '' && (headers.get('ETag') ?? '') !== tag) throw new FileChanged(`${url} is another file now`);
  const range = headers.get('Content-Range');
  if (range === null) return;
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range) ?? [];
  if (total !== '*' && Number(total) !== sizeBytes) throw new FileChanged(`${url} is a file of another size now: ${range}`);
  if (Number(first) !== start) throw new FileChanged(`${url} sends other bytes than it was asked for: ${range}`);
}

async function read(response: Response, take: (bytes: Uint8Array) => void): Promise<void> {
  if (response.body === null) {
    take(new Uint8Array(await response.arrayBuffer()));
    return;
  }
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    take(value);
  }
}

function explained(reason: unknown, url: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return new ModelError('cancelled', `the download of ${url} was cancelled`);
  if (reason instanceof ModelError || reason instanceof Interruption || reason instanceof FileChanged) return reason;
  return new Interruption(`${url} cannot be fetched: ${String(reason)}${hint(url)}`, { cause: reason });
}

/** Browsers do not say why they refuse a file; one of another origin is refused without its permission. */
function hint(url: string): string {
  const { location } = globalThis as { readonly location?: { readonly origin?: string } };
  if (location?.origin === undefined || url.startsWith(`${location.origin}/`)) return '';
  return '. It is on another origin than the page, which must answer with Access-Control-Allow-Origin';
}
