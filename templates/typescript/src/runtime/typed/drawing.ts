// From the address of a picture to its pixels, decoded and turned by a browser.

import { ModelError } from '../errors.js';
import { maxSizeOf, type PictureOptions } from './decoding.js';
import type { Picture } from './picture.js';

/** A picture that can be drawn. */
interface Bitmap {
  readonly width: number;
  readonly height: number;
  close(): void;
}

interface Canvas {
  width: number;
  height: number;
  getContext(kind: '2d', settings: { readonly alpha: boolean; readonly willReadFrequently: boolean }): Context | null;
}

interface Context {
  drawImage(bitmap: Bitmap, left: number, top: number, width: number, height: number): void;
  getImageData(left: number, top: number, width: number, height: number): Picture;
}

/** Names of a browser: an app for phones is compiled without them. */
interface Browser {
  readonly createImageBitmap: (content: Blob) => Promise<Bitmap>;
  readonly document: { createElement(name: 'canvas'): Canvas };
}

/** @throws ModelError `missing`: nothing is there; `bad-input`: it is no picture; `unsupported`: there is no canvas */
export async function drawnPicture(uri: string, options: PictureOptions): Promise<Picture> {
  const longest = maxSizeOf(uri, options);
  const browser = globalThis as Partial<Browser>;
  if (!isWhole(browser)) {
    throw new ModelError('unsupported', 'nothing decodes pictures here: pass pixels to the model');
  }
  const bitmap = await decoded(browser, uri, await contentOf(uri));
  try {
    return drawn(browser, bitmap, longest);
  } finally {
    bitmap.close();
  }
}

function isWhole(browser: Partial<Browser>): browser is Browser {
  return browser.createImageBitmap !== undefined && browser.document !== undefined;
}

async function contentOf(uri: string): Promise<Blob> {
  const response = await fetch(uri).catch((reason: unknown) => {
    throw new ModelError('missing', `${uri}: ${String(reason)}`, { cause: reason });
  });
  if (!response.ok) throw new ModelError('missing', `${uri} was answered with ${String(response.status)}`);
  return response.blob();
}

async function decoded(browser: Browser, uri: string, content: Blob): Promise<Bitmap> {
  return browser.createImageBitmap(content).catch((reason: unknown) => {
    throw new ModelError('bad-input', `${uri} is no picture that this browser can decode`, { cause: reason });
  });
}

function drawn(browser: Browser, bitmap: Bitmap, longest: number): Picture {
  const shrink = longest === 0 ? 1 : Math.min(1, longest / Math.max(bitmap.width, bitmap.height));
  const canvas = browser.document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * shrink));
  canvas.height = Math.max(1, Math.round(bitmap.height * shrink));
  // Without alpha: what is transparent is drawn on black, as phones have it.
  const context = canvas.getContext('2d', { alpha: false, willReadFrequently: true });
  if (context === null) throw new ModelError('unsupported', 'the browser has no canvas');
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return context.getImageData(0, 0, canvas.width, canvas.height);
}
