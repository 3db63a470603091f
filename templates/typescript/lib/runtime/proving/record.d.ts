import type { Backend } from '../backend.js';
/** Subject of a verdict. */
export interface Key {
    readonly provider: string;
    /** SHA-256 of the file that is opened. */
    readonly file: string;
    /** Fingerprint of app, system, ONNX Runtime and options. */
    readonly device: string;
}
/** A verdict, or the note that there will be one. */
export interface Entry extends Key {
    readonly state: 'trying' | 'proved' | 'refused';
    readonly reason: string;
    readonly seconds?: number | undefined;
    readonly cpu_seconds?: number | undefined;
}
/** The record of a model. One that is unreadable is none, and what cannot be written is forgotten. */
export declare class ProofRecord {
    private readonly store;
    private readonly presence;
    private last;
    constructor(backend: Backend, model: string);
    find(key: Key): Promise<Entry | undefined>;
    put(entry: Entry): Promise<void>;
    remove(key: Key): Promise<void>;
    /**
     * Notes that a provider is tried, until what this gives is called: who finds the note later knows that the process has
     * ended. Whoever leaves an app or a page may end it, so that there is no note meanwhile.
     */
    begin(key: Key): Promise<() => void>;
    /** One change after the other, each of what is there by then: another process may write, too. */
    private change;
    private entries;
}
