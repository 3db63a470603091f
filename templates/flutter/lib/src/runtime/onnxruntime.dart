// ONNX Runtime in this isolate: its library, its functions, and the sessions that it opens.

import 'dart:convert';
import 'dart:ffi';
import 'dart:typed_data';

import 'errors.dart';
import 'library.dart';
import 'mapped_file.dart';
import 'memory.dart';
import 'onnxruntime_api.dart';
import 'system.dart';
import 'tensor.dart';

const int _logErrors = 3;
const int _deviceAllocator = 0;
const int _defaultMemory = 0;

/// ONNX Runtime has no code for it: its own words, and those of C++.
final RegExp _noMemory = RegExp('Failed to allocate memory|bad[_ ]alloc');

/// The bits of nnapi_provider_factory.h.
const Map<String, int> _nnapiFlags = {'USE_FP16': 1, 'USE_NCHW': 2, 'CPU_DISABLED': 4, 'CPU_ONLY': 8};

/// An input of a run, by its place in the session.
final class FedTensor {
  /// `address` is that of `sizeBytes` bytes; strings are in `texts` instead.
  const FedTensor(this.place, this.type, this.shape, this.address, this.sizeBytes, this.texts, {this.value = 0});

  /// The tensor at another place.
  FedTensor at(int other) => FedTensor(other, type, shape, address, sizeBytes, texts, value: value);

  /// Among the inputs of the session.
  final int place;

  /// Type of its values.
  final ElementType type;

  /// Its sizes.
  final List<int> shape;

  /// Address of its values.
  final int address;

  /// Size of its values.
  final int sizeBytes;

  /// The values of a tensor of strings; else null.
  final List<String>? texts;

  /// Address of ONNX Runtime's value that is fed as it is; 0 for one that is made of the values here.
  final int value;
}

/// An output of a run, which [OnnxRuntime.releaseValue] gives back.
final class GivenTensor {
  /// `data` is the address of the values, `value` that of ONNX Runtime's own.
  const GivenTensor(this.type, this.shape, this.value, this.data, this.texts);

  /// Type of its values.
  final ElementType type;

  /// Its sizes.
  final List<int> shape;

  /// Address of ONNX Runtime's value.
  final int value;

  /// Address of its first element; 0 for strings.
  final int data;

  /// The values of a tensor of strings; else null.
  final List<String>? texts;
}

/// A file with weights of an ONNX file.
final class Weights {
  /// The bytes of the file that the model calls `name`.
  const Weights(this.name, this.bytes);

  /// Name in the model.
  final String name;

  /// Its content.
  final ModelBytes bytes;
}

/// How a session is opened.
final class SessionSettings {
  /// Without `provider` the CPU runs everything.
  const SessionSettings({
    required this.threads,
    required this.entries,
    this.provider,
    this.options = const {},
    this.profile,
  });

  /// Threads of a run; 0 for as many as ONNX Runtime chooses.
  final int threads;

  /// Session configuration entries.
  final Map<String, String> entries;

  /// ONNX Runtime's name of the provider.
  final String? provider;

  /// The provider's own settings.
  final Map<String, String> options;

  /// Beginning of the path of a trace of its runs; null without a trace.
  final String? profile;

  /// The options with a trace.
  SessionSettings profiled(String prefix) =>
      SessionSettings(threads: threads, entries: entries, provider: provider, options: options, profile: prefix);
}

/// ONNX Runtime's library, opened in this isolate.
final class OnnxRuntime {
  OnnxRuntime._(this._library, this.api, this.assignmentApi, this.version);

