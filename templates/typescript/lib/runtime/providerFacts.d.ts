/** Facts about a provider that sessions need, beside the settings that a package has for it. */
export interface ProviderFacts {
    /** Whether the threads of a session do its work. */
    readonly isOnCores: boolean;
    /** The option with the number of threads, of a provider that has threads of its own. */
    readonly threadsOption?: string;
    /** The option with a folder for what it compiles of a model. */
    readonly cacheOption?: string;
    /** Whether ONNX Runtime knows of its options only that they are set. */
    readonly hasFlags?: boolean;
    /** The first API level of Android that has it. */
    readonly oldestAndroid?: number;
    /** The property of `navigator` in browsers that have it. */
    readonly browserInterface?: string;
    /** Whether it rounds values between operators to 16 bits. */
    readonly isRounding?: boolean;
    /** An option that keeps it from rounding, and the value with which it does; an empty value is none. */
    readonly exact?: readonly [option: string, value: string];
    /** The start of versions of ONNX Runtime that compute wrong 16-bit floats, and the option that must be `1` for that. */
    readonly faulty?: readonly [versions: string, option: string];
}
