/** The module `onnxruntime-web` or `onnxruntime-node`. */
export interface OnnxRuntime {
    readonly InferenceSession: {
        readonly create: (...parameters: never[]) => Promise<object>;
    };
    readonly Tensor: new (...parameters: never[]) => object;
    readonly env: object;
}
/** A tensor in memory of JavaScript. */
export interface OrtTensor {
    readonly type: string;
    readonly data: ArrayBufferView | readonly string[];
    readonly dims: readonly number[];
}
/** Inputs and outputs of a session: names in shapes are sizes that are open. */
export interface OrtValueMetadata {
    readonly name: string;
    readonly isTensor: boolean;
    readonly type?: string;
    readonly shape?: ReadonlyArray<number | string>;
}
/** An open model. */
export interface OrtSession {
    readonly inputMetadata: readonly OrtValueMetadata[];
    readonly outputMetadata: readonly OrtValueMetadata[];
    run(feeds: Readonly<Record<string, OrtTensor>>): Promise<Readonly<Record<string, OrtTensor>>>;
    release(): Promise<void>;
}
/** How a model is opened. */
export interface OrtSessionOptions {
    readonly executionProviders: ReadonlyArray<{
        readonly name: string;
    } & Readonly<Record<string, string>>>;
    readonly intraOpNumThreads?: number;
    readonly externalData?: ReadonlyArray<{
        readonly path: string;
        readonly data: Uint8Array;
    }>;
    readonly extra?: Readonly<Record<string, string>>;
    readonly logSeverityLevel?: number;
}
/** The module as it is used here. */
export interface OrtApi {
    /** A path is for onnxruntime-node. */
    readonly InferenceSession: {
        create(model: Uint8Array | string, options: OrtSessionOptions): Promise<OrtSession>;
    };
    readonly Tensor: new (type: string, data: ArrayBufferView | readonly string[], dims: readonly number[]) => OrtTensor;
    readonly env: {
        readonly versions: Readonly<Record<string, string | undefined>>;
    };
}
