// How each provider is started.

import 'dart:io';

import 'descriptor.dart';
import 'errors.dart';
import 'options.dart';
import 'provider_facts.dart';
import 'system.dart';

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
  final facts = provider.facts;
  _refuseOldAndroid(provider);
  _setVariable(facts.librariesVariable, descriptor.library);
  final settings = {
    // Threads of its own are beside those for other operators.
    ?facts.threadsOption: '$threads',
    ...own.options,
    if (facts.cacheOption case final option?) option: ?_compiledFolder(descriptor, setup, file, runtime),
    ...given,
  };
  _refuseWrongNumbers(file, facts.faulty, settings, runtime);
  return facts.hasFlags ? _flags(provider, settings) : settings;
}

/// Among the folders of models, whose names begin with a letter or a digit: files of releases.
const String _releases = '.releases';

/// A folder for what a provider compiles of a file, so that later loads are short. Its name has the file's SHA-256 and the
/// version of ONNX Runtime; those of earlier versions of the app are removed, and those of releases by [forgetCompiled].
String? _compiledFolder(ModelDescriptor descriptor, PlatformSetup setup, ModelFile file, String runtime) {
  final all = cacheFolder([descriptor.package, if (descriptor.isRelease) _releases else descriptor.name]);
  if (all == null) return null;
  final folder = Directory('${all.path}/${file.file.sha256}-$runtime');
  try {
    folder.createSync(recursive: true);
  } on FileSystemException {
    return null;
  }
  if (!descriptor.isRelease) {
    final names = {for (final each in setup.files) '${each.file.sha256}-$runtime'};
    _removeOthers(all, names.contains);
  }
  return folder.path;
}

/// Removes what providers have compiled of files of releases, but of those that are kept.
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

void _refuseWrongNumbers(ModelFile file, (String, String)? faulty, Map<String, String> settings, String runtime) {
  if (faulty case (
    final versions,
    final option,
  ) when runtime.startsWith(versions) && settings[option] == '1' && file.isFloat16) {
    throw ModelException(ModelErrorCode.runtime, 'ONNX Runtime $runtime computes wrong 16-bit floats with $option');
  }
}

/// Older Android lacks the provider. ONNX Runtime would start all the same and leave every operator to the CPU.
void _refuseOldAndroid(Provider provider) {
  final Provider(:registeredName, facts: ProviderFacts(oldestAndroid: oldest)) = provider;
  final level = oldest == 0 ? null : int.tryParse(androidProperty('ro.build.version.sdk'));
  if (level == null || level >= oldest) return;
  throw ModelException(ModelErrorCode.runtime, '$registeredName needs API level $oldest, this device has $level');
}

/// Lets a provider find its files among the app's libraries.
void _setVariable(String? variable, String library) {
  final folder = variable != null && Platform.isAndroid ? folderOfLoaded(library) : null;
  if (folder != null) setVariable(variable!, folder);
}

/// ONNX Runtime knows of flags only that they are set: one that the app unsets is left out.
Map<String, String> _flags(Provider provider, Map<String, String> settings) {
  for (final MapEntry(:key, :value) in settings.entries) {
    if (value == '0' || value == '1') continue;
    throw ModelException(ModelErrorCode.badOptions, 'providerOptions ${provider.name} $key is 0 or 1, not $value');
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
double leastTolerance(Provider provider, Map<String, String> settings) {
  final ProviderFacts(:isRounding, :exact) = provider.facts;
  final isExact = exact != null && (settings[exact.$1] ?? '') == exact.$2;
  return isRounding && !isExact ? 1e-2 : 0;
}
