import type { Backend } from '../backend.js';
import { type Golden, type ModelDescriptor, type PackagedFile } from '../descriptor.js';
import type { Fitting } from './choosing.js';
import type { ChannelBlob, ChannelFile } from './listed.js';
import type { UpdatePlatform } from './platform.js';
/** Every blob of a release that a device needs, each once. */
export declare function blobsOf(files: readonly ChannelFile[]): readonly ChannelBlob[];
/** Every file that the package has of a model on a platform, by its SHA-256. */
export declare function packagedFiles(model: ModelDescriptor, backend: Backend): ReadonlyMap<string, PackagedFile>;
/** The model with the files of a release in place of the package's own; without samples. */
export declare function releaseOf(model: ModelDescriptor, backend: Backend, { release, files }: Fitting): ModelDescriptor;
/**
 * The samples of a release: empty where it has none.
 *
 * @throws ModelError `corrupted`, and what reading a file throws
 */
export declare function goldenOf(model: ModelDescriptor, files: readonly ChannelFile[], platform: UpdatePlatform): Promise<readonly Golden[]>;
