import type { Backend } from '../backend.js';
import type { AppStates } from '../native.js';
import type { UpdatePlatform } from './platform.js';
/** Native code for an updater. Errors have a message as in `Engine`. */
export interface Storage {
    /** A folder that the system does not empty. On Android `About.cache` is one, and is not backed up. */
    storageFolder(): string;
    /** Makes a folder, and has the system leave it out of backups. */
    prepareFolder(folder: string): Promise<void>;
    /** Text in UTF-8; empty for a file that is none. */
    readText(path: string): Promise<string>;
    /** Writes a text whole or not at all, and ends when it is on the disk. */
    writeText(path: string, text: string): Promise<void>;
    /** Names of the files in a folder; none where there is no folder. */
    fileNames(folder: string): Promise<readonly string[]>;
    /** Whether all of a file has that size and SHA-256. */
    hasFile(path: string, size: number, sha256: string): Promise<boolean>;
    /** Copies a part of a file; the copy appears checked and durable. */
    copyFile(source: string, offset: number, size: number, path: string, sha256: string): Promise<void>;
    /** Applies the file `delta` to a part of a file; the result appears checked and durable. */
    applyDelta(source: string, offset: number, sourceSize: number, delta: string, path: string, size: number, sha256: string): Promise<void>;
    /** Removes what was made of the file with that SHA-256: notes of checks, and what Core ML has compiled. */
    removeTraces(cache: string, sha256: string): Promise<void>;
    /** Makes the system put on the disk which files the folder of `path` has. */
    synchronizeFolderOf(path: string): Promise<void>;
    /** SHA-256 in hexadecimal. */
    digest(bytes: ArrayBuffer): Promise<string>;
    /** -1 when nobody knows. */
    freeBytes(folder: string): number;
    /** 32 hexadecimal digits that nobody can guess. */
    randomId(): string;
    /** Locks a file against this app's other JavaScript and processes: 0 when one of them has it. Ends with JavaScript. */
    lock(path: string): number;
    unlock(lock: number): void;
    /** Whether the network is unmetered and whether the device is charging: 1, 0, or -1 where nobody says. */
    deviceState(): Promise<readonly number[]>;
}
/** Android's state in place of `Storage.deviceState`. */
export interface AndroidDevice {
    deviceState(): {
        readonly unmetered: number;
        readonly charging: number;
    };
}
/** Opens the folder of `channel` in an app. `android` is null on iOS; `app` says whether somebody sees the app. */
export declare function openStorage(channel: string, backend: Backend, storage: Storage, android: AndroidDevice | null, app: AppStates): UpdatePlatform;
