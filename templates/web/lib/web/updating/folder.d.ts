import type { Backend } from '../../runtime/backend.js';
import type { PackagedFile } from '../../runtime/descriptor.js';
import type { Source } from '../../runtime/options.js';
import type { Answer, Blob, BlobDownload, BlobWatcher, DeviceState, Patch, UpdatePlatform } from '../../runtime/updating/platform.js';
import { PageAttempts } from './attempts.js';
/** The folder of a package's channel, in the storage of the page's origin. */
export declare class WebFolder implements UpdatePlatform {
    private readonly name;
    private readonly backend;
    private readonly texts;
    private readonly pieces;
    readonly attempts: PageAttempts;
    constructor(name: string, backend: Backend, caches: CacheStorage);
    readText(name: string): Promise<string | null>;
    writeText(name: string, text: string): Promise<void>;
    removeText(name: string): Promise<void>;
    textNames(): Promise<readonly string[]>;
    hasFile({ sha256, sizeBytes }: Blob): Promise<boolean>;
    fileNames(): Promise<readonly string[]>;
    removeFile(sha256: string): Promise<void>;
    download({ url, sizeBytes, sha256 }: BlobDownload, { signal, onBytes }: BlobWatcher): Promise<void>;
    adopt(file: PackagedFile): Promise<void>;
    patch(patch: Patch, signal: AbortSignal | undefined): Promise<void>;
    private patchFrom;
    opening(): {
        readonly backend: Backend;
        readonly source: Source;
    };
    ask(url: string, limitBytes: number, signal: AbortSignal | undefined): Promise<Answer>;
    freeBytes(): Promise<number>;
    sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string>;
    randomId(): string;
    /** Chromium knows the network on phones alone; no browser tells about the charger without being asked for a while. */
    deviceState(): Promise<DeviceState>;
    alone<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
    /** Content of a file, checked. */
    private content;
    /** A file of the package: the pieces that earlier loads have kept, or else what its address gives. */
    private packaged;
    /** Files that a browser has no room for are not kept, and nobody is told when they are written. */
    private refuseLost;
    private lost;
}
/**
 * The folder of a channel.
 *
 * @throws ModelError `unsupported` in Node, and in pages that are not secure
 */
export declare function openFolder(name: string, backend: Backend): UpdatePlatform;
