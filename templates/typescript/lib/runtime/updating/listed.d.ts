import type { Settings, Tolerance } from '../descriptor.js';
import type { Delivery } from './delivery.js';
import type { Blob } from './platform.js';
/** A blob that makes a file of another one. */
export interface ChannelDelta extends Blob {
    /** SHA-256 of what it is applied to. */
    readonly source: string;
}
/** A file of a release. */
export interface ChannelBlob extends Blob {
    /** In the package; of data, what the model's file calls it. */
    readonly name: string;
    readonly deltas: readonly ChannelDelta[];
}
/** File that a provider opens on a target. */
export interface ChannelFile {
    readonly target: string;
    readonly inside: string;
    readonly provider: string;
    /** Empty for any. */
    readonly chips: readonly string[];
    readonly runtime: string;
    /** ONNX Runtimes that may open it, beside `runtime`; empty for none. */
    readonly runtimeRange: string;
    readonly file: ChannelBlob;
    /** Files with weights. */
    readonly data: readonly ChannelBlob[];
    readonly settings: Settings;
    /** Samples; null for a release without a self-test. */
    readonly golden: ChannelBlob | null;
    readonly allowed: readonly Tolerance[];
}
/** Conditions that a device must meet to download a release. */
export interface ChannelConditions {
    readonly wifi: boolean;
    readonly charging: boolean;
    readonly freeBytes: number;
}
/** A version of a model. */
export interface ChannelRelease {
    readonly version: string;
    readonly number: number;
    readonly contract: string;
    /** The oldest version of the package that may take it; empty for any. */
    readonly minApp: string;
    readonly rollout: {
        readonly percent: number;
        readonly salt: string;
    };
    readonly conditions: ChannelConditions;
    readonly files: readonly ChannelFile[];
}
/**
 * Reads the list of a model's releases; the newest is the first.
 *
 * @throws FormError; SyntaxError for what is no JSON
 */
export declare function readReleases(text: string, { packageName, channel }: Delivery, model: string): readonly ChannelRelease[];
