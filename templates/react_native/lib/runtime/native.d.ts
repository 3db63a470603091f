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
/** The part of React Native's `AppState` that is used. */
export interface AppStates {
    /** `active`, `inactive`, `background` and so on; null where nobody knows yet. */
    readonly currentState: string | null | undefined;
    addEventListener(type: 'change', listener: (state: string) => void): {
        remove(): void;
    };
}
/** Parts that React Native gives: null for what is not in the app. */
export interface NativeParts {
    /** Name of the package on npm. */
    readonly packageName: string;
    /** Name of the system, from React Native's Platform. */
    readonly os: string;
    /** Version of the system. */
    readonly system: () => string;
    readonly engine: Engine | null;
    readonly android: AndroidFiles | null;
    /** Folder of the models among Android's assets. */
    readonly assetFolder: string;
    readonly onMemoryPressure: Backend['onMemoryPressure'];
    readonly app: AppStates;
}
/** @throws ModelError `not-linked` when the app was built without the native part, `unsupported` on other systems */
export declare function makeNativeBackend(parts: NativeParts): Backend;
/** An app that is inactive may be left without another word, as from the list of all apps. */
export declare function isAway(state: string | null | undefined): boolean;
