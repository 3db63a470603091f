// The isolate that a model runs in: it opens files, runs them one after the other, and closes them.

import 'dart:async';
import 'dart:ffi';
import 'dart:isolate';

import 'assignment.dart';
import 'checked.dart';
import 'errors.dart';
import 'inspection.dart';
import 'library.dart';
import 'mapped_file.dart';
import 'onnxruntime.dart';
import 'tensor.dart';

/// Makes the bytes that ONNX Runtime opens of those of a file.
abstract interface class FileOpening {
  /// Takes `bytes` over, unless it throws.
  ModelBytes open(ModelBytes bytes);
}

/// Where the bytes of a file are: at a path, or in memory of the C library, which goes with the request.
final class PlacedFile {
  /// A file on the device.
  const PlacedFile.at(String this.path, this.name, this.sha256)
    : address = 0,
      size = 0,
      identity = '',
      opening = null,
      notes = null;

  /// A file in memory; another `identity` is that of another file.
  const PlacedFile.inMemory(this.address, this.size, this.name, this.sha256, {this.identity = ''})
    : path = null,
      opening = null,
      notes = null;

  PlacedFile._(PlacedFile file, {FileOpening? opening, String? notes})
    : path = file.path,
      address = file.address,
      size = file.size,
      identity = file.identity,
      name = file.name,
      sha256 = file.sha256,
      opening = opening ?? file.opening,
      notes = notes ?? file.notes;

  /// Path of the file; null for one in memory.
  final String? path;

  /// Address of its bytes in memory.
  final int address;

  /// Number of its bytes in memory.
  final int size;

  /// Name of the file in the model, or in the package.
  final String name;

  /// SHA-256 that the file must have; null for a file of the app's own whose SHA-256 was not given.
  final String? sha256;

  /// Change of its bytes once they were checked; null for none.
  final FileOpening? opening;

  /// Identity of a file in memory; empty where nobody knows it.
  final String identity;

  /// The folder of notes on files that were checked; null where all bytes are checked each time.
  final String? notes;

  /// The file, opened in another way.
  PlacedFile openedBy(FileOpening opening) => PlacedFile._(this, opening: opening);

  /// The file, of which notes are kept.
  PlacedFile notedIn(String? notes) => PlacedFile._(this, notes: notes);

  /// Gives memory back that no worker has.
  void forget() {
    if (path == null) ModelBytes.taken(address, size).free();
  }
}

/// Facts about a session that a worker has opened.
final class OpenedSession {
  /// Its tensors, and the size of its files.
  const OpenedSession(this.inputs, this.outputs, this.sizeBytes, this.version, this.assigned);

  /// In the order of places.
  final List<TensorSpec> inputs;

  /// In the order of results.
  final List<TensorSpec> outputs;

  /// Size of the model's file, including weights in separate files.
  final int sizeBytes;

  /// Version of ONNX Runtime.
  final String version;

  /// Nodes that each provider runs; null where ONNX Runtime cannot tell.
  final List<AssignedNodes>? assigned;
}

/// Result of a run.
final class Ran {
  /// Its outputs, and how long it took.
  const Ran(this.outputs, this.duration);

  /// In the order of results.
  final List<GivenTensor> outputs;

  /// Without the time that it waited for its turn.
  final Duration duration;
}

final class _Open {
  const _Open(this.library, this.model, this.weights, this.settings);

  final RuntimeLibrary library;
  final PlacedFile model;
  final List<PlacedFile> weights;
  final SessionSettings settings;
}

final class _Run {
  const _Run(this.inputs, this.options);

  final List<FedTensor> inputs;
  final int options;
}

final class _Profile {
  const _Profile(this.inputs, this.runs, this.prefix);

  final List<FedTensor> inputs;
  final int runs;
  final String prefix;
}

final class _Close {
  const _Close();
}

final class _Answer {
  const _Answer(this.number, this.value, this.code, this.message);

  final int number;
  final Object? value;
  final ModelErrorCode? code;
  final String message;
}

/// Question to an isolate. It does not refer to the worker, which may be collected while nothing is asked.
final class _Asked {
  final Completer<SendPort> started = Completer()..future.ignore();
  final Map<int, Completer<Object?>> waiting = {};
  bool isClosed = false;
  bool isEnded = false;

