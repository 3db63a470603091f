import type { Answer } from '../../runtime/updating/platform.js';
/**
 * The answer to a request for `url`, unless its file has `etag` still.
 *
 * @throws ModelError `network`, `corrupted` for a longer file, `cancelled`
 */
export declare function ask(url: string, etag: string, limitBytes: number, signal: AbortSignal | undefined): Promise<Answer>;
