import type { Answer } from '../../runtime/updating/platform.js';
/**
 * The answer to a request for `url`. The browser remembers the ETag: a file that has not changed comes from its cache. With a
 * header of the page's own, servers of other origins would have to allow that.
 *
 * @throws ModelError `network`, `corrupted` for a longer file, `cancelled`
 */
export declare function ask(url: string, limitBytes: number, signal: AbortSignal | undefined): Promise<Answer>;