  /// Opens a library.
  ///
  /// Throws ModelException `unsupported` where there is none, `runtimeVersion` for one that is too old.
  factory OnnxRuntime.open(RuntimeLibrary place) {
    // ONNX Runtime 1.29 collects identifiers of the device for its telemetry, unless this is set before its environment
    // is made.
    setVariable('ORT_DISABLE_TELEMETRY', '1');
    final name = place.name;
    final library = name == null ? null : _opened(name);
    final entry = library == null
        ? Pointer<NativeFunction<Pointer<_ApiBase> Function()>>.fromAddress(place.address)
        : library.lookup<NativeFunction<Pointer<_ApiBase> Function()>>('OrtGetApiBase');
    final base = entry.asFunction<Pointer<_ApiBase> Function()>()();
    final version = textAt(
      base.ref.getVersionString
          .cast<NativeFunction<Pointer<Void> Function()>>()
          .asFunction<Pointer<Void> Function()>()(),
    );
    final table = base.ref.getApi
        .cast<NativeFunction<Pointer<Void> Function(Uint32)>>()
        .asFunction<Pointer<Void> Function(int)>()(apiVersion);
    if (table == nullptr) {
      throw ModelException(ModelErrorCode.runtimeVersion, 'ONNX Runtime $version is older than 1.$apiVersion');
    }
    final later = base.ref.getApi
        .cast<NativeFunction<Pointer<Void> Function(Uint32)>>()
        .asFunction<Pointer<Void> Function(int)>()(assignmentVersion);
    final assignmentApi = later == nullptr ? null : OrtApi(later.cast());
    return OnnxRuntime._(library, OrtApi(table.cast()), assignmentApi, version);
  }

  /// Null where the library was in the process already.
  final DynamicLibrary? _library;

  /// Its functions.
  final OrtApi api;

  /// The same with those that tell which provider runs which node; null of an older one.
  final OrtApi? assignmentApi;

  /// Version of the library: `1.2.3`.
  final String version;

  /// The environment of the process: ONNX Runtime makes one, and counts those who ask for it.
  late final Pointer<Void> _environment = withArena(
    (arena) => _made((out) => api.createEnv(_logErrors, arena.text('mobpack'), out)),
  );

  late final Pointer<Void> _memory = _made((out) => api.createCpuMemoryInfo(_deviceAllocator, _defaultMemory, out));

  /// ONNX Runtime's own, which nobody releases.
  late final Pointer<Void> _allocator = _made(api.getAllocatorWithDefaultOptions);

  /// Throws ModelException `runtime`, or `outOfMemory`, with what ONNX Runtime has to say.
  void check(Pointer<Void> status) {
    if (status == nullptr) return;
    final message = textAt(api.getErrorMessage(status));
    api.releaseStatus(status);
    throw ModelException(_noMemory.hasMatch(message) ? ModelErrorCode.outOfMemory : ModelErrorCode.runtime, message);
  }

  /// Options of a run that another isolate may end.
  Pointer<Void> runOptions() => _made(api.createRunOptions);

  /// Gives an output back.
  void releaseValue(GivenTensor tensor) => api.releaseValue(Pointer.fromAddress(tensor.value));

  /// Opens a model. The bytes must stay until the session is released.
  Pointer<Void> open(ModelBytes model, List<Weights> weights, SessionSettings settings) => withArena((arena) {
    final options = _made(api.createSessionOptions);
    try {
      check(api.setIntraOpNumThreads(options, settings.threads));
      for (final MapEntry(:key, :value) in settings.entries.entries) {
        check(api.addSessionConfigEntry(options, arena.text(key), arena.text(value)));
      }
      if (weights.isNotEmpty) _addWeights(arena, options, weights);
      final profile = settings.profile;
      if (profile != null) check(api.enableProfiling(options, arena.paths([profile]).value));
      final provider = settings.provider;
      if (provider != null) _append(arena, options, provider, settings.options);
      return _made((out) => api.createSessionFromArray(_environment, model.address.cast(), model.size, options, out));
    } finally {
      api.releaseSessionOptions(options);
    }
  });

  void _addWeights(Arena arena, Pointer<Void> options, List<Weights> weights) => check(
    api.addExternalInitializersFromFilesInMemory(
      options,
      arena.paths([for (final each in weights) each.name]).cast(),
      arena.pointers([for (final each in weights) each.bytes.address.cast()]).cast(),
      arena.sizes([for (final each in weights) each.bytes.size]).cast(),
      weights.length,
    ),
  );

  void _append(Arena arena, Pointer<Void> options, String provider, Map<String, String> own) {
    if (provider == 'NNAPI') return _appendNnapi(options, own);
    final keys = arena.texts([...own.keys]);
    final values = arena.texts([...own.values]);
    final name = arena.text(provider);
    check(api.sessionOptionsAppendExecutionProvider(options, name, keys.cast(), values.cast(), own.length));
  }

