// The folder for what a provider compiles of a model.

import type { Attempt } from './attempt.js';
import type { ModelFile, Settings } from './descriptor.js';
import type { ProviderFacts } from './providerFacts.js';

/**
 * The option with a folder for what a provider compiles of `file`, so that every later load is short; none where nothing can be written, or
 * where nobody knows the file's content.
 *
 * Compiled models are never used for another file, nor by another ONNX Runtime: folders bear both names. What earlier
 * versions of the app left of a model of the package is removed. A file of the app's own, or of a release, has a folder
 * beside none: a model that is open may be of another.
 */
export async function compiledFolder(
  { cacheOption }: ProviderFacts,
  file: ModelFile,
  { model, backend, about, source }: Attempt,
): Promise<Settings> {
  if (cacheOption === undefined || about.cache === '' || file.sha256 === '') return {};
  const nameOf = (each: ModelFile): string => `${each.sha256}-${about.runtimeVersion}`;
  const isAlone = source.isOwn || model.isReleased === true;
  const folder = `${about.cache}/${isAlone ? `${model.name}-${file.sha256}` : model.name}/${nameOf(file)}`;
  try {
    await backend.makeFolder(folder, (isAlone ? [file] : source.files).map(nameOf));
  } catch {
    // Without a folder it compiles at every load, which is slow and right.
    return {};
  }
  return { [cacheOption]: folder };
}
