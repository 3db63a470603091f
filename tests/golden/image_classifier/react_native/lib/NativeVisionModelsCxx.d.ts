import { type CodegenTypes, type TurboModule } from 'react-native';
/** An ArrayBuffer, a type that React Native's codegen has from 0.87 on. */
type Memory = CodegenTypes.UnsafeObject;
export type About = {
    runtimeVersion: string;
    bundle: string;
    cache: string;
    threads: number;
};
export type Part = {
    name: string;
    path: string;
    offset: number;
    size: number;
    sha256: string;
    endsSha256: string;
};
export type OpenRequest = {
    file: Part;
    descriptor: number;
    weights: ReadonlyArray<Part>;
    provider: string;
    providerKeys: ReadonlyArray<string>;
    providerValues: ReadonlyArray<string>;
    settingKeys: ReadonlyArray<string>;
    settingValues: ReadonlyArray<string>;
    threads: number;
    spinning: boolean;
    notes: string;
    verify: string;
};
export type TensorInfo = {
    name: string;
    type: string;
    shape: ReadonlyArray<number>;
};
export type AssignedInfo = {
    provider: string;
    nodes: number;
    macs: number;
};
export type Opened = {
    session: number;
    inputs: ReadonlyArray<TensorInfo>;
    outputs: ReadonlyArray<TensorInfo>;
    sizeBytes: number;
    assignment: ReadonlyArray<AssignedInfo> | null;
};
export type Ran = {
    kept: number;
    shapes: ReadonlyArray<ReadonlyArray<number>>;
    texts: ReadonlyArray<ReadonlyArray<string>>;
    queued: number;
    duration: number;
};
/** `Engine` in runtime/backend.ts says what each of these does. */
export interface Spec extends TurboModule {
    about(): About;
    hasProvider(name: string): boolean;
    open(request: OpenRequest, model: Memory | null): Promise<Opened>;
    close(session: number): void;
    run(session: number, call: number, buffers: ReadonlyArray<Memory>, layout: ReadonlyArray<number>, texts: ReadonlyArray<ReadonlyArray<string>>, isTimed: boolean): Promise<Ran>;
    runSync(session: number, buffers: ReadonlyArray<Memory>, layout: ReadonlyArray<number>, texts: ReadonlyArray<ReadonlyArray<string>>): Ran;
    profile(session: number, prefix: string, runs: number, buffers: ReadonlyArray<Memory>, layout: ReadonlyArray<number>, texts: ReadonlyArray<ReadonlyArray<string>>): Promise<string>;
    worklet(session: number, inputs: ReadonlyArray<string>, outputs: ReadonlyArray<string>): CodegenTypes.UnsafeObject;
    residentBytes(): number;
    isHot(): boolean;
    cancel(call: number): void;
    allocate(sizeBytes: number): Memory;
    isNative(buffer: Memory): boolean;
    take(kept: number, output: number, into: Memory): void;
    drop(kept: number): void;
    fileSize(path: string): number;
    readFile(path: string, offset: number, into: Memory, sha256: string): Promise<void>;
    writePart(path: string, offset: number, bytes: Memory): Promise<void>;
    finishPart(part: string, path: string, size: number, sha256: string): Promise<void>;
    removeFile(path: string): Promise<void>;
    makeFolder(path: string, keep: ReadonlyArray<string>): Promise<void>;
}
/** Null in an app that was built without it. */
declare const engine: Spec | null;
export default engine;
