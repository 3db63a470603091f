// Gets the metadata of a channel as TUF's client workflow says, and keeps what is verified.

import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:isolate';
import 'dart:math';
import 'dart:typed_data';

import '../digest.dart';
import '../download.dart';
import '../errors.dart';
import '../requests.dart';
import 'fields.dart';
import 'packaged.dart';
import 'releases.dart';
import 'store.dart';
import 'tuf_metadata.dart';

const int _mostOfRoot = 512000;
const int _mostOfTimestamp = 16384;
const int _mostOfSnapshot = 2000000;
const int _most = 5000000;
const int _mostRoots = 256;
const int _mostDelegations = 32;

/// Ends of metadata and of bans, by a clock that is further behind, say nothing.
const int _mostDaysBehind = 30;

/// The newest releases of a model, and the metadata that vouches for them.
typedef Vouched = ({List<ChannelRelease> releases, Uint8List voucher});

/// The metadata of a channel during one update.
final class TufClient {
  /// From the folder at an address, at a time that is not before `latest`.
  TufClient(this._store, this._address, this._requests, this.latest);

  final UpdateStore _store;
  final Uri _address;
  final Requests _requests;
  final int _clock = DateTime.now().millisecondsSinceEpoch;
  late Metadata _root;
  late Metadata _snapshot;

  /// The largest time at which verified metadata was published, in milliseconds since 1970.
  int latest;

  Delivery get _delivery => _store.delivery;

  int get _daysBehind => (latest - _clock) ~/ Duration.millisecondsPerDay;

  /// Gets the newest root, timestamp and snapshot.
  ///
  /// Throws ChannelException, and ModelException `network` and `cancelled`.
  Future<void> refresh() async {
    if (_daysBehind > 0) warn('the clock of the device is $_daysBehind days behind the channel, whose time counts');
    _root = await _trusted(_store);
    latest = max(latest, _root.published);
    await _follow();
    _current(_root);
    _snapshot = await _newest('snapshot', await _timestamp(), _root);
  }

  /// The newest releases of a model; null where the channel has none.
  ///
  /// Throws what [refresh] throws.
  Future<Vouched?> releasesOf(String model) async {
    final path = _pathOf(model);
    final visited = <String>{};
    final waiting = [
      ('targets', [_root]),
    ];
    while (waiting.isNotEmpty && visited.length <= _mostDelegations) {
      final (role, delegators) = waiting.removeLast();
      if (!visited.add(role)) continue;
      final chain = [...delegators, await _newest(role, _snapshot, delegators.last)];
      if (chain.last[path] case final file?) return _releases(model, file, chain.skip(1));
      final (roles, isLast) = chain.last.delegations(path);
      if (isLast) waiting.clear();
      waiting.addAll(roles.reversed.map((each) => (each, chain)));
    }
    return null;
  }

  Future<Vouched> _releases(String model, DescribedFile file, Iterable<Metadata> chain) async {
    final place = 'releases/$model.json';
    final kept = _store.read(place);
    final isKept = kept != null && file.fits(kept);
    final bytes = isKept ? kept : await _described('targets/$model/${file.sha256}.releases.json', file, _most);
    final releases = await _parsed(bytes, model, _delivery);
    if (!isKept) await _store.keep(place, bytes);
    final metadata = {for (final each in chain) each.role: utf8.decode(each.bytes)};
    final voucher = jsonEncode({'metadata': metadata, 'releases': utf8.decode(bytes)});
    return (releases: releases, voucher: utf8.encode(voucher));
  }

  /// Each root is signed by keys of the one before: a device that was away for long follows them all.
  Future<void> _follow() async {
    for (var left = _mostRoots; left > 0; left--) {
      final name = '${_root.version + 1}.root';
      final bytes = await _asked('${_delivery.channel}/$name.json', _mostOfRoot);
      if (bytes == null) return;
      final next = await _verified(bytes, 'root', _root);
      // A thief of these keys may have published versions and times that no honest ones exceed.
      if (!['timestamp', 'snapshot'].every((each) => next.isSignedAlike(_root, each))) {
        latest = next.published;
        await _store.change((record) => record.latest = latest);
        await _store.forget(_placeOf('timestamp'));
        await _store.forget(_placeOf('snapshot'));
      }
      await _store.keep(_placeOf(name), bytes);
      _root = next;
    }
  }

  Future<Metadata> _timestamp() async {
    final kept = await _kept('timestamp', _root);
    final bytes = await _required('${_delivery.channel}/timestamp.json', _mostOfTimestamp);
    final found = await _verified(bytes, 'timestamp', _root);
    if (kept != null) {
      if (found.version == kept.version) return _current(kept);
      if (found.version < kept.version) {
        throw ChannelException('the channel was rolled back to timestamp ${found.version}: ${kept.version} was seen');
      }
      kept.requireNotOlder(found);
    }
    return _keep(found);
  }

  /// The metadata of a role, as `describing` has it.
  Future<Metadata> _newest(String role, Metadata describing, Metadata delegator) async {
    final file = describing['$role.json'];
    if (file == null) throw ChannelException('${describing.role} ${describing.version} of the channel has no $role');
    final kept = await _kept(role, delegator);
    if (kept != null && kept.version == file.version && file.fits(kept.bytes)) return _current(kept);
    final path = '${_delivery.channel}/${file.version}.${Uri.encodeComponent(role)}.json';
    final bytes = await _described(path, file, role == 'snapshot' ? _mostOfSnapshot : _most);
    final found = await _verified(bytes, role, delegator);
    if (found.version != file.version) throw ChannelException('$path of the channel is version ${found.version}');
    if (role == 'snapshot') kept?.requireNotOlder(found);
    return _keep(found);
  }

