// From a sound, as microphones and decoders have it, to the tensors of a model.

import 'dart:typed_data';

import 'errors.dart';
import 'tensor.dart';

/// A recording of any length and rate, or a sound that a model made; channels are interleaved.
final class Sound {
  /// Samples from -1 to 1.
  Sound(Float32List samples, {required this.rate, this.channels = 1})
    : _floats = samples,
      _shorts = null,
      _place = _whole;

  /// Whole numbers of 16 bits.
  Sound.pcm(Int16List samples, {required this.rate, this.channels = 1})
    : _floats = null,
      _shorts = samples,
      _place = _whole;

  Sound._piece(Float32List samples, this.rate, this.channels, this._place) : _floats = samples, _shorts = null;

  final Float32List? _floats;
  final Int16List? _shorts;
  final List<int> _place;

  /// Frames per second, such as 44100.
  final int rate;

  /// Samples of a frame.
  final int channels;

  /// Samples from -1 to 1.
  Float32List get samples => _floats ?? Float32List.fromList([for (final each in _shorts!) each / _full]);

  Int16List get _integers => _shorts ?? Int16List.fromList([for (final each in _floats!) _quantized(each)]);

  /// A `.wav` file with whole numbers of 16 bits; what is too loud is cut off.
  Uint8List toWav() {
    final whole = _integers;
    final size = 2 * whole.length;
    final file = ByteData(_header + size);
    final sizes = [2 * channels * rate, (16 << 16) | (2 * channels)];
    final header = [_riff, _header - 8 + size, _wave, _fmt, 16, (channels << 16) | 1, rate, ...sizes, _data, size];
    for (final (at, word) in header.indexed) {
      file.setUint32(4 * at, word, Endian.little);
    }
    for (final (at, sample) in whole.indexed) {
      file.setInt16(_header + 2 * at, sample, Endian.little);
    }
    return file.buffer.asUint8List();
  }
}

/// The place of a sound that is not a part of a stream.
const List<int> _whole = [0, 0, 0];

/// A part of a stream: `place` is the time from the first of the samples to the first that the model takes, and the zeros
/// before and after those that it takes.
Sound soundPiece(Float32List samples, {required int rate, required int channels, required List<int> place}) =>
    Sound._piece(samples, rate, channels, place);

/// Bytes of a `.wav` file before its samples.
const int _header = 44;

/// Four letters each.
const int _riff = 0x46464952, _wave = 0x45564157, _fmt = 0x20746d66, _data = 0x61746164;

/// The sound of a model: silence where it gives no number.
Sound soundOf(Tensor<Float32List> samples, int rate, int channels) {
  final heard = Float32List.fromList([for (final each in samples.data) each.isNaN ? 0 : each]);
  return Sound(heard, rate: rate, channels: channels);
}

/// Divisor of whole numbers of 16 bits.
const int _full = 32768;

/// Tensors that models take of a sound.
final class SoundTensors<Samples extends Object> {
  SoundTensors._(this.samples, Sound sound) : rate = TensorInput([sound.rate]), place = TensorInput(sound._place);

  /// One row for each frame.
  final TensorInput<Samples> samples;

  /// Frames per second.
  final TensorInput<List<int>> rate;

  /// Zeros for a whole sound.
  final TensorInput<List<int>> place;
}

/// The tensors of `sound`, the parameter `name`, for a model that takes samples from -1 to 1.
///
/// Throws ModelException `badInput`, saying what is wrong with the sound.
SoundTensors<Float32List> soundTensors(String name, Sound sound) {
  final shape = _shapeOf(name, sound);
  return SoundTensors._(TensorInput(sound.samples, shape: shape), sound);
}

/// The tensors of `sound` for a model that takes whole numbers of 16 bits; what is too loud is cut off.
///
/// Throws ModelException `badInput`, saying what is wrong with the sound.
SoundTensors<Int16List> pcmTensors(String name, Sound sound) {
  final shape = _shapeOf(name, sound);
  return SoundTensors._(TensorInput(sound._integers, shape: shape), sound);
}

List<int> _shapeOf(String name, Sound sound) {
  final Sound(:rate, :channels) = sound;
  final length = sound._floats?.length ?? sound._shorts!.length;
  if (rate < 1000 || rate > 768000) throw _refused(name, 'has rate $rate, which is not from 1000 to 768000');
  if (channels < 1) throw _refused(name, 'has $channels channels');
  if (length == 0) throw _refused(name, 'has no samples');
  if (length % channels != 0) throw _refused(name, 'has $length samples, no multiple of its $channels channels');
  return [length ~/ channels, channels];
}

int _quantized(double sample) => sample.isNaN ? 0 : (sample * _full + 0.5).clamp(-_full, _full - 1).floor();

/// The first frame of a sound that was checked: for runs that take a sound and do not read it.
Sound firstFrame(Sound sound) {
  final Sound(:rate, :channels, _floats: floats, _shorts: shorts) = sound;
  if (floats != null) return Sound(Float32List.sublistView(floats, 0, channels), rate: rate, channels: channels);
  return Sound.pcm(Int16List.sublistView(shorts!, 0, channels), rate: rate, channels: channels);
}

ModelException _refused(String name, String words) => ModelException(ModelErrorCode.badInput, 'sound `$name` $words');
