import type { Backend } from './backend.js';
import type { LoadOptions } from './options.js';
/** The threads of a model's sessions. */
export declare class Heat {
    /** Of the session that is open: 0 for the usual number. */
    threads: number;
    private readonly backend;
    private readonly half;
    private constructor();
    /** Null where the app decides how many threads there are, or where there are none to spare. */
    static of(backend: Backend, { threads, policies }: LoadOptions): Heat | null;
    /** Whether the device has become hot or cool since the session was opened. */
    isChanged(): boolean;
    /** What the next session gets. */
    follow(): void;
    private get wanted();
}
