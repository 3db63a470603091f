import type { Backend, Device, Engine, Place } from './backend.js';
/** Files inside the app's own archive, which Android alone has. */
export interface AndroidFiles {
    device(): Device & {
        readonly folder: string;
    };
    /** Whether the device is so hot that Android slows it down. */
    isHot(): boolean;
    /** Where an asset lies, or a copy of one that is compressed. */
    locate(asset: string, size: number): Promise<Place>;
}
/** Parts that React Native gives: null for what is not in the app. */
export interface NativeParts {
    /** Name of the package on npm. */
    readonly packageName: string;
    /** Name of the system, from React Native's Platform. */
    readonly os: string;
    readonly engine: Engine | null;
    readonly android: AndroidFiles | null;
    /** Folder of the models among Android's assets. */
    readonly assetFolder: string;
    readonly onMemoryPressure: Backend['onMemoryPressure'];
}
/** @throws ModelError `not-linked` when the app was built without the native part, `unsupported` on other systems */
export declare function makeNativeBackend(parts: NativeParts): Backend;
