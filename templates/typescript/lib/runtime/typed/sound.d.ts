import type { Shaped } from '../tensor.js';
/** A recording of any length and rate, or a sound that a model made: its samples are a Float32Array. */
export interface Sound<Samples extends Float32Array | Int16Array = Float32Array | Int16Array> {
    /** From -1 to 1, or whole numbers of 16 bits; channels are interleaved. */
    readonly samples: Samples;
    /** Frames per second, such as 44100. */
    readonly rate: number;
    /** 1 by default. */
    readonly channels?: number;
}
/** A part of a stream. */
export interface SoundPiece extends Sound {
    /** Time from the first of the samples to the first that the model takes, and zeros before and after those it takes. */
    readonly place: readonly [number, number, number];
}
/** Tensors that models take of a sound. */
export interface SoundTensors<Type extends 'float32' | 'int16'> {
    readonly samples: Shaped<Type, readonly [number, number]>;
    readonly rate: BigInt64Array;
    /** Zeros for a whole sound. */
    readonly place: BigInt64Array;
}
/**
 * The tensors of a sound, for a model that takes samples from -1 to 1.
 *
 * @param what - the parameter that has it, for an error's words
 * @throws ModelError `bad-input`, saying what is wrong with the sound
 */
export declare function soundTensors(what: string, sound: Sound): SoundTensors<'float32'>;
/** The tensors of a sound, for a model that takes whole numbers of 16 bits; what is too loud is cut off. */
export declare function pcmTensors(what: string, sound: Sound): SoundTensors<'int16'>;
/** The sound of a model: silence where it gives no number. */
export declare function soundOf(samples: Float32Array, rate: number, channels: number): Sound<Float32Array>;
/** A `.wav` file of the sound, with whole numbers of 16 bits; what is too loud is cut off. */
export declare function toWav({ samples, rate, channels }: Sound): ArrayBuffer;
/** The first frame of a sound that has been checked: for runs that take a sound and do not read it. */
export declare function firstFrame({ samples, rate, channels }: Sound): Sound;
