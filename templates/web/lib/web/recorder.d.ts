/** The part of an audio worklet's global scope that is used here. */
interface Scope {
    readonly AudioWorkletProcessor: new () => {
        readonly port: MessagePort;
    };
    registerProcessor(name: string, made: unknown): void;
}
interface RecorderOptions {
    readonly processorOptions: {
        readonly length: number;
    };
}
declare const scope: Scope;
declare class Recorder extends scope.AudioWorkletProcessor {
    private readonly length;
    private planes;
    private count;
    private isEnded;
    constructor({ processorOptions }: RecorderOptions);
    /** Called with the next samples, a plane for each channel; with none where nothing plays. */
    process([heard]: readonly (readonly Float32Array[])[]): boolean;
    private send;
    private begin;
}
