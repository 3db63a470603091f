import type { Backend } from './backend.js';
import type { LoadOptions } from './options.js';
import { type Provider } from './providers.js';
/** The threads of a model's sessions. */
export declare class Heat {
    /** Threads of the session that is open: 0 for the usual number. */
    threads: number;
    private readonly backend;
    private readonly half;
    /** Since when other threads are wanted; null while those of the session are. */
    private since;
    private constructor();
    /** Null where the app decides how many threads there are, or where there are none to spare. */
    static of(backend: Backend, { threads, policies }: LoadOptions): Heat | null;
    /** The threads that a session of `provider` should have in place of its own; null as long as those are right. */
    change(provider: Provider): number | null;
    /** Now sessions have that many. */
    follow(threads: number): void;
    /** The change failed: the next attempt is as much later as the first was. */
    postpone(): void;
}
