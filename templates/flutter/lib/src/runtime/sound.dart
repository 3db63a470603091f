// From a sound, as microphones and decoders have it, to the tensors of a model.

import 'dart:typed_data';

import 'errors.dart';
import 'tensor.dart';

/// A recording of any length and rate; channels are interleaved.
final class Sound {
  /// Samples from -1 to 1.
  Sound(Float32List samples, {required this.rate, this.channels = 1}) : _floats = samples, _shorts = null;

  /// Whole numbers of 16 bits.
  Sound.pcm(Int16List samples, {required this.rate, this.channels = 1}) : _floats = null, _shorts = samples;

  final Float32List? _floats;
  final Int16List? _shorts;

  /// Frames per second, such as 44100.
  final int rate;

  /// Samples of a frame.
  final int channels;
}

/// Divisor of whole numbers of 16 bits.
const int _full = 32768;

/// Tensors that models take of a sound.
final class SoundTensors<Samples extends Object> {
  SoundTensors._(this.samples, this.rate);

  /// One row for each frame.
  final TensorInput<Samples> samples;

  /// Frames per second.
  final TensorInput<List<int>> rate;
}

/// The tensors of `sound`, the parameter `name`, for a model that takes samples from -1 to 1.
///
/// Throws ModelException `badInput`, saying what is wrong with the sound.
SoundTensors<Float32List> soundTensors(String name, Sound sound) {
  final shape = _shapeOf(name, sound);
  final shorts = sound._shorts ?? Int16List(0);
  final samples = sound._floats ?? Float32List.fromList([for (final each in shorts) each / _full]);
  return SoundTensors._(TensorInput(samples, shape: shape), _rate(sound));
}

/// The tensors of `sound` for a model that takes whole numbers of 16 bits; what is too loud is cut off.
///
/// Throws ModelException `badInput`, saying what is wrong with the sound.
SoundTensors<Int16List> pcmTensors(String name, Sound sound) {
  final shape = _shapeOf(name, sound);
  final floats = sound._floats ?? Float32List(0);
  final samples = sound._shorts ?? Int16List.fromList([for (final each in floats) _quantized(each)]);
  return SoundTensors._(TensorInput(samples, shape: shape), _rate(sound));
}

TensorInput<List<int>> _rate(Sound sound) => TensorInput([sound.rate]);

List<int> _shapeOf(String name, Sound sound) {
  final Sound(:rate, :channels) = sound;
  final length = sound._floats?.length ?? sound._shorts!.length;
  if (rate < 1000 || rate > 768000) throw _refused(name, 'has rate $rate, which is not from 1000 to 768000');
  if (channels < 1) throw _refused(name, 'has $channels channels');
  if (length == 0) throw _refused(name, 'has no samples');
  if (length % channels != 0) throw _refused(name, 'has $length samples, no multiple of its $channels channels');
  return [length ~/ channels, channels];
}

int _quantized(double sample) => sample.isNaN ? 0 : (sample * _full).round().clamp(-_full, _full - 1);

/// The first frame of a sound that was checked: for runs that take a sound and do not read it.
Sound firstFrame(Sound sound) {
  final Sound(:rate, :channels, _floats: floats, _shorts: shorts) = sound;
  if (floats != null) return Sound(Float32List.sublistView(floats, 0, channels), rate: rate, channels: channels);
  return Sound.pcm(Int16List.sublistView(shorts!, 0, channels), rate: rate, channels: channels);
}

ModelException _refused(String name, String words) => ModelException(ModelErrorCode.badInput, 'sound `$name` $words');
