import type { PackagedFile } from '../descriptor.js';
import type { ChannelBlob, ChannelDelta } from './listed.js';
import type { Blob, UpdatePlatform } from './platform.js';
/** Where files come from, and who is told. */
export interface Gathering {
    readonly platform: UpdatePlatform;
    /** Address of the folder of the model's files, with a / at its end. */
    readonly address: string;
    /** The package's own files, by their SHA-256. */
    readonly packaged: ReadonlyMap<string, PackagedFile>;
    readonly signal: AbortSignal | undefined;
    readonly tell: (phase: 'downloading' | 'patching', loadedBytes: number, totalBytes: number) => void;
}
/** A file that is not there yet, and how it is got. */
interface Missing {
    readonly blob: ChannelBlob;
    readonly delta: ChannelDelta | null;
}
/** Files that have to be fetched. */
export declare class Shopping {
    readonly missing: readonly Missing[];
    private readonly gathering;
    private readonly loaded;
    constructor(gathering: Gathering, missing: readonly Missing[]);
    /** Size of the files that are not there yet. */
    get newBytes(): number;
    /** Bytes that are downloaded if all deltas can be applied. */
    get downloadBytes(): number;
    /** @throws ModelError */
    get(): Promise<void>;
    private patch;
    private download;
    private tell;
    /** Every failure has another way out, unless nobody wants it any more. */
    private succeeds;
}
/** Missing ones among `blobs`, and the smallest delta of each whose source is there. */
export declare function shoppingFor(blobs: readonly ChannelBlob[], gathering: Gathering): Promise<Shopping>;
/**
 * Whether there is room: `inUse` are the files that stay.
 *
 * @throws ModelError `no-space`
 */
export declare function checkRoom(shopping: Shopping, inUse: readonly Blob[], limitBytes: number | undefined, platform: UpdatePlatform): Promise<void>;
export {};
