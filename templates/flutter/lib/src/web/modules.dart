// The modules of the package for pages, and the sources that only pages have.

import 'dart:js_interop';
import 'dart:js_interop_unsafe';

import '../runtime/cancellation.dart';
import '../runtime/errors.dart';
import '../runtime/options.dart';
import 'address_page.dart' if (dart.library.ui_web) 'address_engine.dart';
import 'interop.dart';

/// A source that JavaScript knows, such as that of an updater.
abstract base class PageSource extends MadeSource {
  /// For classes that know it.
  const PageSource();

  /// The source as JavaScript takes it.
  Future<JSObject> given();
}

/// A module of `package`: among the assets of the app, or in the copy of the package's folder that `library` names.
///
/// Throws ModelException `missing`.
Future<JSObject> moduleOf(String package, String module, String? library) async {
  final isFolder = library != null && library.endsWith('/');
  final place = isFolder ? '$library$module' : addressOf('packages/$package/$module');
  final address = absolute(place);
  try {
    return await settled(importModule(address.toJS));
  } on ModelException catch (error) {
    throw ModelException(ModelErrorCode.missing, '$address: ${error.message}');
  }
}

/// An address that is relative to the page; as it is, where there is no page.
String absolute(String address) {
  final document = globalContext.getProperty<JSObject?>('document'.toJS);
  final base = document?.getProperty<JSString?>('baseURI'.toJS)?.toDart;
  return base == null ? address : Uri.parse(base).resolve(address).toString();
}

/// The source of a model as JavaScript takes it.
///
/// Throws ModelException `unsupported` for one that pages do not have.
Future<JSAny> sourceOf(ModelSource source) async {
  switch (source) {
    case BundledSource():
      return 'bundled'.toJS;
    case PathSource(:final path, :final sha256):
      final given = JSObject()..setProperty('path'.toJS, absolute(path).toJS);
      if (sha256 != null) given.setProperty('sha256'.toJS, sha256.toJS);
      return given;
    case UrlSource(:final address):
      return JSObject()..setProperty('url'.toJS, address.toJS);
    case PageSource():
      return source.given();
    default:
      throw const ModelException(
        ModelErrorCode.unsupported,
        'pages have no folders: use ModelSource.bundled(), ModelSource.url(address) or ModelSource.path(address)',
      );
  }
}

/// Runs `call` with a signal that `cancellation` aborts; with null where there is none.
Future<Result> withSignal<Result>(Cancellation? cancellation, Future<Result> Function(JSObject? signal) call) async {
  if (cancellation == null) return call(null);
  final controller = AbortController();
  if (cancellation.isCancelled) controller.abort();
  final forget = cancellation.listen(controller.abort);
  try {
    return await call(controller.signal);
  } finally {
    forget();
  }
}
