// Variants of models that only some chips open. Only packages with such variants have this file.

import 'descriptor.dart';
import 'options.dart';
import 'system.dart';

/// The model with the files of one variant: of the one that was the fastest on this device's chip, or of the package's own
/// where the app sets providers, as the other was measured with those of its chip. `variants` has the names of files that
/// only some chips open.
ModelDescriptor chosen(ModelDescriptor model, List<String> variants, LoadOptions options) {
  final chip = options.tuned && options.providers == null ? chipName() : '';
  return ModelDescriptor(
    package: model.package,
    name: model.name,
    version: model.version,
    library: model.library,
    inputs: model.inputs,
    outputs: model.outputs,
    setups: {
      for (final MapEntry(key: name, value: setup) in model.setups.entries)
        name: PlatformSetup(
          oldestRuntime: setup.oldestRuntime,
          providers: setup.providers,
          files: _filesOf(setup, variants, chip),
        ),
    },
    golden: model.golden,
    guard: model.guard,
    cipher: model.cipher,
    tuning: model.tuning,
    page: model.page,
  );
}

List<ModelFile> _filesOf(PlatformSetup setup, List<String> variants, String chip) {
  // Both variants may have a file.
  bool isOfVariant(ModelFile file) => file.chips.isNotEmpty && variants.contains(file.file.name);
  final found = [
    for (final file in setup.files)
      if (isOfVariant(file) && file.chips.contains(chip)) _forAny(file),
  ];
  return found.isEmpty ? [...setup.files.where((file) => !isOfVariant(file))] : found;
}

/// Only Android compares chips when it opens files.
ModelFile _forAny(ModelFile file) => ModelFile(
  file.file,
  providers: file.providers,
  nodes: file.nodes,
  isFloat16: file.isFloat16,
  settings: file.settings,
  weights: file.weights,
);
