// CoreML's settings beside the package's own, and the files that it must not run.

import type { Attempt } from './attempt.js';
import type { ModelFile, Settings } from './descriptor.js';

/**
 * A folder for what CoreML compiles of `file`, so that every later load is short; none where nothing can be written, or
 * where nobody knows the file's content.
 *
 * Compiled models are never used for another file, nor by another ONNX Runtime: folders bear both names. What earlier
 * versions of the app left of a model of the package is removed. A file of the app's own, or of a release, has a folder
 * beside none: a model that is open may be of another.
 */
export async function coreMLSettings(file: ModelFile, { model, backend, about, source }: Attempt): Promise<Settings> {
  if (about.cache === '' || file.sha256 === '') return {};
  const nameOf = (each: ModelFile): string => `${each.sha256}-${about.runtimeVersion}`;
  const isAlone = source.isOwn || model.isReleased === true;
  const folder = `${about.cache}/${isAlone ? `${model.name}-${file.sha256}` : model.name}/${nameOf(file)}`;
  try {
    await backend.makeFolder(folder, (isAlone ? [file] : source.files).map(nameOf));
  } catch {
    // Without a folder CoreML compiles at every load, which is slow and right.
    return {};
  }
  return { ModelCacheDirectory: folder };
}

/** Why CoreML must not run `file` with `settings`: it would compute wrong numbers. Null when it may. */
export function coreMLFault(file: ModelFile, settings: Settings, runtimeVersion: string): string | null {
  // https://github.com/microsoft/onnxruntime/issues/32569
  const isAffected = runtimeVersion.startsWith('1.30.') && settings.RequireStaticInputShapes === '1' && file.isFloat16;
  return isAffected
    ? `ONNX Runtime ${runtimeVersion} computes wrong 16-bit floats with RequireStaticInputShapes`
    : null;
}
