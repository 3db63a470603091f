// Asks for metadata of a channel, by XMLHttpRequest: React Native's fetch does not say how much has come.

import { isSecure } from '../downloadRequest.js';
import { ModelError } from '../errors.js';
import type { Answer } from './platform.js';

/** For all of it: a server that sends a byte now and then must not hold an update for hours. */
const DOCUMENT_MS = 30_000;
const OK = 200;

/** `UpdatePlatform.ask`. The system follows redirects; their last address must be an `https:` one, too. */
export async function ask(url: string, limitBytes: number, signal: AbortSignal | undefined): Promise<Answer> {
  const request = new XMLHttpRequest();
  request.open('GET', url);
  request.responseType = 'arraybuffer';
  // Kept answers are the updater's own.
  request.setRequestHeader('Cache-Control', 'no-cache');
  try {
    await answer(request, url, limitBytes, signal);
  } catch (reason) {
    request.abort();
    throw reason;
  }
  const { status, responseURL } = request;
  if (!isSecure(responseURL)) throw insecure(url, responseURL);
  const bytes = status === OK ? new Uint8Array((request.response as ArrayBuffer | null) ?? new ArrayBuffer(0)) : new Uint8Array(0);
  if (bytes.byteLength > limitBytes) throw tooLong(url, limitBytes);
  return { status, bytes };
}

function answer(request: XMLHttpRequest, url: string, limitBytes: number, signal: AbortSignal | undefined): Promise<void> {
  let end: ReturnType<typeof setTimeout> | undefined;
  let cancel = (): void => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    const fail = (words: string) => (): void => {
      reject(new ModelError('network', `${url} ${words}`));
    };
    cancel = () => {
      reject(new ModelError('cancelled', 'the update was cancelled'));
    };
    signal?.addEventListener('abort', cancel);
    if (signal?.aborted === true) cancel();
    request.onload = () => {
      resolve();
    };
    request.onerror = fail('cannot be reached');
    request.ontimeout = request.onerror;
    request.onabort = request.onerror;
    request.onprogress = (event) => {
      if (event.loaded > limitBytes) reject(tooLong(url, limitBytes));
    };
    end = setTimeout(fail('takes too long'), DOCUMENT_MS);
    if (signal?.aborted !== true) request.send();
  });
  return ended.finally(() => {
    clearTimeout(end);
    signal?.removeEventListener('abort', cancel);
  });
}

function tooLong(url: string, limitBytes: number): ModelError {
  return new ModelError('corrupted', `${url} has more than ${String(limitBytes)} bytes`);
}

function insecure(url: string, target: string): ModelError {
  return new ModelError('network', `${url} leads to ${target || 'an unknown address'}, which is not an https: address`);
}
