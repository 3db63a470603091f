// Recordings of a page, and sound of a microphone or another source as it comes, as models take them.

import { ModelError } from '../runtime/errors.js';
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

const RATE = 48_000;
const LOWEST_RATE = 3000;
const HIGHEST_RATE = 384_000;

/**
 * The samples of `source`, with all of its channels. The bytes of an `ArrayBuffer` are the browser's then.
 *
 * @throws ModelError `missing`: nothing is at the address; `bad-input`: it is no sound that this browser can decode;
 * `bad-options`; `unsupported` where nothing decodes sound, as in Node and in workers
 */
export async function recordingFrom(source: RecordingSource, options: RecordingOptions = {}): Promise<Sound> {
  const { rate = RATE } = options;
  if (!Number.isInteger(rate) || rate < LOWEST_RATE || rate > HIGHEST_RATE) {
    throw new ModelError('bad-options', `rate is ${String(rate)}, which is no whole number from 3000 to 384000`);
  }
  if (typeof OfflineAudioContext === 'undefined') {
    throw new ModelError('unsupported', 'nothing decodes sound here: pass samples to the model');
  }
  if (source instanceof AudioBuffer) return soundOf(source);
  const bytes = await bytesOf(source);
  try {
    return soundOf(await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes));
  } catch (reason) {
    throw new ModelError('bad-input', `no sound that this browser can decode: ${String(reason)}`, { cause: reason });
  }
}

async function bytesOf(source: string | Blob | ArrayBuffer): Promise<ArrayBuffer> {
  if (source instanceof ArrayBuffer) return source;
  if (source instanceof Blob) return source.arrayBuffer();
  const response = await fetch(source).catch((reason: unknown) => {
    throw new ModelError('missing', `${source} cannot be fetched: ${String(reason)}`, { cause: reason });
  });
  if (!response.ok) throw new ModelError('missing', `${source} answers with status ${String(response.status)}`);
  return response.arrayBuffer();
}

/** Browsers have a plane for each channel, models take the channels of each sample together. */
function soundOf(buffer: AudioBuffer): Sound {
  const planes = Array.from({ length: buffer.numberOfChannels }, (_, channel) => buffer.getChannelData(channel));
  return { samples: interleaved(planes), rate: buffer.sampleRate, channels: planes.length };
}

function interleaved(planes: readonly Float32Array[]): Float32Array {
  const samples = new Float32Array(planes.reduce((sum, plane) => sum + plane.length, 0));
  planes.forEach((plane, channel) => {
    for (const [index, sample] of plane.entries()) samples[index * planes.length + channel] = sample;
  });
  return samples;
}

/**
 * The sound that `node` plays, in blocks of `length` samples, each once and in order: while a model is busy, they
 * wait. A block whose number of channels changes is begun again. It ends when the loop over it is left, and when `signal`
 * is aborted; samples of a block that is not full are dropped. For a microphone, `node` is
 * `context.createMediaStreamSource(stream)`; a context with the rate of the model,
 * `new AudioContext({ sampleRate: 16000 })`, saves it the resampling.
 *
 * @throws ModelError `bad-options`; `missing` where the package's `lib/web/recorder.js` cannot be loaded
 */
export async function* soundBlocks(node: AudioNode, options: BlockOptions): AsyncGenerator<Sound> {
  const { length, signal, processor } = options;
  if (!Number.isInteger(length) || length < 1) {
    throw new ModelError('bad-options', `length is ${String(length)}, which is no whole number from 1 on`);
  }
  const recorder = await recorderOf(node, length, processor ?? new URL('./recorder.js', import.meta.url).href);
  const blocks = new Blocks(recorder.port, signal);
  const rate = node.context.sampleRate;
  node.connect(recorder);
  try {
    for (let planes = await blocks.next(); planes !== null; planes = await blocks.next()) {
      yield { samples: interleaved(planes), rate, channels: planes.length };
    }
  } finally {
    node.disconnect(recorder);
    blocks.end();
    recorder.port.postMessage('end');
  }
}

async function recorderOf(node: AudioNode, length: number, url: string): Promise<AudioWorkletNode> {
  try {
    await node.context.audioWorklet.addModule(url);
  } catch (reason) {
    throw new ModelError('missing', `${url} cannot be loaded: ${String(reason)}`, { cause: reason });
  }
  return new AudioWorkletNode(node.context, 'mobpack-recorder', { numberOfOutputs: 0, processorOptions: { length } });
}

type Planes = readonly Float32Array[];

/** Blocks that have come and that nobody has taken yet. */
class Blocks {
  private readonly port: MessagePort;
  private readonly signal: AbortSignal | undefined;
  private readonly waiting: Planes[] = [];
  private isEnded = false;
  private wake = (): void => undefined;

  constructor(port: MessagePort, signal: AbortSignal | undefined) {
    this.port = port;
    this.signal = signal;
    port.onmessage = ({ data }: MessageEvent<Planes>): void => {
      this.waiting.push(data);
      this.wake();
    };
    signal?.addEventListener('abort', this.end);
    if (signal?.aborted === true) this.end();
  }

  /** The next block; null when there are no more. */
  async next(): Promise<Planes | null> {
    while (this.waiting.length === 0 && !this.isEnded) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.isEnded ? null : (this.waiting.shift() ?? null);
  }

  readonly end = (): void => {
    this.isEnded = true;
    this.port.onmessage = null;
    this.signal?.removeEventListener('abort', this.end);
    this.wake();
  };
}
