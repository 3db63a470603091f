// From the address of a picture to its pixels, decoded by the system on a thread of its own.

import type { Backend } from '../backend.js';
import { ModelError, toModelError } from '../errors.js';
import type { Picture, PictureOrientation } from './picture.js';

/** How a picture is decoded. */
export interface PictureOptions {
  /**
   * Longest side, in pixels: larger pictures are made smaller while they are decoded. No model needs more than a
   * few times the size that it looks at. By default a picture keeps its size, up to 67 million pixels.
   */
  readonly maxSize?: number;
}

/** Pixels of red, green, blue and alpha as the file has them. */
interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Exif's number. */
  readonly orientation: number;
}

/** Result of Android's decoder: a file, which is read once. */
export interface AndroidDecoder {
  decode(uri: string, maxSize: number): Promise<Pixels & { readonly path: string }>;
}

/** Result of iOS's decoder: native memory. */
export interface AppleDecoder {
  decode(uri: string, maxSize: number): Promise<object>;
}

/** The parts of a package that decode: those of the other system are null. */
export interface Decoders {
  readonly android: AndroidDecoder | null;
  readonly apple: AppleDecoder | null;
}

/** @throws ModelError as `pictureFrom` of the package's `image` says */
export async function decodedPicture(
  backend: Backend,
  { android, apple }: Decoders,
  uri: string,
  options: PictureOptions,
): Promise<Picture> {
  const longest = maxSizeOf(uri, options);
  try {
    if (backend.platform === 'android' && android !== null) {
      return await readPicture(backend, await android.decode(uri, longest));
    }
    if (backend.platform === 'ios' && apple !== null) {
      return pictureOf((await apple.decode(uri, longest)) as Pixels & Pick<Picture, 'data'>);
    }
  } catch (thrown) {
    throw toModelError(thrown);
  }
  throw new ModelError('unsupported', `nothing decodes pictures on ${backend.platform}`);
}

/** Checks what an app asks for. Without the option its answer is 0. */
export function maxSizeOf(uri: unknown, { maxSize = 0 }: { readonly maxSize?: unknown }): number {
  if (typeof uri !== 'string' || uri === '') {
    throw new ModelError('bad-input', `the address of a picture is a string, found ${String(uri)}`);
  }
  if (typeof maxSize === 'number' && Number.isInteger(maxSize) && maxSize >= 0 && maxSize < 2 ** 31) return maxSize;
  throw new ModelError('bad-options', `maxSize is a whole number of pixels, found ${String(maxSize)}`);
}

async function readPicture(backend: Backend, { path, ...pixels }: Pixels & { readonly path: string }): Promise<Picture> {
  try {
    const data = backend.allocate(4 * pixels.width * pixels.height);
    await backend.readFile(path, 0, data, '');
    return pictureOf({ ...pixels, data });
  } finally {
    await backend.removeFile(path);
  }
}

function pictureOf({ data, width, height, orientation }: Pixels & Pick<Picture, 'data'>): Picture {
  return { data, width, height, format: 'rgba', orientation: orientation as PictureOrientation };
}
