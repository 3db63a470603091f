/** For each type of element the arrays that hold it. Floats of 16 bits are bits; booleans are 0 and 1. */
export interface Arrays {
    float32: Float32Array;
    float64: Float64Array;
    float16: Uint16Array;
    bfloat16: Uint16Array;
    int8: Int8Array;
    int16: Int16Array;
    int32: Int32Array;
    int64: BigInt64Array;
    uint8: Uint8Array;
    uint16: Uint16Array;
    uint32: Uint32Array;
    uint64: BigUint64Array;
    bool: Uint8Array;
    string: readonly string[];
}
/** Type of a tensor's values. */
export type ElementType = keyof Arrays;
/** Elements that lie in memory as numbers. */
export type NumberType = Exclude<ElementType, 'string'>;
/** The array that holds elements of a type. */
export type DataOf<Type extends ElementType> = Arrays[Type];
/** Any array of numbers that a tensor can have. */
export type NumberArray = DataOf<NumberType>;
/** Sizes of a tensor, whose values lie one after the other in row-major order; empty for a scalar. */
export type Shape = readonly number[];
/** A tensor that a model gave. */
export interface Tensor<Type extends ElementType, Sizes extends Shape> {
    readonly type: Type;
    readonly data: DataOf<Type>;
    readonly shape: Sizes;
}
/** A tensor of any type and shape. */
export type AnyTensor = Tensor<ElementType, Shape>;
/** Values and the shape that they have. */
export interface Shaped<Type extends ElementType, Sizes extends Shape> {
    readonly data: DataOf<Type>;
    readonly shape: Sizes;
}
/** How many sizes are open. */
type OpenSizes<Sizes extends Shape, Found extends unknown[] = []> = Sizes extends readonly [
    infer First,
    ...infer Rest extends Shape
] ? OpenSizes<Rest, number extends First ? [...Found, unknown] : Found> : Found['length'];
/**
 * An input: values and their shape. Where at most one size is open values alone will do, for their number says the rest.
 * Arrays may be a part of a longer buffer: `run` and `runSync` say when they are read in place.
 */
export type Input<Type extends ElementType, Sizes extends Shape> = OpenSizes<Sizes> extends 0 | 1 ? DataOf<Type> | Shaped<Type, Sizes> : Shaped<Type, Sizes>;
/** Whether every size is a constant. */
type IsConstant<Sizes extends Shape> = number extends Sizes[number] | Sizes['length'] ? false : true;
/** Memory that an output is written to: with a shape where the model leaves one open. Strings have none. */
export type Target<Output> = Output extends Tensor<infer Type, infer Sizes> ? Type extends 'string' ? never : IsConstant<Sizes> extends true ? DataOf<Type> | Shaped<Type, Sizes> : Shaped<Type, Sizes> : never;
/** For some outputs, or all, memory that they are written to. */
export type Targets<Outputs> = {
    readonly [Key in keyof Outputs]?: Target<Outputs[Key]>;
};
export {};