  ModelException get failure => isClosed
      ? const ModelException(ModelErrorCode.disposed, 'the model was disposed of')
      : const ModelException(ModelErrorCode.host, 'the isolate of the model has ended: the next call starts another');

  void end() {
    isEnded = true;
    if (!started.isCompleted) started.completeError(failure);
    for (final each in waiting.values) {
      each.completeError(failure);
    }
    waiting.clear();
  }
}

/// An isolate with one session.
final class Worker {
  Worker._(this._answers);

  final RawReceivePort _answers;
  final _Asked _asked = _Asked();
  int _count = 0;

  /// Whether the isolate is there no more.
  bool get isEnded => _asked.isEnded;

  /// Closes the session of a worker that nobody refers to.
  static final Finalizer<SendPort> _finalizer = Finalizer((port) => port.send((0, const _Close())));

  /// Starts an isolate.
  ///
  /// Throws ModelException `host`.
  static Future<Worker> start() async {
    final answers = RawReceivePort();
    final worker = Worker._(answers);
    answers.handler = _receiver(answers, worker._asked);
    try {
      await Isolate.spawn(_serve, answers.sendPort, onExit: answers.sendPort, debugName: 'mobpack');
    } on IsolateSpawnException catch (error) {
      answers.close();
      throw ModelException(ModelErrorCode.host, 'no isolate can be started for the model: $error');
    }
    final port = await worker._asked.started.future;
    Isolate.current.addOnExitListener(port); // sends null
    _finalizer.attach(worker, port, detach: worker);
    answers.keepIsolateAlive = false;
    return worker;
  }

  static void Function(Object?) _receiver(RawReceivePort answers, _Asked asked) => (message) {
    switch (message) {
      case SendPort():
        asked.started.complete(message);
      case _Answer(:final number, :final value, :final code):
        final waiting = asked.waiting.remove(number);
        if (code == null) {
          waiting?.complete(value);
        } else {
          waiting?.completeError(ModelException(code, message.message));
        }
        answers.keepIsolateAlive = asked.waiting.isNotEmpty;
      default: // the isolate has ended
        asked.end();
        answers.close();
    }
  };

  Future<Object?> _ask(Object request) async {
    final port = await _asked.started.future;
    if (_asked.isEnded) throw _asked.failure;
    final number = ++_count;
    final asked = _asked.waiting[number] = Completer<Object?>();
    _answers.keepIsolateAlive = true;
    port.send((number, request));
    return asked.future;
  }

  /// Opens a model, verified, with `library`. Memory of the files is the worker's from here on.
  Future<OpenedSession> open(
    RuntimeLibrary library,
    PlacedFile model,
    List<PlacedFile> weights,
    SessionSettings settings,
  ) async => (await _ask(_Open(library, model, weights, settings)))! as OpenedSession;

  /// Runs the session. Memory of the inputs must stay until the answer is here.
  Future<Ran> run(List<FedTensor> inputs, int options) async => (await _ask(_Run(inputs, options)))! as Ran;

  /// Runs a second session of the same model a number of times: the path of ONNX Runtime's trace of it, which begins with
  /// `prefix`. Memory of the inputs must stay until the answer is here.
  Future<String> profile(List<FedTensor> inputs, int runs, String prefix) async =>
      (await _ask(_Profile(inputs, runs, prefix)))! as String;

  /// Closes the session after all runs that were asked for, and ends the isolate.
  Future<void> close() async {
    _finalizer.detach(this);
    if (_asked.isEnded) return;
    _asked.isClosed = true;
    try {
      await _ask(const _Close());
    } on ModelException {
      return; // it has ended meanwhile
    }
  }
}

Future<void> _serve(SendPort owner) async {
  final requests = ReceivePort();
  final session = _Session();
  owner.send(requests.sendPort);
  await for (final message in requests) {
    // Null where the isolate of the model has ended.
    final (number, request) = message is (int, Object) ? message : (0, const _Close());
    owner.send(_answer(number, () => session.serve(request)));
    if (request is _Close) requests.close();
  }
}

