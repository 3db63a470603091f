// The base of the classes of all models.

import 'assignment.dart';
import 'cancellation.dart';
import 'model.dart' if (dart.library.js_interop) '../web/model.dart';
import 'options.dart';
import 'self_test.dart';
import 'tensor.dart';

/// A loaded model: what the models of this package have in common.
abstract base class TypedModel<Inputs, Outputs> {
  /// Apps load a model by its own class.
  TypedModel(this._model, this._tensorsOf, this._outputsOf);

  final LoadedModel _model;
  final List<TensorInput<Object>> Function(Inputs inputs) _tensorsOf;
  final Outputs Function(List<Tensor<Object>> given) _outputsOf;

  /// The provider that runs the model.
  Provider get provider => _model.provider;

  /// The providers that were asked for and did not start, or failed.
  List<Fallback> get fallbacks => _model.fallbacks;

  /// The share of each provider, the CPU included; null where ONNX Runtime cannot say, as for files in its own
  /// format.
  List<ProviderAssignment>? get assignment => _model.assignment;

  /// Identifies the model.
  ModelInfo get info => _model.info;

  /// Runs the model. Calls run one after the other.
  ///
  /// Throws a ModelException `badInput`, `busy`, `cancelled`, `disposed` or `runtime`.
  Future<Outputs> run(Inputs inputs, {Cancellation? cancellation}) async =>
      _outputsOf(await _model.run(_tensorsOf(inputs), cancellation));

  /// Runs the model `runs` times, so that later calls do not pay for what the first ones prepare.
  ///
  /// Throws what [run] throws.
  Future<void> warmUp(Inputs inputs, {int runs = 1}) async {
    for (var number = 0; number < runs; number++) {
      await run(inputs);
    }
  }

  /// Runs the model `runs` times in a second session, and gives the path of ONNX Runtime's trace: the time of every
  /// operator, for ui.perfetto.dev or `chrome://tracing`. Takes as much memory again: call it while you develop.
  ///
  /// Throws what [run] throws, `badOptions`, and `unsupported` on the web.
  Future<String> profile(Inputs inputs, {int runs = 10}) async => _model.profile(_tensorsOf(inputs), runs);

  /// Compares what the model computes on this device with what it computed on the build machine.
  Future<SelfTest> selfTest() => _model.selfTest();

  /// Gives the memory of the model back, after the calls that are under way. Later calls fail with `disposed`.
  Future<void> dispose() => _model.dispose();
}
