import type { Backend, Platform } from '../backend.js';
import type { Trust } from '../trust.js';
import type { Build, UpdatePlatform } from './platform.js';
/** A channel of a package, as the package was built for it. */
export interface Delivery {
    readonly packageName: string;
    readonly channel: string;
    /** Version of the package. */
    readonly version: string;
    /** Number of the release: it grows with the version. */
    readonly number: number;
    /** Hashes of the models' contracts, in hexadecimal, by the models' names. */
    readonly contracts: Readonly<Record<string, string>>;
    readonly builds: Readonly<Partial<Record<Platform, Build>>>;
    /** Root metadata that the app trusts at first. */
    readonly root: string;
    /** Verifies signatures. */
    readonly trust: Pick<Trust, 'isSigned'>;
    /**
     * Opens the folder of the channel.
     *
     * @throws ModelError `unsupported` where nothing can be kept
     */
    readonly open: (backend: Backend) => UpdatePlatform;
}
/** The place of a version in the order of releases, as docs/signing.md has it: a pre-release has that of its release. */
export declare function releaseNumber(version: string): number;
/** Whether nobody on the way can change what is sent: by `https:`, or within the device on which a page is developed. */
export declare function isSafe(address: string): boolean;
