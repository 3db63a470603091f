// The steps of pipelines: what a model gets of another one's boxes.

import 'dart:typed_data';

import 'boxes.dart';
import 'cancellation.dart';
import 'errors.dart';
import 'picture.dart';
import 'planes.dart';
import 'typed_model.dart';

/// By [PictureOrientation.index], what makes the stored picture upright: whether rows become columns, then whether the
/// order of columns, then that of rows is reversed.
const List<(bool, bool, bool)> _turns = [
  (false, false, false),
  (false, true, false),
  (false, true, true),
  (false, false, true),
  (true, false, false),
  (true, true, false),
  (true, true, true),
  (true, false, true),
];

/// The part of a picture that `box` touches, in whole pixels as they lie in memory: at least one, and none outside.
Picture partOf(Picture picture, Box box) {
  final Picture(:format, :orientation) = picture;
  final whole = picture.region ?? Region(0, 0, picture.width, picture.height);
  final (across, down) = (whole.right - whole.left, whole.bottom - whole.top);
  final (swaps, mirrors, flips) = _turns[orientation.index];
  final columns = _span(box.left, box.right, swaps ? down : across, isReversed: mirrors);
  final rows = _span(box.top, box.bottom, swaps ? across : down, isReversed: flips);
  final ((left, right), (top, bottom)) = swaps ? (rows, columns) : (columns, rows);
  final unit = format.hasChroma ? 2 : 1;
  return Picture(
    picture.pixels,
    width: picture.width,
    height: picture.height,
    format: format,
    rowBytes: picture.rowBytes,
    chroma: picture.chroma,
    chromaRowBytes: picture.chromaRowBytes,
    conversion: picture.conversion,
    orientation: orientation,
    region: Region(
      whole.left + left - left % unit,
      whole.top + top - top % unit,
      whole.left + right + right % unit,
      whole.top + bottom + bottom % unit,
    ),
  );
}

/// The first pixel of a line of `size`, and the one behind the last.
(int, int) _span(double start, double end, int size, {required bool isReversed}) {
  final first = (start.isFinite ? start.floor() : 0).clamp(0, size - 1);
  final last = (end.isFinite ? end.ceil() : 0).clamp(first + 1, size);
  return isReversed ? (size - last, size - first) : (first, last);
}

/// `boxes`, unless there are more than `most`.
///
/// Throws ModelException `runtime`.
List<Detection> atMost(int most, String pipeline, List<Detection> boxes) {
  if (boxes.length <= most) return boxes;
  throw ModelException(
    ModelErrorCode.runtime,
    'pipeline `$pipeline`: ${boxes.length} boxes, and it takes $most at most',
  );
}

/// Whether the score of a box is `least` or more, as 32-bit floats.
bool reaches(double least, Detection box) => box.score >= (Float32List(1)..[0] = least)[0];

/// Throws ModelException `cancelled` after [Cancellation.cancel].
void endIfCancelled(Cancellation? cancellation) {
  if (cancellation?.isCancelled ?? false) {
    throw const ModelException(ModelErrorCode.cancelled, 'the run of the pipeline was cancelled');
  }
}

/// The model that `loading` gives. Where it fails, the models `before` are disposed of in their order.
Future<Model> loadedAfter<Model>(List<TypedModel<Object?, Object?>> before, Future<Model> loading) async {
  try {
    return await loading;
  } on Object {
    for (final each in before) {
      await each.dispose();
    }
    rethrow;
  }
}
