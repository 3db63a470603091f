import type { TensorSpec } from '../runtime/descriptor.js';
import { type HookOptions, type ModelState } from '../runtime/hook.js';
import { type ModelDefinition } from '../runtime/loading.js';
import type { Tensor } from '../runtime/tensor.js';
import type { PlainModel } from '../runtime/plainModel.js';
/** {@link Dice} has no inputs. */
export type DiceInputs = Readonly<Record<string, never>>;
/** The outputs of {@link Dice}: values of each tensor one after the other, in row-major order. */
export interface DiceOutputs {
    /** `eyes`: string `[]` in string[]. */
    readonly eyes: Tensor<'string', readonly []>;
}
/** The tensors of {@link Dice}: names in the model, types, and shapes with `null` for a size that is open. */
export interface DiceTensors {
    readonly inputs: Readonly<Record<string, never>>;
    readonly outputs: {
        readonly eyes: TensorSpec<'string', readonly []>;
    };
}
/** A loaded {@link Dice}. */
export type Dice = PlainModel<DiceInputs, DiceOutputs>;
/**
 * The model `dice`.
 *
 * ```ts
 * import { Dice } from '@example/every-thing';
 * const model = await Dice.load();
 * const { eyes } = await model.run({});
 * console.log(model.provider, eyes.shape, eyes.data);
 * ```
 */
export declare const Dice: DiceTensors & ModelDefinition<Dice>;
/**
 * {@link Dice} in a component: loaded when it is mounted, disposed of when it is unmounted.
 *
 * The package has one sample of it for `model.selfTest()`.
 */
export declare function useDice(options?: HookOptions): ModelState<Dice>;
