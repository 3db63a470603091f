// A loaded model on a page: what every generated class has inside where Dart is compiled for browsers.

import 'dart:async';
import 'dart:js_interop';
import 'dart:js_interop_unsafe';

import '../runtime/assignment.dart';
import '../runtime/cancellation.dart';
import '../runtime/descriptor.dart';
import '../runtime/errors.dart';
import '../runtime/observing.dart';
import '../runtime/options.dart';
import '../runtime/proof.dart';
import '../runtime/self_test.dart';
import '../runtime/tensor.dart';
import 'interop.dart';
import 'modules.dart';
import 'tensors.dart';

/// A model that is open in a worker of the page.
final class LoadedModel {
  LoadedModel._(this.descriptor, this._options, this._session, this._names, this._unknown) {
    _finalizer.attach(this, _session, detach: this);
  }

  /// The package's facts about the model.
  final ModelDescriptor descriptor;

  /// Providers that were asked for and have no file.
  final List<Fallback> _unknown;

  final LoadOptions _options;
  final PageSession _session;
  final _Names _names;
  final Set<Future<void>> _underWay = {};
  Future<void>? _disposal;

  /// Gives back the memory of a model that nobody refers to.
  static final Finalizer<PageSession> _finalizer = Finalizer((session) => session.dispose());

  /// The provider that runs the model.
  Provider get provider => _providerOf(_session.provider);

  /// The providers that did not start, or failed.
  List<Fallback> get fallbacks {
    final found = _session.fallbacks.toDart;
    return List.unmodifiable([
      ..._unknown,
      for (final each in found) Fallback(_providerOf(each.provider), each.reason),
    ]);
  }

  /// Null: browsers do not tell what each provider runs.
  List<ProviderAssignment>? get assignment => null;

  /// Throws ModelException `unsupported`: browsers write no traces.
  Future<String> profile(List<TensorInput<Object>> inputs, int runs) async =>
      throw const ModelException(ModelErrorCode.unsupported, 'pages have no traces of runs');

  /// Identifies the model.
  ModelInfo get info {
    final found = _session.info;
    return ModelInfo(
      name: found.name,
      version: found.version,
      file: found.file,
      sha256: found.sha256,
      sizeBytes: found.sizeBytes,
      onnxRuntimeVersion: found.onnxRuntimeVersion,
      proofs: [
        for (final each in found.proofs.toDart)
          ProviderProof(
            _providerOf(each.provider),
            isProved: each.isProved,
            reason: each.reason,
            seconds: each.seconds,
            cpuSeconds: each.cpuSeconds,
          ),
      ],
    );
  }

  /// Opens a model with the first provider that starts.
  static Future<LoadedModel> load(ModelDescriptor descriptor, LoadOptions options) async {
    final clock = Stopwatch()..start();
    try {
      options.check();
      final model = await _load(descriptor, options);
      final kind = kindOf(options.source);
      final event = LoadEvent(model.info, model.provider, model.fallbacks, kind, clock.elapsed);
      tell(() => options.observer?.onLoad?.call(event));
      return model;
    } on ModelException catch (error) {
      tell(() => options.observer?.onFailure?.call(FailureEvent(descriptor.name, error, clock.elapsed)));
      rethrow;
    }
  }

  static Future<LoadedModel> _load(ModelDescriptor descriptor, LoadOptions options) async {
    final definition = await _definition(descriptor, options);
    final about = definition.descriptor;
    final known = about.providers;
    final wanted = {...?options.providers}..remove(Provider.cpu);
    final session = await withSignal(options.cancellation, (signal) async {
      final given = await _given(options, wanted, known);
      final proof = await _proof(descriptor, options);
      return settled(
        definition.load(
          given
            .._setIf(signal != null, 'signal', signal)
            .._setIf(proof != null, 'proof', proof),
        ),
      );
    });
    final unknown = [
      for (final each in wanted)
        if (!known.contains(each.name)) Fallback(each, 'the package has no file for it'),
    ];
    final names = _Names(_namesOf(about.inputs), _namesOf(about.outputs));
    return LoadedModel._(descriptor, options, session, names, unknown);
  }

  /// Runs the model on tensors in the order of [ModelDescriptor.inputs]; gives those of its outputs. JavaScript holds none.
  Future<List<Tensor<Object>>> run(
    List<TensorInput<Object>> inputs,
    Cancellation? cancellation, {
    List<int> held = const [],
  }) async {
    if (_disposal != null) throw const ModelException(ModelErrorCode.disposed, 'the model was disposed of');
    if (cancellation?.isCancelled ?? false) throw _cancelled;
    final given = JSObject();
    for (final (index, spec) in descriptor.inputs.indexed) {
      given.setProperty(_names.inputs[spec.name]!.toJS, fed(spec, inputs[index]));
    }
    try {
      final outputs = await _counted(_cancellable(given, cancellation));
      return [for (final spec in descriptor.outputs) taken(spec, outputs.getProperty(_names.outputs[spec.name]!.toJS))];
    } on ModelException catch (error) {
      throw cancellation?.isCancelled ?? false ? _cancelled : error;
    }
  }

  Future<JSObject> _cancellable(JSObject inputs, Cancellation? cancellation) => withSignal(
    cancellation,
    (signal) => settled(_session.run(inputs, JSObject().._setIf(signal != null, 'signal', signal))),
  );

