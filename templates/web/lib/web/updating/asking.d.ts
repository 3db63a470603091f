import type { Answer } from '../../runtime/updating/platform.js';
/**
 * The answer to a request for `url`. A file that has not changed comes from the browser's cache.
 *
 * @throws ModelError `network`, `corrupted` for a longer file, `cancelled`
 */
export declare function ask(url: string, limitBytes: number, signal: AbortSignal | undefined): Promise<Answer>;
