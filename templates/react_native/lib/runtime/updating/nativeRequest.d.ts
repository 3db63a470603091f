import type { Answer } from './platform.js';
/** `UpdatePlatform.ask`. The system follows redirects; their last address must be an `https:` one, too. */
export declare function ask(url: string, limitBytes: number, signal: AbortSignal | undefined): Promise<Answer>;
