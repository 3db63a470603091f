import { type AppStates } from '../native.js';
import type { Attempts } from './attempts.js';
import type { UpdatePlatform } from './platform.js';
type Texts = Pick<UpdatePlatform, 'readText' | 'writeText'>;
/** The attempts of an app. */
export declare class AppAttempts implements Attempts {
    private readonly app;
    private readonly texts;
    private readonly running;
    /** Attempts during which the app was left, though somebody may have come back. */
    private readonly unseen;
    /** Names of attempts that were left, as they are written down. */
    private left;
    private subscription;
    constructor(app: AppStates, texts: Texts);
    begin(name: string): Promise<void>;
    end(name: string): Promise<void>;
    wasLeft(name: string): Promise<boolean>;
    isSeen(name: string): boolean;
    private note;
    /** One after the other. What cannot be written down counts as an attempt that ended the app. */
    private keep;
    private known;
    private read;
}
export {};
