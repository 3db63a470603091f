import type { About, Opened, OpenRequest, Place, Platform } from '../runtime/backend.js';
import { OnnxRuntimeBackend, type Given } from '../runtime/onnxruntimeBackend.js';
export declare class NodeBackend extends OnnxRuntimeBackend {
    readonly platform: Platform;
    constructor();
    about(): About;
    locate(path: string, _size?: number, url?: string): Promise<Place>;
    open(request: OpenRequest, model: ArrayBuffer | null): Promise<Opened>;
    residentBytes(): number;
    /** A path: ONNX Runtime maps weights that lie beside the model under the names that it has for them. */
    protected given(request: OpenRequest, model: ArrayBuffer | null): Promise<Given>;
}
