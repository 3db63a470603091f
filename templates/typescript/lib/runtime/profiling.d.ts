import type { Backend } from './backend.js';
import type { Info } from './options.js';
import type { Prepared } from './running.js';
/**
 * Runs a session `runs` times in a second session of its own, and gives the path of the trace.
 *
 * @throws ModelError `bad-options` for what is no number of runs
 */
export declare function profileSession(backend: Backend, session: number, { name }: Info, { buffers, layout, texts }: Prepared, runs: number): Promise<string>;
