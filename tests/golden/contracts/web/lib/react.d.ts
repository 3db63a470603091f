import { type ClassifierModel } from './index.js';
import { type DetectorModel } from './index.js';
import { type SegmenterModel } from './index.js';
import { type FinderModel } from './index.js';
import { type ReaderModelModel } from './index.js';
import { type ListenerModelModel } from './index.js';
import { type EmbedderModel } from './index.js';
import { type TaggerModel } from './index.js';
import { type RankerModel } from './index.js';
import { type MatcherModel } from './index.js';
import { type StorytellerModel } from './index.js';
import { type SeveralModel } from './index.js';
import { type HookOptions, type ModelState } from './runtime/hook.js';
export type { HookOptions, ModelState } from './runtime/hook.js';
/** `Classifier` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useClassifier(options?: HookOptions): ModelState<ClassifierModel>;
/** `Detector` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useDetector(options?: HookOptions): ModelState<DetectorModel>;
/** `Segmenter` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useSegmenter(options?: HookOptions): ModelState<SegmenterModel>;
/** `Finder` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useFinder(options?: HookOptions): ModelState<FinderModel>;
/** `ReaderModel` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useReaderModel(options?: HookOptions): ModelState<ReaderModelModel>;
/** `ListenerModel` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useListenerModel(options?: HookOptions): ModelState<ListenerModelModel>;
/** `Embedder` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useEmbedder(options?: HookOptions): ModelState<EmbedderModel>;
/** `Tagger` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useTagger(options?: HookOptions): ModelState<TaggerModel>;
/** `Ranker` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useRanker(options?: HookOptions): ModelState<RankerModel>;
/** `Matcher` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useMatcher(options?: HookOptions): ModelState<MatcherModel>;
/** `Storyteller` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useStoryteller(options?: HookOptions): ModelState<StorytellerModel>;
/** `Several` in a component: loaded when it is mounted, disposed of when it is unmounted. */
export declare function useSeveral(options?: HookOptions): ModelState<SeveralModel>;
