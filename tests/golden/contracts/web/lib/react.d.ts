import { type Classifier } from './index.js';
import { type Detector } from './index.js';
import { type Segmenter } from './index.js';
import { type Finder } from './index.js';
import { type ReaderModel } from './index.js';
import { type ListenerModel } from './index.js';
import { type Embedder } from './index.js';
import { type Tagger } from './index.js';
import { type Ranker } from './index.js';
import { type Matcher } from './index.js';
import { type Storyteller } from './index.js';
import { type Several } from './index.js';
import { type HookOptions, type ModelState } from './runtime/hook.js';
export type { HookOptions, ModelState } from './runtime/hook.js';
/** `Classifier` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useClassifier(options?: HookOptions): ModelState<Classifier>;
/** `Detector` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useDetector(options?: HookOptions): ModelState<Detector>;
/** `Segmenter` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useSegmenter(options?: HookOptions): ModelState<Segmenter>;
/** `Finder` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useFinder(options?: HookOptions): ModelState<Finder>;
/** `ReaderModel` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useReaderModel(options?: HookOptions): ModelState<ReaderModel>;
/** `ListenerModel` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useListenerModel(options?: HookOptions): ModelState<ListenerModel>;
/** `Embedder` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useEmbedder(options?: HookOptions): ModelState<Embedder>;
/** `Tagger` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useTagger(options?: HookOptions): ModelState<Tagger>;
/** `Ranker` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useRanker(options?: HookOptions): ModelState<Ranker>;
/** `Matcher` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useMatcher(options?: HookOptions): ModelState<Matcher>;
/** `Storyteller` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useStoryteller(options?: HookOptions): ModelState<Storyteller>;
/** `Several` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useSeveral(options?: HookOptions): ModelState<Several>;
