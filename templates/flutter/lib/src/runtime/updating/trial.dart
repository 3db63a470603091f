// Runs a release of a model once before an app gets it: on its samples, or else on zeros.

import '../descriptor.dart';
import '../errors.dart';
import '../model.dart';
import '../options.dart';
import '../tensor.dart';
import 'release.dart';

/// Throws ModelException when a release cannot be opened or run, or when it gives other numbers than where it was built:
/// then its code is `badModel`.
Future<void> tryRelease(UpdatedRelease release, LoadOptions options) async {
  final descriptor = await release.model();
  final model = await LoadedModel.load(descriptor, options, release.files);
  try {
    final test = await model.selfTest();
    if (test.outputs.isEmpty) return await _warmUp(model, descriptor);
    if (!test.passed) throw ModelException(ModelErrorCode.badModel, '$test');
  } finally {
    await model.dispose();
  }
}

/// One run, whose numbers nobody knows: where the sizes of all inputs are known but for the first one of each, which in
/// most cases counts samples.
Future<void> _warmUp(LoadedModel model, ModelDescriptor descriptor) async {
  final inputs = <TensorInput<Object>>[];
  for (final spec in descriptor.inputs) {
    if (spec.shape.skip(1).contains(null)) return;
    final shape = [for (final size in spec.shape) size ?? 1];
    final Object data = spec.type == ElementType.string
        ? List.filled(countOf(shape), '')
        : spec.type.zeros(countOf(shape));
    inputs.add(TensorInput(data, shape: shape));
  }
  await model.run(inputs, null);
}
