import { ModelError } from '../errors.js';
import type { Channel } from './channel.js';
import { type ChannelRelease } from './listed.js';
/** Releases of a model that a channel has; the newest is the first. */
export interface Listed {
    /** SHA-256 of the list, which is kept; empty where the channel has none. */
    readonly sha256: string;
    readonly releases: readonly ChannelRelease[];
}
/** Metadata is too old to be followed. */
export declare class ExpiredError extends ModelError {
}
/** The metadata of a channel during an update. */
export declare class TufClient {
    /** The largest time that verified metadata was published at, in milliseconds since 1970: it is not earlier now. */
    latest: number;
    private readonly channel;
    private readonly signal;
    private readonly began;
    private top;
    constructor(channel: Channel, latest: number, signal: AbortSignal | undefined);
    /** Words about a clock that is behind; empty for others. */
    get warning(): string;
    private get daysBehind();
    /** Asks for the newest root, timestamp and snapshot: 5.2 to 5.5. */
    refresh(): Promise<void>;
    /** The releases of a model, once `refresh` has ended: 5.6 and 5.7. */
    releasesOf(model: string): Promise<Listed>;
    /** Keeps the largest time that was seen. */
    remember(): Promise<void>;
    private newestRoot;
    private newestTimestamp;
    /** Metadata of a role in the version that `by` names: what is kept, or else what the server has. */
    private role;
    /** The first role that names a target: a role is asked before those that it delegates to, and these before those after it. */
    private find;
    /** Kept metadata; null where there is none, or it is not believed any more. */
    private kept;
    private keep;
    private seen;
    /** A clock that is behind what was published is wrong. */
    private refuseExpired;
    private inChannel;
    /** The text of a file, which must be as it was vouched for. */
    private wanted;
    /** Null where the server has no such file. */
    private ask;
}
/**
 * Releases that are kept, verified as if they had just come, but for their end and their version; null for those that are
 * missing or damaged, or whose keys were revoked.
 */
export declare function keptReleases(channel: Channel, model: string, sha256: string): Promise<readonly ChannelRelease[] | null>;
/** SHA-256 of a list of releases by the name of its text; empty for other texts. */
export declare function listOf(name: string): string;
