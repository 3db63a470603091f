import { type Classifier } from './index.js';
import { type ListenerModel } from './index.js';
import { type Several } from './index.js';
import { type HookOptions, type ModelState } from './runtime/hook.js';
export type { HookOptions, ModelState } from './runtime/hook.js';
/** `Classifier` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useClassifier(options?: HookOptions): ModelState<Classifier>;
/** `ListenerModel` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useListenerModel(options?: HookOptions): ModelState<ListenerModel>;
/** `Several` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useSeveral(options?: HookOptions): ModelState<Several>;
