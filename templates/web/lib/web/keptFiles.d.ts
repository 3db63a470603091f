import type { KeptFiles } from '../runtime/backend.js';
/** The part of Cache Storage that is used here. */
type Caches = Pick<CacheStorage, 'open'>;
/** Keeps files of one package. Without room, or where a browser has no Cache Storage, files are fetched at each visit. */
export declare class CacheOfPackage implements KeptFiles {
    private readonly name;
    private readonly caches;
    /** SHA-256 of ONNX Runtime, which stays as long as any model does. */
    private readonly runtime;
    private hasTold;
    constructor(packageName: string, runtime: string, caches: Caches);
    read(sha256: string, offset: number, into: Uint8Array): Promise<string | undefined>;
    write(sha256: string, offset: number, piece: Uint8Array<ArrayBuffer>, tag: string): Promise<void>;
    removeDamaged(sha256: string): Promise<boolean>;
    remove(sha256: string): Promise<void>;
    retain(sha256s: ReadonlySet<string>): Promise<void>;
    private removeThose;
    /** A failure here costs a download: a model is loaded all the same, and the page is told once. */
    private tried;
}
/** The browser's caches; null in pages that are not secure, and in Node. */
export declare function keptFilesOf(packageName: string, runtime: string): KeptFiles | null;
export {};
