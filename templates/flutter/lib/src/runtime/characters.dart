// Text as models take it.

import 'dart:typed_data';

import 'tensor.dart';

/// The tensor of a text: its code points, or -1 for an empty one.
TensorInput<Int32List> textTensor(String text) =>
    TensorInput(Int32List.fromList(text.isEmpty ? const [-1] : text.runes.toList()));
