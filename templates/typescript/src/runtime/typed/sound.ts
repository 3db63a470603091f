// From a sound, as microphones and decoders have it, to the tensors of a model, and back.

import { ModelError } from '../errors.js';
import { nameOf } from '../feeding.js';
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

/** Divisor of whole numbers of 16 bits. */
const FULL = 32768;
/** Bytes of a `.wav` file before its samples. */
const HEADER = 44;
/** Four letters each. */
const [RIFF, WAVE, FMT, DATA] = [0x46464952, 0x45564157, 0x20746d66, 0x61746164] as const;

/**
 * The tensors of a sound, for a model that takes samples from -1 to 1.
 *
 * @param what - the parameter that has it, for an error's words
 * @throws ModelError `bad-input`, saying what is wrong with the sound
 */
export function soundTensors(what: string, sound: Sound): SoundTensors<'float32'> {
  const { samples, shape, rate, place } = checked(what, sound);
  const data = isWhole(samples) ? Float32Array.from(samples, (sample) => sample / FULL) : samples;
  return { samples: { data, shape }, rate, place };
}

/** The tensors of a sound, for a model that takes whole numbers of 16 bits; what is too loud is cut off. */
export function pcmTensors(what: string, sound: Sound): SoundTensors<'int16'> {
  const { samples, shape, rate, place } = checked(what, sound);
  return { samples: { data: isWhole(samples) ? samples : Int16Array.from(samples, quantized), shape }, rate, place };
}

/** The sound of a model: silence where it gives no number. */
export function soundOf(samples: Float32Array, rate: number, channels: number): Sound<Float32Array> {
  return { samples: samples.map((sample) => (Number.isNaN(sample) ? 0 : sample)), rate, channels };
}

/** A `.wav` file of the sound, with whole numbers of 16 bits; what is too loud is cut off. */
export function toWav({ samples, rate, channels = 1 }: Sound): ArrayBuffer {
  const size = 2 * samples.length;
  const bytes = new ArrayBuffer(HEADER + size);
  const file = new DataView(bytes);
  const sizes = [2 * channels * rate, (16 << 16) | (2 * channels)];
  const header = [RIFF, HEADER - 8 + size, WAVE, FMT, 16, (channels << 16) | 1, rate, ...sizes, DATA, size];
  header.forEach((word, at) => {
    file.setUint32(4 * at, word, true);
  });
  const whole = isWhole(samples) ? samples : Int16Array.from(samples, quantized);
  whole.forEach((sample, at) => {
    file.setInt16(HEADER + 2 * at, sample, true);
  });
  return bytes;
}

/** The first frame of a sound that has been checked: for runs that take a sound and do not read it. */
export function firstFrame({ samples, rate, channels = 1 }: Sound): Sound {
  return { samples: samples.slice(0, channels), rate, channels };
}

interface Checked {
  readonly samples: Float32Array | Int16Array;
  readonly shape: readonly [number, number];
  readonly rate: BigInt64Array;
  readonly place: BigInt64Array;
}

function checked(what: string, sound: Sound): Checked {
  const given: unknown = sound;
  if (typeof given !== 'object' || given === null || !('samples' in given)) {
    throw refused(what, `takes a sound, { samples, rate }, found ${nameOf(given)}`);
  }
  const { samples, rate, channels = 1 } = sound;
  const name = nameOf(samples);
  if (!['Float32Array', 'Int16Array'].includes(name)) {
    throw refused(what, `takes its samples as a Float32Array or an Int16Array, found ${name}`);
  }
  if (!Number.isSafeInteger(rate) || rate < 1000 || rate > 768000) {
    throw refused(what, `has rate ${String(rate)}, which is no whole number from 1000 to 768000`);
  }
  checkCount(what, 'channels', channels);
  const { length } = samples;
  if (length === 0) throw refused(what, 'has no samples');
  if (length % channels !== 0) {
    throw refused(what, `has ${String(length)} samples, which is no multiple of its ${String(channels)} channels`);
  }
  const [late, ahead, behind] = 'place' in sound ? (sound as SoundPiece).place : [0, 0, 0];
  return {
    samples,
    shape: [length / channels, channels],
    rate: BigInt64Array.of(BigInt(rate)),
    place: BigInt64Array.of(BigInt(late), BigInt(ahead), BigInt(behind)),
  };
}

function checkCount(what: string, name: string, count: number): void {
  if (Number.isSafeInteger(count) && count >= 1) return;
  throw refused(what, `has ${name} ${String(count)}, which is no whole number from 1 on`);
}

/** An array of another realm, as in tests with Jest, is told by its name. */
function isWhole(samples: Float32Array | Int16Array): samples is Int16Array {
  return nameOf(samples) === 'Int16Array';
}

function quantized(sample: number): number {
  return Math.max(-FULL, Math.min(FULL - 1, Math.round(sample * FULL)));
}

function refused(what: string, words: string): ModelError {
  return new ModelError('bad-input', `sound \`${what}\` ${words}`);
}
