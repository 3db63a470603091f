// Comparing embeddings.

import 'dart:math' as math;
import 'dart:typed_data';

import 'errors.dart';
import 'ranking.dart';

/// Compares embeddings.
abstract final class Similarity {
  /// The cosine of the angle between two vectors, from -1 to 1: 1 where they point the same way, 0 where one of them is
  /// zero.
  ///
  /// Throws ModelException `badInput` for vectors of different lengths.
  static double cosine(Float32List first, Float32List second) {
    if (first.length != second.length) {
      throw ModelException(
        ModelErrorCode.badInput,
        'vectors of ${first.length} and ${second.length} numbers cannot be compared',
      );
    }
    final length = math.sqrt(_dot(first, first)) * math.sqrt(_dot(second, second));
    return length == 0 ? 0 : (Float32List(1)..first = _dot(first, second) / length).first;
  }

  /// The places of the `count` vectors that are most like `query`, with their cosines: best first, and of equal ones the
  /// first.
  ///
  /// Throws ModelException `badInput` for vectors of different lengths, `badOptions` for a `count` below 1.
  static List<Ranked> nearest(Float32List query, List<Float32List> vectors, int count) {
    if (count < 1) throw ModelException(ModelErrorCode.badOptions, 'count is $count, the least is 1');
    return ranked([for (final each in vectors) cosine(query, each)]).take(count).toList();
  }
}

/// Added up from the first on, so that the sum is the same on every platform.
double _dot(Float32List first, Float32List second) {
  var sum = 0.0;
  for (var index = 0; index < first.length; index++) {
    sum += first[index] * second[index];
  }
  return sum;
}
