// Requests to servers: by https alone, with an end, and cancelled with the load that they are for.

import 'dart:async';
import 'dart:io';

import 'cancellation.dart';
import 'errors.dart';

const int _redirects = 5;
const Set<int> _redirection = {301, 302, 303, 307, 308};

/// How patient downloads are.
final class Pace {
  /// The times of all apps, unless a test has others.
  const Pace({
    this.attempts = 5,
    this.firstPause = const Duration(milliseconds: 500),
    this.stall = const Duration(seconds: 30),
  });

  /// Requests in a row that may bring nothing.
  final int attempts;

  /// After the first that brought nothing; each further one is twice as long.
  final Duration firstPause;

  /// A connection that brings nothing for so long is given up.
  final Duration stall;
}

/// The folder at an address, below which files are asked for.
///
/// Throws ModelException `badOptions` for another address.
Uri folderAt(String address) {
  final folder = Uri.tryParse(address);
  if (folder != null && folder.isScheme('https') && folder.host.isNotEmpty && folder.path.endsWith('/')) return folder;
  throw ModelException(ModelErrorCode.badOptions, '$address is not the https address of a folder, with / at its end');
}

/// The requests of one load or update.
final class Requests {
  /// With connections of their own, which [close] ends.
  Requests(this.cancellation, {this.pace = const Pace()}) : _client = HttpClient() {
    _client
      ..connectionTimeout = pace.stall
      ..autoUncompress = false;
    _forget = cancellation?.listen(() => _client.close(force: true));
  }

  /// Ends all of them.
  final Cancellation? cancellation;

  /// How patient they are.
  final Pace pace;

  final HttpClient _client;
  late final void Function()? _forget;

  /// Throws ModelException `cancelled` after a cancellation.
  void check() {
    if (cancellation?.isCancelled ?? false) {
      throw const ModelException(ModelErrorCode.cancelled, 'the download was cancelled');
    }
  }

  /// Asks for `address`, follows redirects to https, and gives the answer to `take`.
  ///
  /// Throws ModelException `cancelled` and `network`, the latter for an answer that leads elsewhere; [IOException] or
  /// [TimeoutException] for a connection that fails.
  Future<T> ask<T>(Uri address, Map<String, String> headers, Future<T> Function(HttpClientResponse answer) take) async {
    var next = address;
    try {
      for (var left = _redirects; ; left--) {
        check();
        final answer = await _send(next, headers);
        try {
          final location = answer.headers.value(HttpHeaders.locationHeader);
          if (!_redirection.contains(answer.statusCode) || location == null) return await take(answer);
          next = _after(next, location, address, left);
        } finally {
          await _end(answer);
        }
      }
    } on Object {
      check(); // what a cancellation ends fails in many ways
      rethrow;
    }
  }

  Future<HttpClientResponse> _send(Uri address, Map<String, String> headers) async {
    final request = await _client.getUrl(address).timeout(pace.stall);
    request.followRedirects = false;
    // Compressed on its way, a part would be one of the compressed file.
    request.headers.set(HttpHeaders.acceptEncodingHeader, 'identity');
    headers.forEach(request.headers.set);
    try {
      return await request.close().timeout(pace.stall);
    } on TimeoutException {
      request.abort();
      rethrow;
    }
  }

  Uri _after(Uri address, String location, Uri first, int left) {
    final next = Uri.tryParse(location);
    final absolute = next == null ? null : address.resolveUri(next);
    if (absolute == null || left == 0 || !absolute.isScheme('https')) {
      throw ModelException(ModelErrorCode.network, 'cannot download $first: the server redirects to $location');
    }
    return absolute;
  }

  /// Ends the connection of an answer that nobody has read.
  Future<void> _end(HttpClientResponse answer) async {
    try {
      await answer.listen((_) {}).cancel();
    } on StateError {
      return; // it was read
    }
  }

  /// Waits, unless it is cancelled.
  Future<void> pause(Duration time) async {
    check();
    final waited = Completer<void>();
    void end() {
      if (!waited.isCompleted) waited.complete();
    }

    final timer = Timer(time, end);
    final forget = cancellation?.listen(end);
    await waited.future;
    timer.cancel();
    forget?.call();
    check();
  }

  /// Ends all connections.
  void close() {
    _forget?.call();
    _client.close(force: true);
  }
}
