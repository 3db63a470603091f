import { type Classifier } from './index.js';
import { type HookOptions, type ModelState } from './runtime/hook.js';
export type { HookOptions, ModelState } from './runtime/hook.js';
/** `Classifier` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useClassifier(options?: HookOptions): ModelState<Classifier>;
