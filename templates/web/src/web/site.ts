// What a package for the web consists of, and what a page says about it.

import { ModelError } from '../runtime/errors.js';

/** Files of a package, by their addresses: bundlers replace them. */
export interface Site {
  readonly packageName: string;
  /** Version of ONNX Runtime: `1.2.3`. */
  readonly runtimeVersion: string;
  /** ONNX Runtime's JavaScript. */
  readonly script: () => string;
  /** ONNX Runtime's WebAssembly. */
  readonly binary: { readonly url: () => string; readonly sizeBytes: number; readonly sha256: string };
  readonly makeWorker: () => Worker;
}

/** How a page runs the models of a package. */
export interface PageOptions {
  /**
   * Address of a copy of this whole package, ending in `/`, for pages whose bundler does not copy files of packages:
   * `/models/vision/`. By default files are where the bundler, or the server of the modules, has them.
   */
  readonly base?: string;
  /** Whether models run in a worker, so that the page stays responsive: true by default. Node has none. */
  readonly worker?: boolean;
  /**
   * Threads of ONNX Runtime for all models. More than one need a page that is cross-origin isolated; there the default is
   * one for each core, four at most.
   */
  readonly threads?: number;
  /** Whether the browser keeps the files of models for the next visit: true by default. */
  readonly cache?: boolean;
}

const KEYS: Readonly<Record<keyof PageOptions, 'boolean' | 'number' | 'string'>> = {
  base: 'string',
  worker: 'boolean',
  threads: 'number',
  cache: 'boolean',
};
const MOST_THREADS = 4;

/** @throws ModelError `bad-options` */
export function checkPageOptions(options: unknown): asserts options is PageOptions {
  if (typeof options !== 'object' || options === null) throw bad(`options are ${String(options)}, not an object`);
  for (const [name, value] of Object.entries(options)) {
    const type = KEYS[name as keyof PageOptions] as string | undefined;
    if (type === undefined) throw bad(`unknown option '${name}': there are ${Object.keys(KEYS).join(', ')}`);
    if (typeof value !== type) throw bad(`${name} is ${String(value)}, which is no ${type}`);
  }
  const { base = '/', threads = 1 } = options as PageOptions;
  if (!base.endsWith('/')) throw bad(`base is '${base}', which does not end in /`);
  if (!Number.isInteger(threads) || threads < 1) throw bad(`threads is ${String(threads)}, which is no number from 1 on`);
}

function bad(message: string): ModelError {
  return new ModelError('bad-options', message);
}

/** Whether an address is of the page's origin. A program without a page, such as Node's, has files alone. */
export function isOfPage(url: string): boolean {
  const { location } = globalThis as { readonly location?: { readonly origin: string } };
  return location === undefined || new URL(url).origin === location.origin;
}

/**
 * Threads that ONNX Runtime can have, whose JavaScript is at `script`: without isolation browsers share no memory between
 * workers, and ONNX Runtime starts no thread from another origin.
 */
export function threadsOf({ threads }: PageOptions, script: string): number {
  const { crossOriginIsolated, navigator } = globalThis as {
    readonly crossOriginIsolated?: boolean;
    readonly navigator?: { readonly hardwareConcurrency?: number };
  };
  if (crossOriginIsolated === true && isOfPage(script)) {
    return threads ?? Math.min(navigator?.hardwareConcurrency ?? 1, MOST_THREADS);
  }
  if (threads !== undefined && threads > 1) {
    const reason = isOfPage(script)
      ? 'a page that is cross-origin isolated: serve it with the headers Cross-Origin-Opener-Policy: same-origin and ' +
        'Cross-Origin-Embedder-Policy: require-corp'
      : `ONNX Runtime on the page's own origin, and it is at ${script}: setUp({ base }) says where a copy of the package is`;
    console.warn(`${String(threads)} threads need ${reason}. Models run on one thread`);
  }
  return 1;
}
