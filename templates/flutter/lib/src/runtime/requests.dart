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
    this.metadata = const Duration(seconds: 30),
    this.file = const Duration(minutes: 2),
  });

  /// Requests in a row that may bring nothing.
  final int attempts;

  /// After the first that brought nothing; each further one is twice as long.
  final Duration firstPause;

  /// A connection that brings nothing for so long is given up.
  final Duration stall;

  /// For a file of a channel's metadata, its redirections included; bytes that come earn more.
  final Duration metadata;

  /// For a file, its redirections and further attempts included; bytes that come earn more.
  final Duration file;
}

const int _leastBytesPerSecond = 16 * 1024;

/// The end of a download: a server that sends a byte now and then must not hold it for hours.
final class Deadline {
  /// After some time, and more for each byte that has come beyond the first ones.
  Deadline(this._time, {int from = 0}) : _from = from, _most = from;

  final Duration _time;
  final int _from;
  int _most;
  final Stopwatch _clock = Stopwatch()..start();

  /// Until the end; zero after it.
  Duration get left {
    final earned = Duration(milliseconds: (_most - _from) * 1000 ~/ _leastBytesPerSecond);
    final left = _time + earned - _clock.elapsed;
    return left.isNegative ? Duration.zero : left;
  }

  /// Whether it has come.
  bool get isOver => left == Duration.zero;

  /// The file has come up to byte `size`: what comes twice earns nothing.
  void reached(int size) {
    if (size > _most) _most = size;
  }
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

  /// Asks for `address`, follows redirects to https, and gives the answer to `take`, before the `deadline`.
  ///
  /// Throws ModelException `cancelled` and `network`, the latter for an answer that leads elsewhere; [IOException] or
  /// [TimeoutException] for a connection that fails.
  Future<T> ask<T>(
    Uri address,
    Map<String, String> headers,
    Deadline deadline,
    Future<T> Function(HttpClientResponse answer) take,
  ) async {
    var next = address;
    try {
      for (var left = _redirects; ; left--) {
        check();
        final answer = await _send(next, headers, deadline);
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

  Future<HttpClientResponse> _send(Uri address, Map<String, String> headers, Deadline deadline) async {
    final request = await _client.getUrl(address).timeout(_patience(deadline));
    request.followRedirects = false;
    // Compressed on its way, a part would be one of the compressed file.
    request.headers.set(HttpHeaders.acceptEncodingHeader, 'identity');
    headers.forEach(request.headers.set);
    try {
      return await request.close().timeout(_patience(deadline));
    } on TimeoutException {
      request.abort();
      rethrow;
    }
  }

  Duration _patience(Deadline deadline) => deadline.left < pace.stall ? deadline.left : pace.stall;

  /// Pieces of an answer that come before the `deadline`.
  ///
  /// Throws [TimeoutException] after it, and when nothing comes.
  Stream<List<int>> pieces(HttpClientResponse answer, Deadline deadline) async* {
    final pieces = StreamIterator(answer);
    try {
      while (await pieces.moveNext().timeout(_patience(deadline))) {
        yield pieces.current;
      }
    } finally {
      await pieces.cancel();
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
