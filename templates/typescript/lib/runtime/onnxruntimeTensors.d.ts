import type { OrtApi, OrtTensor, OrtValueMetadata } from './onnxruntimeApi.js';
/** Where the bytes of a tensor lie, or are to be written; -1 bytes for an output that ONNX Runtime makes. */
export interface Placed {
    readonly buffer: ArrayBuffer;
    readonly byteOffset: number;
    readonly byteLength: number;
    readonly shape: readonly number[];
}
/** An output of ONNX Runtime: bytes, or strings. */
export interface Produced {
    readonly bytes: Uint8Array | null;
    readonly texts: readonly string[];
    readonly shape: readonly number[];
}
/** Reads `count` tensors of a layout: offset, length, rank and sizes of each. */
export declare function placedTensors(buffers: readonly ArrayBuffer[], layout: readonly number[]): readonly Placed[];
/** An input, read in place. */
export declare function inputTensor(ort: OrtApi, info: OrtValueMetadata, placed: Placed, texts: readonly string[]): OrtTensor;
/** Values of an output. */
export declare function producedBy(tensor: OrtTensor): Produced;
/** Copies an output to the app's memory. */
export declare function write(name: string, made: Produced, into: Placed): void;
