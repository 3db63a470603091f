import type { Platform } from './backend.js';
import { type ModelDescriptor } from './descriptor.js';
import type { LoadOptions } from './options.js';
/** @throws ModelError `bad-options` */
export declare function checkOptions(options: unknown): asserts options is LoadOptions;
/**
 * An older ONNX Runtime than those that the files were tested with may read them wrongly. A browser's is the
 * app's own choice.
 *
 * @throws ModelError `runtime-version`
 */
export declare function checkVersion(model: ModelDescriptor, platform: Platform, found: string, { allowOtherRuntime }: LoadOptions): void;
/** `waited`, or a rejection with `cancelled` as soon as `signal` is aborted. */
export declare function abortable<Value>(waited: Promise<Value>, signal: AbortSignal | undefined): Promise<Value>;
/** @throws ModelError `cancelled` */
export declare function throwIfAborted(signal: AbortSignal | undefined): void;