  /// NNAPI is not among the providers that are added by name: it has a function of its own.
  void _appendNnapi(Pointer<Void> options, Map<String, String> own) {
    const name = 'OrtSessionOptionsAppendExecutionProvider_Nnapi';
    final library = _library;
    if (library == null || !library.providesSymbol(name)) {
      throw const ModelException(ModelErrorCode.runtime, 'this ONNX Runtime was built without NNAPI');
    }
    final add = library
        .lookupFunction<Pointer<Void> Function(Pointer<Void>, Uint32), Pointer<Void> Function(Pointer<Void>, int)>(
          name,
        );
    var flags = 0;
    for (final MapEntry(:key, :value) in own.entries) {
      if (value == '1') flags |= _nnapiFlags[key] ?? 0;
    }
    check(add(options, flags));
  }

  /// Ends the trace of a session: the path of its file.
  String endProfiling(Pointer<Void> session) {
    final path = _made((out) => api.sessionEndProfiling(session, _allocator, out));
    final text = textAt(path);
    check(api.allocatorFree(_allocator, path));
    return text;
  }

  /// Value of a key in the metadata of a session's model; empty where it has none.
  String metadata(Pointer<Void> session, String key) => withArena((arena) {
    final metadata = _made((out) => api.sessionGetModelMetadata(session, out));
    try {
      final name = arena.text(key);
      final found = _made((out) => api.modelMetadataLookupCustomMetadataMap(metadata, _allocator, name, out));
      if (found == nullptr) return '';
      final text = textAt(found);
      check(api.allocatorFree(_allocator, found));
      return text;
    } finally {
      api.releaseModelMetadata(metadata);
    }
  });

  /// The inputs of a session.
  List<TensorSpec> inputs(Pointer<Void> session) =>
      _specs(session, api.sessionGetInputCount, api.sessionGetInputName, api.sessionGetInputTypeInfo);

  /// The outputs of a session.
  List<TensorSpec> outputs(Pointer<Void> session) =>
      _specs(session, api.sessionGetOutputCount, api.sessionGetOutputName, api.sessionGetOutputTypeInfo);

  List<TensorSpec> _specs(
    Pointer<Void> session,
    Pointer<Void> Function(Pointer<Void>, Pointer<Void>) countOf,
    Pointer<Void> Function(Pointer<Void>, int, Pointer<Void>, Pointer<Void>) nameOf,
    Pointer<Void> Function(Pointer<Void>, int, Pointer<Void>) typeOf,
  ) {
    final count = _number((out) => countOf(session, out));
    return [
      for (var index = 0; index < count; index++)
        _spec(_made((out) => nameOf(session, index, _allocator, out)), _made((out) => typeOf(session, index, out))),
    ];
  }

  TensorSpec _spec(Pointer<Void> name, Pointer<Void> info) {
    try {
      final tensor = _made((out) => api.castTypeInfoToTensorInfo(info, out));
      if (tensor == nullptr) {
        throw ModelException(ModelErrorCode.badModel, '`${textAt(name)}` is no tensor');
      }
      final (type, shape) = _typeAndShape(tensor);
      return TensorSpec(textAt(name), type, [for (final size in shape) size < 0 ? null : size]);
    } finally {
      api.releaseTypeInfo(info);
      check(api.allocatorFree(_allocator, name));
    }
  }

  (ElementType, List<int>) _typeAndShape(Pointer<Void> info) => withArena((arena) {
    final number = arena.bytes(4).cast<Int32>();
    check(api.getTensorElementType(info, number.cast()));
    final type = ElementType.numbered(number.value);
    if (type == null) {
      throw ModelException(ModelErrorCode.unsupported, 'the model has elements of type ${number.value}');
    }
    final rank = _number((out) => api.getDimensionsCount(info, out));
    final sizes = arena.bytes(rank * 8).cast<Int64>();
    check(api.getDimensions(info, sizes.cast(), rank));
    return (type, [...sizes.asTypedList(rank)]);
  });

  /// Runs a session: an output for each of its own, in their order.
  List<GivenTensor> run(
    Pointer<Void> session,
    List<String> inputNames,
    List<FedTensor> inputs,
    List<String> outputNames,
    Pointer<Void> options,
  ) => withArena((arena) {
    final fed = <Pointer<Void>>[];
    final made = <Pointer<Void>>[];
    final given = arena.pointers([for (final _ in outputNames) nullptr]);
    try {
      for (final each in inputs) {
        if (each.value == 0) made.add(_value(arena, each));
        fed.add(each.value == 0 ? made.last : Pointer.fromAddress(each.value));
      }
      check(
        api.run(
          session,
          options,
          arena.texts([for (final each in inputs) inputNames[each.place]]).cast(),
          arena.pointers(fed).cast(),
          fed.length,
          arena.texts(outputNames).cast(),
          outputNames.length,
          given.cast(),
        ),
      );
      return _given(given, outputNames);
    } finally {
      made.forEach(api.releaseValue);
    }
  });

