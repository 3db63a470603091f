import type { Store } from '../download.js';
import type { BlobDownload, BlobWatcher } from './platform.js';
/** A file, and where it is to be: until all of it is there and was checked, it is called `<path>.part`. */
export interface PlacedDownload extends BlobDownload {
    readonly path: string;
}
/** @throws ModelError `network`, `corrupted`, `no-space`, `unreadable` or `cancelled` */
export declare function fetchFile(wanted: PlacedDownload, store: Store, watcher: BlobWatcher): Promise<void>;
