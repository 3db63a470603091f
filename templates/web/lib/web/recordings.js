// Recordings of a page, and sound of a microphone or another source as it comes, as models take them.
import { ModelError } from '../runtime/errors.js';
const RATE = 48_000;
const LOWEST_RATE = 3000;
const HIGHEST_RATE = 384_000;
/**
 * The samples of `source`, with all of its channels. The bytes of an `ArrayBuffer` are the browser's then.
 *
 * @throws ModelError `missing`: nothing is at the address; `bad-input`: it is no sound that this browser can decode;
 * `bad-options`; `unsupported` where nothing decodes sound, as in Node and in workers
 */
export async function recordingFrom(source, options = {}) {
    const { rate = RATE } = options;
    if (!Number.isInteger(rate) || rate < LOWEST_RATE || rate > HIGHEST_RATE) {
        throw new ModelError('bad-options', `rate is ${String(rate)}, which is no whole number from 3000 to 384000`);
    }
    if (typeof OfflineAudioContext === 'undefined') {
        throw new ModelError('unsupported', 'nothing decodes sound here: pass samples to the model');
    }
    if (source instanceof AudioBuffer)
        return soundOf(source);
    const bytes = await bytesOf(source);
    try {
        return soundOf(await new OfflineAudioContext(1, 1, rate).decodeAudioData(bytes));
    }
    catch (reason) {
        throw new ModelError('bad-input', `no sound that this browser can decode: ${String(reason)}`, { cause: reason });
    }
}
async function bytesOf(source) {
    if (source instanceof ArrayBuffer)
        return source;
    if (source instanceof Blob)
        return source.arrayBuffer();
    const response = await fetch(source).catch((reason) => {
        throw new ModelError('missing', `${source} cannot be fetched: ${String(reason)}`, { cause: reason });
    });
    if (!response.ok)
        throw new ModelError('missing', `${source} answers with status ${String(response.status)}`);
    return response.arrayBuffer();
}
/** Browsers have a plane for each channel, models take the channels of each sample together. */
function soundOf(buffer) {
    const planes = Array.from({ length: buffer.numberOfChannels }, (_, channel) => buffer.getChannelData(channel));
    return { samples: interleaved(planes), rate: buffer.sampleRate, channels: planes.length };
}
function interleaved(planes) {
    const samples = new Float32Array(planes.reduce((sum, plane) => sum + plane.length, 0));
    planes.forEach((plane, channel) => {
        for (const [index, sample] of plane.entries())
            samples[index * planes.length + channel] = sample;
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
export async function* soundBlocks(node, options) {
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
    }
    finally {
        node.disconnect(recorder);
        blocks.end();
        recorder.port.postMessage('end');
    }
}
async function recorderOf(node, length, url) {
    try {
        await node.context.audioWorklet.addModule(url);
    }
    catch (reason) {
        throw new ModelError('missing', `${url} cannot be loaded: ${String(reason)}`, { cause: reason });
    }
    return new AudioWorkletNode(node.context, 'mobpack-recorder', { numberOfOutputs: 0, processorOptions: { length } });
}
/** Blocks that have come and that nobody has taken yet. */
class Blocks {
    port;
    signal;
    waiting = [];
    isEnded = false;
    wake = () => undefined;
    constructor(port, signal) {
        this.port = port;
        this.signal = signal;
        port.onmessage = ({ data }) => {
            this.waiting.push(data);
            this.wake();
        };
        signal?.addEventListener('abort', this.end);
        if (signal?.aborted === true)
            this.end();
    }
    /** The next block; null when there are no more. */
    async next() {
        while (this.waiting.length === 0 && !this.isEnded) {
            await new Promise((resolve) => {
                this.wake = resolve;
            });
        }
        return this.isEnded ? null : (this.waiting.shift() ?? null);
    }
    end = () => {
        this.isEnded = true;
        this.port.onmessage = null;
        this.signal?.removeEventListener('abort', this.end);
        this.wake();
    };
}
