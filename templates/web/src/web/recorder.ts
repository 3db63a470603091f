// The processor in the audio thread of a page that gathers what it hears into blocks. It imports nothing: not all browsers can there.

/** The part of an audio worklet's global scope that is used here. */
interface Scope {
  readonly AudioWorkletProcessor: new () => { readonly port: MessagePort };
  registerProcessor(name: string, made: unknown): void;
}

interface RecorderOptions {
  readonly processorOptions: { readonly length: number };
}

const scope = globalThis as unknown as Scope;

class Recorder extends scope.AudioWorkletProcessor {
  private readonly length: number;
  private planes: Float32Array<ArrayBuffer>[] = [];
  private count = 0;
  private isEnded = false;

  constructor({ processorOptions }: RecorderOptions) {
    super();
    this.length = processorOptions.length;
    this.port.onmessage = (): void => {
      this.isEnded = true;
    };
  }

  /** Called with the next samples, a plane for each channel; with none where nothing plays. */
  process([heard = []]: readonly (readonly Float32Array[])[]): boolean {
    if (heard.length !== this.planes.length) this.begin(heard.length);
    const { length = 0 } = heard[0] ?? [];
    for (let start = 0; start < length;) {
      const end = Math.min(length, start + this.length - this.count);
      heard.forEach((plane, channel) => this.planes[channel]?.set(plane.subarray(start, end), this.count));
      this.count += end - start;
      start = end;
      if (this.count === this.length) this.send();
    }
    return !this.isEnded;
  }

  private send(): void {
    const { planes } = this;
    this.port.postMessage(planes, planes.map(({ buffer }) => buffer));
    this.begin(planes.length);
  }

  private begin(channels: number): void {
    this.planes = Array.from({ length: channels }, () => new Float32Array(this.length));
    this.count = 0;
  }
}

scope.registerProcessor('mobpack-recorder', Recorder);
