"use strict";
// The processor in the audio thread of a page that gathers what it hears into blocks. It imports nothing: not all browsers can there.
const scope = globalThis;
class Recorder extends scope.AudioWorkletProcessor {
    length;
    planes = [];
    count = 0;
    isEnded = false;
    constructor({ processorOptions }) {
        super();
        this.length = processorOptions.length;
        this.port.onmessage = () => {
            this.isEnded = true;
        };
    }
    /** Called with the next samples, a plane for each channel; with none where nothing plays. */
    process([heard = []]) {
        if (heard.length !== this.planes.length)
            this.begin(heard.length);
        const { length = 0 } = heard[0] ?? [];
        for (let start = 0; start < length;) {
            const end = Math.min(length, start + this.length - this.count);
            heard.forEach((plane, channel) => this.planes[channel]?.set(plane.subarray(start, end), this.count));
            this.count += end - start;
            start = end;
            if (this.count === this.length)
                this.send();
        }
        return !this.isEnded;
    }
    send() {
        const { planes } = this;
        this.port.postMessage(planes, planes.map(({ buffer }) => buffer));
        this.begin(planes.length);
    }
    begin(channels) {
        this.planes = Array.from({ length: channels }, () => new Float32Array(this.length));
        this.count = 0;
    }
}
scope.registerProcessor('mobpack-recorder', Recorder);
