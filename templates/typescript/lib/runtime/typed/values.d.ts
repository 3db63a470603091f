/** Numbers with names, for each step of a series: one step where the model has no series. */
export interface NamedValues {
    /** The numbers of each name, one for each step, in the model's order. */
    readonly series: Readonly<Record<string, Float32Array>>;
    /** The unit of each name; empty for numbers without one. */
    readonly units: Readonly<Record<string, string>>;
    /** Number of steps. */
    readonly steps: number;
}
/** `numbers` are those of a step, then those of the next. */
export declare function namedValuesOf(numbers: Float32Array, names: readonly string[], units: readonly string[]): NamedValues;
