import type { Attempt } from './attempt.js';
import type { Opened } from './backend.js';
import { type Provider } from './descriptor.js';
import type { ProviderAssignment } from './options.js';
/** What each provider runs of an open model; undefined where ONNX Runtime cannot say. */
export declare function assignmentOf({ assignment }: Opened, { model, backend }: Attempt): readonly ProviderAssignment[] | undefined;
/** Whether it is known that a provider runs nothing: then the CPU runs what it was asked for. */
export declare function hasNoNode(provider: Provider, assignment: readonly ProviderAssignment[] | undefined): boolean;
