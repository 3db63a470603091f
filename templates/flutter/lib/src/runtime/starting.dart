// How each provider is started.

import 'dart:io';

import 'descriptor.dart';
import 'errors.dart';
import 'options.dart';
import 'system.dart';

const int _nnapiLevel = 27;

/// The settings of a provider that runs `file`: those of the package, those that the system asks for, and `given`.
///
/// Throws ModelException `runtime` where it must not run the file on this device, `badOptions` for a wrong setting.
Map<String, String> settingsOf(
  ModelDescriptor descriptor,
  PlatformSetup setup,
  Provider provider,
  ModelFile file,
  Map<String, String> given, {
  required int threads,
  required String runtime,
}) {
  if (provider == Provider.cpu) return const {};
  final own = setup.providers.where((each) => each.provider == provider).firstOrNull;
  if (own == null) {
    throw ModelException(ModelErrorCode.runtime, 'the package was not built for ${provider.name} on this platform');
  }
  switch (provider) {
    case Provider.xnnpack:
      // It has threads of its own, beside those for other operators.
      return {'intra_op_num_threads': '$threads', ...own.options, ...given};
    case Provider.coreml:
      final settings = {...own.options, ..._compiledFolder(descriptor, setup, file, runtime), ...given};
      _refuseWrongNumbers(file, settings, runtime);
      return settings;
    case Provider.nnapi:
      _refuseOldAndroid();
      return _flags({...own.options, ...given});
    case Provider.qnn:
      // Where the neural processor finds the files that Qualcomm's libraries open for it.
      final folder = Platform.isAndroid ? folderOfLoaded(descriptor.library) : null;
      if (folder != null) setVariable('ADSP_LIBRARY_PATH', folder);
      return {...own.options, ...given};
    case Provider.webgpu || Provider.webnn || Provider.cpu:
      return {...own.options, ...given};
  }
}

/// Among the folders of models, whose names begin with a letter or a digit: files of releases.
const String _releases = '.releases';

/// A folder for what CoreML compiles of a file, so that later loads are short. Its name has the file's SHA-256 and the
/// version of ONNX Runtime; those of earlier versions of the app are removed, and those of releases by [forgetCompiled].
Map<String, String> _compiledFolder(ModelDescriptor descriptor, PlatformSetup setup, ModelFile file, String runtime) {
  final all = cacheFolder([descriptor.package, if (descriptor.isRelease) _releases else descriptor.name]);
  if (all == null) return const {};
  final folder = Directory('${all.path}/${file.file.sha256}-$runtime');
  try {
    folder.createSync(recursive: true);
  } on FileSystemException {
    return const {};
  }
  if (!descriptor.isRelease) {
    final names = {for (final each in setup.files) '${each.file.sha256}-$runtime'};
    _removeOthers(all, names.contains);
  }
  return {'ModelCacheDirectory': folder.path};
}

/// Removes what CoreML has compiled of files of releases, but of those that are kept.
void forgetCompiled(String package, bool Function(String sha256) isKept) {
  final all = cacheFolder([package, _releases]);
  if (all != null && all.existsSync()) _removeOthers(all, (name) => isKept(name.split('-').first));
}

void _removeOthers(Directory all, bool Function(String name) isKept) {
  try {
    for (final other in all.listSync().whereType<Directory>()) {
      final name = other.uri.pathSegments.lastWhere((part) => part.isNotEmpty);
      if (!isKept(name)) other.deleteSync(recursive: true);
    }
  } on FileSystemException {
    // They take room, and do no harm.
  }
}

/// See https://github.com/microsoft/onnxruntime/issues/32569.
void _refuseWrongNumbers(ModelFile file, Map<String, String> settings, String runtime) {
  if (!runtime.startsWith('1.30.') || settings['RequireStaticInputShapes'] != '1' || !file.isFloat16) return;
  throw ModelException(
    ModelErrorCode.runtime,
    'ONNX Runtime $runtime computes wrong 16-bit floats with RequireStaticInputShapes',
  );
}

/// Older Android has no NNAPI. ONNX Runtime would start all the same and leave every operator to the CPU.
void _refuseOldAndroid() {
  final level = int.tryParse(androidProperty('ro.build.version.sdk'));
  if (level == null || level >= _nnapiLevel) return;
  throw ModelException(ModelErrorCode.runtime, 'NNAPI needs API level $_nnapiLevel, this device has $level');
}

/// ONNX Runtime knows of NNAPI's flags only that they are set: one that the app unsets is left out.
Map<String, String> _flags(Map<String, String> settings) {
  for (final MapEntry(:key, :value) in settings.entries) {
    if (value == '0' || value == '1') continue;
    throw ModelException(ModelErrorCode.badOptions, 'providerOptions nnapi $key is 0 or 1, not $value');
  }
  return {
    for (final MapEntry(:key, :value) in settings.entries)
      if (value == '1') key: value,
  };
}

/// The files for a provider on this device, best first: those that were compiled for its chip, then those for any.
List<ModelFile> filesFor(Provider provider, PlatformSetup setup, String chip) {
  final files = setup.files.where((each) => each.providers.contains(provider));
  return [
    if (chip.isNotEmpty) ...files.where((each) => each.chips.contains(chip)),
    ...files.where((each) => each.chips.isEmpty),
  ];
}

/// How far outputs may be off on a provider that rounds more than the CPU does, whatever the tolerance of the file.
double leastTolerance(Provider provider, Map<String, String> settings) => switch (provider) {
  // The neural engine and the GPU round to 16 bits.
  Provider.coreml => settings['MLComputeUnits'] == 'CPUOnly' ? 0 : 1e-2,
  // It computes in 16 bits only on request.
  Provider.nnapi => settings['USE_FP16'] == '1' ? 1e-2 : 0,
  // The neural processor has no 32-bit floats: values between operators are rounded to 16 bits.
  Provider.qnn => 1e-2,
  _ => 0,
};