_Answer _answer(int number, Object? Function() serve) {
  try {
    return _Answer(number, serve(), null, '');
  } on ModelException catch (error) {
    return _Answer(number, null, error.code, error.message);
  } on Object catch (error) {
    // The isolate stays: what fails is one request.
    final code = error is OutOfMemoryError ? ModelErrorCode.outOfMemory : ModelErrorCode.host;
    return _Answer(number, null, code, 'the isolate of the model failed: $error');
  }
}

/// The session of an isolate.
final class _Session implements Finalizable {
  OnnxRuntime? _runtime;
  Pointer<Void> _session = nullptr;
  NativeFinalizer? _finalizer;
  List<ModelBytes> _files = [];
  _Open? _opening;
  List<String> _inputs = [];
  List<String> _outputs = [];

  Object? serve(Object request) => switch (request) {
    _Open() => _open(request),
    _Run() => _run(request),
    _Profile() => _profile(request),
    _ => _close(),
  };

  OpenedSession _open(_Open request) {
    final files = <ModelBytes>[];
    try {
      for (final each in [request.model, ...request.weights]) {
        files.add(_bytes(each));
      }
      for (final (index, each) in [request.model, ...request.weights].indexed) {
        check(each, files[index]);
        final opening = each.opening;
        if (opening != null) files[index] = opening.open(files[index]);
      }
      return _opened(request, files);
    } on Object {
      for (final each in files) {
        each.free();
      }
      rethrow;
    }
  }

  OpenedSession _opened(_Open request, List<ModelBytes> files) {
    final runtime = _runtime ??= OnnxRuntime.open(request.library);
    final session = runtime.open(files.first, _weights(request, files), request.settings);
    final List<TensorSpec> inputs;
    final List<TensorSpec> outputs;
    final List<AssignedNodes>? assigned;
    try {
      inputs = runtime.inputs(session);
      outputs = runtime.outputs(session);
      assigned = assignedIn(runtime, session);
    } on Object {
      runtime.api.releaseSession(session);
      rethrow;
    }
    _close();
    _session = session;
    _files = files;
    _opening = request;
    _inputs = [for (final each in inputs) each.name];
    _outputs = [for (final each in outputs) each.name];
    // Where the isolate ends without a request to close.
    _finalizer = runtime.api.releaseSessionFinalizer..attach(this, session, detach: this);
    final size = files.fold(0, (sum, each) => sum + each.size);
    return OpenedSession(inputs, outputs, size, runtime.version, assigned);
  }

  List<Weights> _weights(_Open request, List<ModelBytes> files) => [
    for (final (index, each) in request.weights.indexed) Weights(each.name, files[index + 1]),
  ];

  OnnxRuntime get _ready {
    final runtime = _runtime;
    if (runtime != null && _session != nullptr) return runtime;
    throw const ModelException(ModelErrorCode.disposed, 'the model was disposed of');
  }

  Ran _run(_Run request) {
    final runtime = _ready;
    final clock = Stopwatch()..start();
    final options = Pointer<Void>.fromAddress(request.options);
    return Ran(runtime.run(_session, _inputs, request.inputs, _outputs, options), clock.elapsed);
  }

  String _profile(_Profile request) {
    final runtime = _ready;
    final opening = _opening!;
    final settings = opening.settings.profiled(request.prefix);
    final session = runtime.open(_files.first, _weights(opening, _files), settings);
    try {
      for (var run = 0; run < request.runs; run++) {
        runtime.run(session, _inputs, request.inputs, _outputs, nullptr).forEach(runtime.releaseValue);
      }
      return runtime.endProfiling(session);
    } finally {
      runtime.api.releaseSession(session);
    }
  }

  Object? _close() {
    if (_session == nullptr) return null;
    _finalizer?.detach(this);
    _runtime?.api.releaseSession(_session);
    _session = nullptr;
    for (final each in _files) {
      each.free();
    }
    _files = [];
    return null;
  }
}

ModelBytes _bytes(PlacedFile file) {
  final path = file.path;
  return path == null ? ModelBytes.taken(file.address, file.size) : ModelBytes.map(path);
}
