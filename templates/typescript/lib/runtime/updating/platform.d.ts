import type { Backend } from '../backend.js';
import type { PackagedFile } from '../descriptor.js';
import type { Source } from '../options.js';
import type { Bytes } from '../trustBytes.js';
import type { Attempts } from './attempts.js';
/** A file of the folder `files`: its name there is its SHA-256. */
export interface Blob {
    /** In hexadecimal. */
    readonly sha256: string;
    readonly sizeBytes: number;
}
/** A file that a server has. */
export interface BlobDownload extends Blob {
    /** An `https:` address. */
    readonly url: string;
}
/** Who waits for files. */
export interface BlobWatcher {
    readonly signal: AbortSignal | undefined;
    /** Called with the number of bytes of the file that are there, those of earlier times included. */
    readonly onBytes: (loadedBytes: number) => void;
}
/** A delta, and what it is applied to: a file of the folder `files`, or one that the package brought. */
export interface Patch {
    /** SHA-256 of what the delta is applied to; the delta says its size. */
    readonly source: string;
    /** Null for a source in the folder `files`; else the package's own file, as `Backend.locate` finds it. */
    readonly packaged: PackagedFile | null;
    /** A file of the folder `files`. */
    readonly delta: Blob;
    readonly result: Blob;
}
/** Answer of a server to the question for metadata. */
export interface Answer {
    /** 200 or 404, for example. */
    readonly status: number;
    /** Empty for all answers but 200. */
    readonly bytes: Bytes;
}
/** State that the device reports; null where it does not say. */
export interface DeviceState {
    readonly isUnmetered: boolean | null;
    readonly isCharging: boolean | null;
}
/**
 * The folder of an updater, one for each package and channel, and what surrounds it. Texts have names such as `state.json`
 * `metadata/1.root.json` and `releases/<sha256>.json`. What is thrown is a ModelError: `unsupported`, `network`, `missing`, `corrupted`,
 * `no-space`, `unreadable` or `cancelled`.
 */
export interface UpdatePlatform {
    /** Null where there is none. */
    readText(name: string): Promise<string | null>;
    /** Durable once it has ended. A process that is killed meanwhile leaves the text that was there, or the new one. */
    writeText(name: string, text: string): Promise<void>;
    /** Does nothing where there is none. */
    removeText(name: string): Promise<void>;
    /** Names of all texts. */
    textNames(): Promise<readonly string[]>;
    /** Whether the folder `files` has the whole file, and its bytes are right: all of it is read. */
    hasFile(file: Blob): Promise<boolean>;
    /** SHA-256 of all files that the folder `files` has whole or in part. */
    fileNames(): Promise<readonly string[]>;
    /** Removes a file, its part, and what the system has made of it, such as a cache of Core ML. */
    removeFile(sha256: string): Promise<void>;
    /**
     * Downloads a file to the folder `files`: goes on where an earlier download ended, never takes more than `sizeBytes`,
     * and is durable and checked once it has ended. A signal that is aborted keeps what has come: `cancelled`.
     */
    download(wanted: BlobDownload, watcher: BlobWatcher): Promise<void>;
    /** Copies a file that the package brought to the folder `files`, checked and durable: a release has the same bytes. */
    adopt(file: PackagedFile): Promise<void>;
    /** Makes `result` in the folder `files`, checked and durable. Refuses what docs/formats.md refuses: `corrupted`. */
    patch(patch: Patch, signal: AbortSignal | undefined): Promise<void>;
    /** How models are opened from the folder `files`: files are found there by their SHA-256. */
    opening(): {
        readonly backend: Backend;
        readonly source: Source;
    };
    /**
     * Asks for metadata of a channel. Follows five redirects at most, all to `https:` addresses, and takes no more than
     * `limitBytes`: `corrupted`.
     */
    ask(url: string, limitBytes: number, signal: AbortSignal | undefined): Promise<Answer>;
    /** Bytes that may still be written; -1 where nobody knows. */
    freeBytes(): Promise<number>;
    /** In hexadecimal. */
    sha256(bytes: Bytes): Promise<string>;
    /** 32 hexadecimal digits that nobody can guess. */
    randomId(): string;
    deviceState(): Promise<DeviceState>;
    /** None where an app ends by a fault or by the system alone. */
    readonly attempts?: Attempts;
    /**
     * Does something while nobody else does what has the same name, in this process or another one with the same folder:
     * waits for them. Names are `update`, `state`, and `opening MODEL`. A process that is killed lets go.
     */
    alone<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
}
/** The names of a package's builds for a platform in lists of channels, and the ONNX Runtime that it was built for. */
export interface Build {
    /** `android`, `ios` or `web`. */
    readonly target: string;
    /** `react_native`, or empty. */
    readonly inside: string;
    readonly runtime: string;
}
