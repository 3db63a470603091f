import type { Provider } from '../descriptor.js';
import type { ChannelFile, ChannelRelease } from './listed.js';
import type { Build } from './platform.js';
/** A device and its app. */
export interface Taker {
    /** Number of the app's package. */
    readonly number: number;
    readonly contract: string;
    readonly build: Build;
    /** Empty where nobody says. */
    readonly chip: string;
    /** Whose files are wanted. */
    readonly providers: readonly Provider[];
    readonly banned: ReadonlySet<string>;
    /** The one version that may be taken; undefined for any. */
    readonly pin: string | undefined;
    /** Whether the device is among the first `percent` of 100 that a salt makes. */
    readonly takesPart: (percent: number, salt: string) => Promise<boolean>;
}
/** A release, and the files of it that the device opens. */
export interface Fitting {
    readonly release: ChannelRelease;
    readonly files: readonly ChannelFile[];
}
/** `own`: the app's own model is as new, or newer. Null: nothing fits. */
export type Choice = Fitting | 'own' | null;
/** The first release that fits. */
export declare function choose(releases: readonly ChannelRelease[], taker: Taker): Promise<Choice>;
/** The first fitting file of each provider that is wanted. A wrapper has files of its own only where they differ. */
export declare function filesFor(files: readonly ChannelFile[], { build, chip, providers }: Pick<Taker, 'build' | 'chip' | 'providers'>): readonly ChannelFile[];
