import type { Sound } from '../runtime/typed/sound.js';
/** A recording: decoded sound, a file that the user has chosen (`Blob`), the bytes of one, or its address. */
export type RecordingSource = string | Blob | ArrayBuffer | AudioBuffer;
/** How a recording is decoded. */
export interface RecordingOptions {
    /**
     * Sample rate of the result in Hz, for sources that are decoded: 48000 by default. Models resample to their own rate
     * exactly, browsers each in their way.
     */
    readonly rate?: number;
}
/** How sound is taken as it comes. */
export interface BlockOptions {
    /** Samples of each channel in a block, such as the 512 that a model takes at a time. */
    readonly length: number;
    /** Address of the package's `lib/web/recorder.js`, for bundlers that do not copy files of packages. */
    readonly processor?: string;
    /** Ends the blocks. */
    readonly signal?: AbortSignal;
}
/**
 * The samples of `source`, with all of its channels. The bytes of an `ArrayBuffer` are the browser's then.
 *
 * @throws ModelError `missing`: nothing is at the address; `bad-input`: it is no sound that this browser can decode;
 * `bad-options`; `unsupported` where nothing decodes sound, as in Node and in workers
 */
export declare function recordingFrom(source: RecordingSource, options?: RecordingOptions): Promise<Sound>;
/**
 * The sound that `node` plays, in blocks of `length` samples, each once and in order: while a model is busy, they
 * wait. A block whose number of channels changes is begun again. It ends when the loop over it is left, and when `signal`
 * is aborted; samples of a block that is not full are dropped. For a microphone, `node` is
 * `context.createMediaStreamSource(stream)`; a context with the rate of the model,
 * `new AudioContext({ sampleRate: 16000 })`, saves it the resampling.
 *
 * @throws ModelError `bad-options`; `missing` where the package's `lib/web/recorder.js` cannot be loaded
 */
export declare function soundBlocks(node: AudioNode, options: BlockOptions): AsyncGenerator<Sound>;
