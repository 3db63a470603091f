// A release as a model of the package that is opened from other files.

import type { Backend } from '../backend.js';
import {
  platformFiles,
  type Golden,
  type ModelDescriptor,
  type ModelFile,
  type PackagedFile,
  type Provider,
  type WeightsFile,
} from '../descriptor.js';
import { ModelError } from '../errors.js';
import { sourceOf } from '../sources.js';
import type { Fitting } from './choosing.js';
import type { ChannelBlob, ChannelFile } from './listed.js';
import { samplesIn } from './golden.js';
import type { UpdatePlatform } from './platform.js';

/** Every blob of a release that a device needs, each once. */
export function blobsOf(files: readonly ChannelFile[]): readonly ChannelBlob[] {
  const all = files.flatMap(({ file, data, golden }) => [file, ...data, ...(golden === null ? [] : [golden])]);
  return [...new Map(all.map((blob) => [blob.sha256, blob])).values()];
}

/** Every file that the package has of a model on a platform, by its SHA-256. */
export function packagedFiles(model: ModelDescriptor, backend: Backend): ReadonlyMap<string, PackagedFile> {
  const { files } = platformFiles(model, backend.platform);
  const all = [...files.flatMap((file) => [file, ...file.weights]), ...model.golden.map(({ file }) => file)];
  return new Map(all.map((file) => [file.sha256, file]));
}

/** The model with the files of a release in place of the package's own; without samples. */
export function releaseOf(model: ModelDescriptor, backend: Backend, { release, files }: Fitting): ModelDescriptor {
  const { platform } = backend;
  const packaged = platformFiles(model, platform);
  const opened = files.map((file) => modelFile(file, packaged.files));
  return {
    ...model,
    version: release.version,
    platforms: { ...model.platforms, [platform]: { ...packaged, files: opened } },
    golden: [],
    isReleased: true,
  };
}

function modelFile({ file, data, provider, chips, settings }: ChannelFile, packaged: readonly ModelFile[]): ModelFile {
  const name = provider as Provider;
  return {
    ...packagedFile(file),
    providers: [name],
    chips,
    settings,
    weights: data.map((each): WeightsFile => ({ ...packagedFile(each), name: each.name })),
    // Lists do not say it: releases of a package compute as it was configured.
    isFloat16: packaged.find(({ providers }) => providers.includes(name))?.isFloat16 ?? false,
  };
}

function packagedFile({ name, sha256, sizeBytes }: ChannelBlob): PackagedFile {
  return { path: name, sha256, endsSha256: '', sizeBytes };
}

/**
 * The samples of a release: empty where it has none.
 *
 * @throws ModelError `corrupted`, and what reading a file throws
 */
export async function goldenOf(
  model: ModelDescriptor,
  files: readonly ChannelFile[],
  platform: UpdatePlatform,
): Promise<readonly Golden[]> {
  const found = new Map<string, Golden>();
  for (const { file, golden, allowed } of files) {
    if (golden === null) continue;
    const known = found.get(golden.sha256);
    const samples = known?.samples ?? samplesIn(await contentOf(model, golden, platform));
    const tested = [...(known?.tested ?? []), { path: file.name, tolerances: allowed }];
    found.set(golden.sha256, { file: packagedFile(golden), tested, samples });
  }
  return [...found.values()];
}

async function contentOf(model: ModelDescriptor, blob: ChannelBlob, platform: UpdatePlatform): Promise<ArrayBuffer> {
  const { backend, source } = platform.opening();
  const [placed] = await (await sourceOf(model, backend, { source })).place([packagedFile(blob)]);
  if (placed === undefined) throw new ModelError('missing', `${blob.name} is missing`);
  const content = new ArrayBuffer(blob.sizeBytes);
  await backend.readFile(placed.part.path, placed.part.offset, content, blob.sha256);
  return content;
}
