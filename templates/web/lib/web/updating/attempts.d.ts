import type { Attempts } from '../../runtime/updating/attempts.js';
/** The attempts of pages with the same folder. Where there is no localStorage, as in workers, nobody is known to leave. */
export declare class PageAttempts implements Attempts {
    private readonly folder;
    private readonly running;
    /** Attempts during which somebody has left the page, though he may have come back. */
    private readonly unseen;
    constructor(folder: string);
    begin(name: string): void;
    end(name: string): void;
    wasLeft(name: string): boolean;
    isSeen(name: string): boolean;
    private keep;
    private key;
}