  List<GivenTensor> _given(Pointer<Pointer<Void>> values, List<String> names) {
    final given = <GivenTensor>[];
    try {
      for (var index = 0; index < names.length; index++) {
        given.add(_givenTensor(values[index], names[index]));
      }
      return given;
    } on Object {
      for (var index = 0; index < names.length; index++) {
        if (values[index] != nullptr) api.releaseValue(values[index]);
      }
      rethrow;
    }
  }

  GivenTensor _givenTensor(Pointer<Void> value, String name) {
    final isTensor = withArena((arena) {
      final out = arena.bytes(4).cast<Int32>();
      check(api.isTensor(value, out.cast()));
      return out.value == 1;
    });
    if (!isTensor) throw ModelException(ModelErrorCode.badModel, '`$name` is no tensor');
    final info = _made((out) => api.getTensorTypeAndShape(value, out));
    try {
      final (type, shape) = _typeAndShape(info);
      if (type == ElementType.string) return GivenTensor(type, shape, value.address, 0, _texts(value, countOf(shape)));
      final data = _made((out) => api.getTensorMutableData(value, out));
      return GivenTensor(type, shape, value.address, data.address, null);
    } finally {
      api.releaseTensorTypeAndShapeInfo(info);
    }
  }

  Pointer<Void> _value(Arena arena, FedTensor tensor) {
    final shape = arena.longs(tensor.shape).cast<Void>();
    final texts = tensor.texts;
    if (texts == null) {
      final data = Pointer<Void>.fromAddress(tensor.address);
      return _made(
        (out) => api.createTensorWithDataAsOrtValue(
          _memory,
          data,
          tensor.sizeBytes,
          shape,
          tensor.shape.length,
          tensor.type.number,
          out,
        ),
      );
    }
    final value = _made(
      (out) => api.createTensorAsOrtValue(_allocator, shape, tensor.shape.length, tensor.type.number, out),
    );
    check(api.fillStringTensor(value, arena.texts(texts).cast(), texts.length));
    return value;
  }

  List<String> _texts(Pointer<Void> value, int count) => withArena((arena) {
    final size = _number((out) => api.getStringTensorDataLength(value, out));
    final content = arena.bytes(size);
    final starts = arena.sizes(List.filled(count, 0));
    check(api.getStringTensorContent(value, content.cast(), size, starts.cast(), count));
    final bytes = Uint8List.fromList(content.asTypedList(size));
    return [
      for (var index = 0; index < count; index++)
        utf8.decode(
          Uint8List.sublistView(bytes, starts[index], index + 1 < count ? starts[index + 1] : size),
          allowMalformed: true,
        ),
    ];
  });

  /// Calls a function that writes a pointer.
  Pointer<Void> _made(Pointer<Void> Function(Pointer<Void> out) make) => withArena((arena) {
    final out = arena.pointers([nullptr]);
    check(make(out.cast()));
    return out.value;
  });

  /// Calls a function that writes a `size_t`.
  int _number(Pointer<Void> Function(Pointer<Void> out) make) => withArena((arena) {
    final out = arena.sizes([0]);
    check(make(out.cast()));
    return out.value;
  });
}

/// `OrtApiBase`.
final class _ApiBase extends Struct {
  external Pointer<Void> getApi;

  external Pointer<Void> getVersionString;
}

DynamicLibrary _opened(String name) {
  final DynamicLibrary library;
  try {
    library = DynamicLibrary.open(name);
  } on ArgumentError catch (error) {
    throw ModelException(
      ModelErrorCode.unsupported,
      'ONNX Runtime cannot be opened: ${error.message}; on a desktop name it in LoadOptions(library: ...), or for the build '
      'hook in pubspec.yaml',
    );
  }
  if (library.providesSymbol('OrtGetApiBase')) return library;
  throw ModelException(ModelErrorCode.unsupported, '$name is not ONNX Runtime');
}