  Metadata _current(Metadata found) {
    found.requireFresh(max(_clock, latest));
    if (_daysBehind <= _mostDaysBehind) return found;
    throw ChannelException('the clock of the device is $_daysBehind days behind the channel: set it');
  }

  Future<Metadata> _keep(Metadata found) async {
    _current(found);
    await _store.keep(_placeOf(found.role), found.bytes);
    return found;
  }

  /// Null for metadata that is not on the device, or that `delegator` does not vouch for any more.
  Future<Metadata?> _kept(String role, Metadata delegator) async {
    final bytes = _store.read(_placeOf(role));
    try {
      return bytes == null ? null : await _verified(bytes, role, delegator);
    } on ChannelException catch (refused) {
      warn('metadata is fetched anew: ${refused.message}');
      return null;
    }
  }

  Future<Metadata> _verified(Uint8List bytes, String role, Metadata delegator) async {
    final found = await _read(bytes, role, delegator, _delivery);
    latest = max(latest, found.published);
    return found;
  }

  Future<Uint8List> _described(String path, DescribedFile file, int most) async {
    final bytes = await _required(path, min(file.length ?? most, most));
    if (!file.fits(bytes)) throw ChannelException('$path is not the file that the channel describes');
    return bytes;
  }

  Future<Uint8List> _required(String path, int most) async =>
      await _asked(path, most) ?? (throw _failed(path, 'does not have it'));

  /// Null for a file that the server does not have.
  Future<Uint8List?> _asked(String path, int most) async {
    final deadline = Deadline(_requests.pace.metadata);
    try {
      return await _requests.ask(_address.resolve(path), const {}, deadline, (answer) async {
        if (answer.statusCode == HttpStatus.notFound) return null;
        if (answer.statusCode != HttpStatus.ok) throw _failed(path, 'answers with status ${answer.statusCode}');
        final found = BytesBuilder(copy: false);
        await for (final piece in _requests.pieces(answer, deadline)) {
          found.add(piece);
          if (found.length > most) throw _failed(path, 'sends more than $most bytes');
          deadline.reached(found.length);
        }
        return found.takeBytes();
      });
    } on ModelException {
      rethrow;
    } on TimeoutException {
      throw _failed(path, 'takes too long');
    } on Exception catch (failure) {
      throw _failed(path, 'cannot be asked: ${wordsOf(failure)}');
    }
  }

  ModelException _failed(String path, String answer) =>
      ModelException(ModelErrorCode.network, 'cannot download ${_address.resolve(path)}: the server $answer');
}

/// The releases of a model that a kept voucher names; null where it is damaged, or signed with keys that do not count any
/// more.
Future<List<ChannelRelease>?> vouchedReleases(UpdateStore store, String voucher, String model) => Isolate.run(() {
  try {
    final bytes = store.read('$vouchers/$voucher.json');
    if (bytes == null || hexOf(sha256Of(bytes)) != voucher) throw const FormatException('it has changed');
    final found = Fields(jsonDecode(utf8.decode(bytes)));
    final metadata = found.member('metadata');
    final path = _pathOf(model);
    final root = _keptRoot(store);
    var delegator = root;
    for (final role in metadata.all) {
      final isLeft = delegator == root ? role == 'targets' : delegator.delegations(path).$1.contains(role);
      if (!isLeft) throw FormatException('$role has no say');
      delegator = Metadata.of(utf8.encode(metadata.text(role)), role, delegator, store.delivery);
    }
    final releases = utf8.encode(found.text('releases'));
    return delegator[path]?.fits(releases) ?? false ? releasesIn(releases, model, store.delivery) : null;
  } on FormatException catch (damaged) {
    warn('what vouches for $model is damaged: ${damaged.message}');
  } on ChannelException catch (refused) {
    warn(refused.message);
  }
  return null;
});

Future<Metadata> _trusted(UpdateStore store) => Isolate.run(() => _keptRoot(store));

/// The root that was shipped with the app, or the last of those on the device that follow from it.
Metadata _keptRoot(UpdateStore store) {
  var root = Metadata.of(utf8.encode(store.delivery.root), 'root', null, store.delivery);
  while (true) {
    final next = store.read(_placeOf('${root.version + 1}.root'));
    if (next == null) return root;
    try {
      root = Metadata.of(next, 'root', root, store.delivery);
    } on ChannelException catch (refused) {
      warn(refused.message);
      return root;
    }
  }
}

/// In another isolate. A closure of a method would take its object along.
Future<Metadata> _read(Uint8List bytes, String role, Metadata delegator, Delivery delivery) =>
    Isolate.run(() => Metadata.of(bytes, role, delegator, delivery));

Future<List<ChannelRelease>> _parsed(Uint8List bytes, String model, Delivery delivery) =>
    Isolate.run(() => releasesIn(bytes, model, delivery));

String _pathOf(String model) => '$model/releases.json';

String _placeOf(String role) => 'metadata/${Uri.encodeComponent(role)}.json';
