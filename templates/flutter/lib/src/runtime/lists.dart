// Several texts in one run of a model, and a result for each.

import 'dart:math' as math;
import 'dart:typed_data';

import 'errors.dart';
import 'ranking.dart';
import 'tensor.dart';

/// Stands between the code points of two texts.
const int _between = -2;

/// Replaces the code points of an empty text.
const int _nothing = -1;

/// Documents of one run.
const int _rankedAtOnce = 8;

/// The code points of several texts.
TensorInput<Int32List> textsTensor(List<String> texts) => TensorInput(
  Int32List.fromList([
    for (final (number, text) in texts.indexed) ...[
      if (number > 0) _between,
      if (text.isEmpty) _nothing else ...text.runes,
    ],
  ]),
);

/// The number of results for texts, or for pairs of texts. A list of one text goes with each text of the other list.
///
/// Throws ModelException `badInput` for lists of other lengths.
int rowCount(List<List<String>> given) {
  final sizes = [for (final texts in given) texts.length];
  final most = sizes.reduce(math.max);
  if (sizes.contains(0) && most <= 1) return 0;
  if (sizes.every((size) => size == most || size == 1)) return most;
  throw ModelException(
    ModelErrorCode.badInput,
    '${sizes.join(' and ')} texts are no pairs: pass as many of each, or one',
  );
}

/// The rows of every tensor: row after row, one of each.
Iterable<List<Tensor<Object>>> rowsOf(List<Tensor<Object>> given, int count) sync* {
  for (var row = 0; row < count; row++) {
    yield [for (final tensor in given) _rowOf(tensor, row, count)];
  }
}

Tensor<Object> _rowOf(Tensor<Object> tensor, int row, int count) {
  final data = tensor.data as List<Object?>;
  final size = data.length ~/ count;
  return Tensor(data.sublist(size * row, size * (row + 1)), [1, ...tensor.shape.skip(1)]);
}

/// The places of `documents` by the scores that `scored` gives to some of them at once.
Future<List<Ranked>> rankedInLists(
  List<String> documents,
  Future<List<double>> Function(List<String> documents) scored,
) async {
  final scores = <double>[];
  for (var first = 0; first < documents.length; first += _rankedAtOnce) {
    scores.addAll(await scored(documents.sublist(first, math.min(first + _rankedAtOnce, documents.length))));
  }
  return ranked(scores);
}
