import { type EveryThingV2 } from './index.js';
import { type OptionsModel } from './index.js';
import { type HookOptions, type ModelState } from './runtime/hook.js';
export type { HookOptions, ModelState } from './runtime/hook.js';
/** `EveryThingV2` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useEveryThingV2(options?: HookOptions): ModelState<EveryThingV2>;
/** `OptionsModel` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useOptionsModel(options?: HookOptions): ModelState<OptionsModel>;