  /// Counts a run as under way until it has ended.
  Future<Result> _counted<Result>(Future<Result> run) async {
    final ended = run.then<void>((_) {}, onError: (Object _) {});
    _underWay.add(ended);
    try {
      return await run;
    } finally {
      _underWay.remove(ended);
    }
  }

  /// Compares outputs of this device with those of the build machine.
  Future<SelfTest> selfTest() async {
    if (_disposal != null) throw const ModelException(ModelErrorCode.disposed, 'the model was disposed of');
    final found = await _counted(settled(_session.selfTest()));
    final outputs = [
      for (final each in found.outputs.toDart)
        OutputTest(
          name: each.name,
          sample: each.sample,
          maxAbsError: each.maxAbsError,
          mismatchCount: each.mismatchCount,
          scale: each.scale,
          tolerance: each.tolerance,
          absoluteTolerance: each.absoluteTolerance,
          failure: each.failure,
        ),
    ];
    return SelfTest(model: info.name, file: info.file, provider: provider, outputs: List.unmodifiable(outputs));
  }

  /// Gives the memory of the model back, after the runs that were asked for. Later calls fail with `disposed`.
  Future<void> dispose() => _disposal ??= _dispose();

  Future<void> _dispose() async {
    _finalizer.detach(this);
    await Future.wait([..._underWay]);
    _session.dispose();
    tell(() => _options.observer?.onRelease?.call(ReleaseEvent(descriptor.name, ReleaseReason.close)));
  }
}

const ModelException _cancelled = ModelException(ModelErrorCode.cancelled, 'the call was cancelled');

/// JavaScript's names of tensors by those of the model.
final class _Names {
  const _Names(this.inputs, this.outputs);

  final Map<String, String> inputs;
  final Map<String, String> outputs;
}

@JS('Object.keys')
external JSArray<JSString> _keys(JSObject object);

Map<String, String> _namesOf(JSObject specs) => {
  for (final key in _keys(specs).toDart) specs.getProperty<PageTensorSpec>(key).name: key.toDart,
};

Provider _providerOf(String name) => Provider.values.where((each) => each.name == name).firstOrNull ?? Provider.cpu;

/// Export of the model's module.
///
/// Throws ModelException `unsupported` for a package without files for pages, `missing` where the page has no module.
Future<PageDefinition> _definition(ModelDescriptor descriptor, LoadOptions options) async {
  final page = descriptor.page;
  if (page == null) {
    throw const ModelException(
      ModelErrorCode.unsupported,
      'this package was built without files for the web: add [target.web] to its mobpack.toml',
    );
  }
  final module = await moduleOf(descriptor.package, page.module, options.library);
  return module.getProperty<PageDefinition>(page.name.toJS);
}

/// The options as JavaScript takes them.
///
/// Throws ModelException `unsupported` for a source that pages do not have.
Future<JSObject> _given(LoadOptions options, Set<Provider> wanted, List<String> known) async {
  final asked = [
    for (final each in wanted)
      if (known.contains(each.name)) each.name.toJS,
  ];
  final settings = JSObject();
  for (final MapEntry(:key, :value) in options.providerOptions.entries) {
    if (known.contains(key.name)) settings.setProperty(key.name.toJS, value.jsify());
  }
  return JSObject()
    ..setProperty('source'.toJS, await sourceOf(options.source))
    ..setProperty('providerOptions'.toJS, settings)
    ..setProperty('threads'.toJS, options.threads.toJS)
    ..setProperty('spinning'.toJS, options.spinning.toJS)
    ..setProperty('queue'.toJS, options.queue.toJS)
    ..setProperty('policies'.toJS, JSObject()..setProperty('retryOnCpu'.toJS, options.policies.retryOnCpu.toJS))
    .._setIf(options.observer?.onRun != null, 'observer', _observer(options))
    .._setIf(options.providers != null, 'providers', asked.toJS)
    .._setIf(options.onProgress != null, 'onProgress', _progress(options).toJS);
}

/// The option `proof` as JavaScript takes it, whose code pages get with it alone.
Future<JSObject?> _proof(ModelDescriptor descriptor, LoadOptions options) async {
  final proof = options.proof;
  if (proof == null) return null;
  final module = await moduleOf(descriptor.package, 'web/lib/runtime/proving/proof.js', options.library);
  final given = JSObject()
    ..setProperty('limit'.toJS, (proof.limit.inMilliseconds / 1000).toJS)
    ..setProperty('inBackground'.toJS, proof.inBackground.toJS);
  return module.getProperty<JSFunction>('Proof'.toJS).callAsConstructor<JSObject>(given);
}

/// An observer of runs in JavaScript's: what else happens is known here.
JSObject _observer(LoadOptions options) {
  void onRun(PageRun run) {
    final error = run.error;
    final event = RunEvent(
      run.model,
      _providerOf(run.provider),
      _seconds(run.duration),
      error == null ? null : exceptionOf(error),
      queued: _seconds(run.queued),
      isRetry: run.isRetry,
    );
    tell(() => options.observer?.onRun?.call(event));
  }

  return JSObject()..setProperty('onRun'.toJS, onRun.toJS);
}

Duration _seconds(double seconds) => Duration(microseconds: (seconds * Duration.microsecondsPerSecond).round());

void Function(PageProgress) _progress(LoadOptions options) =>
    (progress) => options.onProgress?.call(progress.loadedBytes, progress.totalBytes);

extension on JSObject {
  void _setIf(bool isSet, String name, JSAny? value) {
    if (isSet) setProperty(name.toJS, value);
  }
}
