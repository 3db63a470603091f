// What a generated file says of its model.

import 'dart:typed_data';

import 'options.dart';
import 'tensor.dart';

/// A file of the package, and the bytes that it must have.
final class PackagedFile {
  /// By its name, which is unique in the package.
  const PackagedFile(this.name, this.sha256, this.sizeBytes);

  /// Without a folder.
  final String name;

  /// In hexadecimal.
  final String sha256;

  /// Size of the file.
  final int sizeBytes;
}

/// A file with weights, under the name by which the model's file refers to it.
final class WeightsFile {
  /// `reference` is that name.
  const WeightsFile(this.reference, this.file);

  /// Name of the file in the model.
  final String reference;

  /// The file.
  final PackagedFile file;
}

/// A file of a model, and how ONNX Runtime opens it.
final class ModelFile {
  /// For some providers.
  const ModelFile(
    this.file, {
    required this.providers,
    this.nodes = const {},
    this.chips = const [],
    this.isFloat16 = false,
    this.settings = const {},
    this.weights = const [],
  });

  /// The file.
  final PackagedFile file;

  /// Providers that open the file.
  final List<Provider> providers;

  /// The number of nodes with multiply-accumulates that the build saw a provider take; absent where it is not known.
  final Map<Provider, int> nodes;

  /// Chips that it was compiled for, by Android's names; empty for any.
  final List<String> chips;

  /// Whether it computes with 16-bit floats.
  final bool isFloat16;

  /// Session configuration entries that it needs.
  final Map<String, String> settings;

  /// Files with weights that are not in it.
  final List<WeightsFile> weights;
}

/// A provider as the package was configured for it.
final class ProviderSetup {
  /// With its settings.
  const ProviderSetup(this.provider, this.options);

  /// The provider that opens the files.
  final Provider provider;

  /// Under ONNX Runtime's names.
  final Map<String, String> options;
}

/// A model on one platform.
final class PlatformSetup {
  /// Takes generated facts.
  const PlatformSetup({required this.oldestRuntime, this.providers = const [], required this.files});

  /// The oldest ONNX Runtime that every file loads in.
  final String oldestRuntime;

  /// In the order in which they are tried, without the CPU.
  final List<ProviderSetup> providers;

  /// Best first.
  final List<ModelFile> files;
}

/// Where the values of a golden tensor lie, little-endian; fewer bytes than its shape needs are a recipe for them.
final class GoldenTensor {
  /// By its name in the model.
  const GoldenTensor(this.name, this.offset, this.sizeBytes, this.shape);

  /// In the model.
  final String name;

  /// In the file.
  final int offset;

  /// In the file.
  final int sizeBytes;

  /// Its sizes.
  final List<int> shape;
}

/// Inputs of a test, and the outputs that it must have.
final class GoldenSample {
  /// Takes the tensors of one run.
  const GoldenSample(this.inputs, this.outputs);

  /// Tensors that the run takes.
  final List<GoldenTensor> inputs;

  /// Tensors that the run must give.
  final List<GoldenTensor> outputs;
}

/// How far an output may be off: by `atol + rtol * scale`.
final class Tolerance {
  /// Tolerance of an output.
  const Tolerance(this.output, {required this.rtol, required this.atol, required this.scale, required this.mismatches});

  /// Its name in the model.
  final String output;

  /// Allowed error as a share of `scale`.
  final double rtol;

  /// Allowed error whatever the `scale`.
  final double atol;

  /// The largest expected value of all samples.
  final double scale;

  /// How many values may differ altogether.
  final int mismatches;
}

/// A file with samples, and the files of the model that they are for.
final class Golden {
  /// With the tolerances of each file, by its name.
  const Golden(this.file, {required this.tested, required this.samples});

  /// The file with samples.
  final PackagedFile file;

  /// Name of a model's file -> its tolerances. Values of outputs without one must be equal.
  final Map<String, List<Tolerance>> tested;

  /// Inputs of tests, and the outputs that they must have.
  final List<GoldenSample> samples;
}

/// Decides which files a package opens, by a list of them that is in the package under the name [list].
abstract interface class ModelGuard {
  /// Name of a file of the package.
  String get list;

  /// Reads the list; null where the package has none.
  ///
  /// Throws ModelException for one that is not to be trusted.
  GuardedFiles read(Uint8List? text);
}

/// Reads encrypted files.
abstract interface class ModelCipher {
  /// The first bytes of a file that [read] needs, or all of a smaller one.
  int get headerBytes;

  /// Reads the start of a file of `size` bytes; null for one that is not encrypted.
  ///
  /// Throws ModelException `corrupted` for one that was cut, or is of another version.
  SealedFile? read(Uint8List start, int size, String name);
}

/// An encrypted file.
abstract interface class SealedFile {
  /// Name of its key.
  String get keyId;

  /// Size of the file as it was.
  int get plainBytes;

  /// Decrypts all of it.
  ///
  /// Throws ModelException `key` for another key, or bytes that were changed.
  void open(Uint8List key, Uint8List sealed, Uint8List plain);
}

/// Settings that were measured for a model on some chips.
abstract interface class ModelTuning {
  /// The options of a load with those of a chip, where the app has not set its own. A system without a platform of its
  /// own follows the settings of any.
  LoadOptions applied(LoadOptions options, {required String chip, required String? platform});
}

/// Files that a list allows.
abstract interface class GuardedFiles {
  /// Throws ModelException unless a file may be opened: under its name, or under any for one of the app's own.
  void require(String name, String sha256, {required bool isOwn});
}

/// A model's module for pages.
final class ModelOfPage {
  /// `module` is its file in the package, `name` what it exports.
  const ModelOfPage(this.module, this.name);

  /// Its file in the package.
  final String module;

  /// Name of the class that the package exports.
  final String name;
}

/// A model of a package.
final class ModelDescriptor {
  /// Takes generated facts.
  const ModelDescriptor({
    required this.package,
    required this.name,
    required this.version,
    required this.library,
    required this.inputs,
    required this.outputs,
    required this.setups,
    this.golden = const [],
    this.guard,
    this.cipher,
    this.tuning,
    this.page,
    this.isRelease = false,
  });

  /// Name of the package, by which assets are found.
  final String package;

  /// In the package's configuration.
  final String name;

  /// Version of the package.
  final String version;

  /// ONNX Runtime's library on Android.
  final String library;

  /// In the model's order.
  final List<TensorSpec> inputs;

  /// In the model's order.
  final List<TensorSpec> outputs;

  /// By platform: `android`, and `ios`, which is macOS', too.
  final Map<String, PlatformSetup> setups;

  /// Samples for self-tests.
  final List<Golden> golden;

  /// For pages; null of a package without files for them.
  final ModelOfPage? page;

  /// Decides which files are opened; null for a package that opens its files unsigned.
  final ModelGuard? guard;

  /// Reads its files; null for a package whose files are not encrypted.
  final ModelCipher? cipher;

  /// Settings by chip; null for a package without such settings.
  final ModelTuning? tuning;

  /// Whether its files came from a channel.
  final bool isRelease;

  /// The model with other files of the same interface, which others vouch for.
  ModelDescriptor released({required String version, required List<ModelFile> files, required List<Golden> golden}) =>
      ModelDescriptor(
        package: package,
        name: name,
        version: version,
        library: library,
        inputs: inputs,
        outputs: outputs,
        setups: {
          for (final MapEntry(:key, :value) in setups.entries)
            key: PlatformSetup(oldestRuntime: value.oldestRuntime, providers: value.providers, files: files),
        },
        golden: golden,
        tuning: tuning,
        page: page,
        isRelease: true,
      );
}
