import type { Attempt } from './attempt.js';
import type { Opened } from './backend.js';
import { type Provider } from './descriptor.js';
import type { ProviderAssignment } from './options.js';
/**
 * The share of each provider of a model that was opened for `asked`; undefined where ONNX Runtime cannot say.
 *
 * Of the nodes that it lays out anew for a provider it records nothing: those with multiply-accumulates are counted as
 * theirs.
 */
export declare function assignmentOf({ assignment }: Opened, { model, backend }: Attempt, asked: Provider): readonly ProviderAssignment[] | undefined;
/** Nodes with multiply-accumulates that `asked` runs, or nobody else; undefined where ONNX Runtime cannot say. */
export declare function macNodesOf({ assignment }: Opened, { model, backend }: Attempt, asked: Provider): number | undefined;
/** Whether it is known that a provider runs nothing: then the CPU runs what it was asked for. */
export declare function hasNoNode(provider: Provider, assignment: readonly ProviderAssignment[] | undefined): boolean;
