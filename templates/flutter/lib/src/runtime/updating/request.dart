// Asks a server for the newest document of a channel.

import 'dart:async';
import 'dart:io';
import 'dart:typed_data';

import '../download.dart';
import '../errors.dart';
import '../requests.dart';

/// Largest size of a document with its signature.
const int _mostBytes = 2 << 20;

/// A server's answer to a request for a document.
final class ChannelAnswer {
  /// With a document.
  const ChannelAnswer(this.bundle, this.etag);

  /// Null when it is the one that the device has.
  final Uint8List? bundle;

  /// Empty for none.
  final String etag;
}

/// The document, unless its ETag is still `etag`, which is empty for none.
///
/// Throws ModelException `network` when the server does not give it, and `cancelled`.
Future<ChannelAnswer> askForDocument(Uri address, String etag, Requests requests) async {
  final deadline = Deadline(requests.pace.document);
  Never refuse(String answer) =>
      throw ModelException(ModelErrorCode.network, 'cannot download $address: the server $answer');
  try {
    final headers = {if (etag.isNotEmpty) HttpHeaders.ifNoneMatchHeader: etag};
    return await requests.ask(address, headers, deadline, (answer) async {
      switch (answer.statusCode) {
        case HttpStatus.notModified:
          return ChannelAnswer(null, etag);
        case HttpStatus.ok:
          final found = BytesBuilder(copy: false);
          await for (final piece in requests.pieces(answer, deadline)) {
            found.add(piece);
            if (found.length > _mostBytes) refuse('sends more than $_mostBytes bytes');
          }
          return ChannelAnswer(found.takeBytes(), answer.headers.value(HttpHeaders.etagHeader) ?? '');
        default:
          refuse('answers with status ${answer.statusCode}');
      }
    });
  } on ModelException {
    rethrow;
  } on TimeoutException {
    refuse('takes too long');
  } on Exception catch (failure) {
    throw ModelException(ModelErrorCode.network, 'cannot download $address: ${wordsOf(failure)}');
  }
}
