"""Keras' and TensorFlow's models for the tests of `mobpack import`: trained, saved and imported in one process of their
environment, because starting TensorFlow takes longer than all the rest.

`python -m tests.toolchain.keras_models FOLDER` is that process.
"""

import sys
from pathlib import Path
from typing import Any

from tests.toolchain.importing import write_answers

SOURCES = """
digits.keras digits.h5 digits digits.tflite digits_int8.tflite named.keras recurrent.keras gelu.keras wide.keras
lambda.keras custom.keras subclass cut.keras cut.h5 text.h5 text.tflite counting.tflite
sparse.tflite started.tflite weights.h5
two_signatures no_signature writes
unmovable.keras
""".split()
"""Files and folders that `save_all` writes."""


def digits() -> Any:
    """A net that tells four bright corners apart, trained until it does."""
    import keras
    import numpy

    keras.utils.set_random_seed(0)
    numbers = numpy.random.default_rng(0)
    labels = numpy.arange(256) % 4
    images = numbers.random((256, 12, 12, 1), dtype=numpy.float32) / 2
    for image, label in zip(images, labels, strict=True):
        row, column = 6 * (label // 2), 6 * (label % 2)
        image[row : row + 6, column : column + 6] += 0.5
    image = keras.Input((12, 12, 1), name="image")
    hidden = keras.layers.Conv2D(8, 3, padding="same", strides=2)(image)
    hidden = keras.layers.BatchNormalization()(hidden)
    hidden = keras.layers.ReLU()(hidden)
    hidden = keras.layers.Flatten()(keras.layers.MaxPooling2D()(hidden))
    model = keras.Model(image, keras.layers.Dense(4, activation="softmax", name="scores")(hidden))
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(images, labels, epochs=12, batch_size=32, verbose=0)
    assert (model(images).numpy().argmax(1) == labels).mean() > 0.95
    return model


def save_all(folder: Path) -> None:
    """Writes SOURCES."""
    import keras
    import tensorflow as tf

    model = digits()
    for name in ("digits.keras", "digits.h5"):
        model.save(folder / name)
    model.export(folder / "digits", verbose=False)
    converter = tf.lite.TFLiteConverter.from_saved_model(str(folder / "digits"))
    (folder / "digits.tflite").write_bytes(converter.convert())
    (folder / "digits_int8.tflite").write_bytes(_int8(converter))
    keras.utils.set_random_seed(1)
    _nets(folder)
    _modules(folder)
    _sparse(folder)
    (folder / "cut.keras").write_bytes((folder / "digits.keras").read_bytes()[:3000])
    (folder / "cut.h5").write_bytes((folder / "digits.h5").read_bytes()[:3000])
    (folder / "text.h5").write_text("weights", encoding="utf-8")
    (folder / "text.tflite").write_text("weights of a model", encoding="utf-8")


def _int8(converter: Any) -> bytes:
    import numpy
    import tensorflow as tf

    numbers = numpy.random.default_rng(2)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([numbers.random((1, 12, 12, 1), numpy.float32)] for _ in range(8))
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    made: bytes = converter.convert()
    return made


def _nets(folder: Path) -> None:
    """Nets with random weights: what matters is their form."""
    import keras
    from keras import layers

    left, right = keras.Input((4,), name="left"), keras.Input((4,), name="right")
    outputs = {"sum": layers.Dense(2)(left + right), "both": layers.Concatenate()([left, right * 2])}
    keras.Model({"right": right, "left": left}, outputs).save(folder / "named.keras")
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    hidden = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(layers.Embedding(20, 6)(tokens))
    keras.Model(tokens, layers.GRU(3)(hidden)).save(folder / "recurrent.keras")
    keras.Sequential([keras.Input((6,)), layers.Dense(4, activation="gelu")]).save(folder / "gelu.keras")
    picture = keras.Input((None, None, 3))
    hidden = layers.Conv2D(4, 3, strides=2, padding="same")(picture)
    keras.Model(picture, layers.Conv2DTranspose(2, 3, strides=2, padding="same")(hidden)).save(folder / "wide.keras")
    keras.Sequential([keras.Input((4,)), layers.Lambda(lambda x: x * 2)]).save(folder / "lambda.keras")

    class Triple(layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            return x * 3

    keras.Sequential([keras.Input((4,)), Triple()]).save(folder / "custom.keras")
    keras.Model(picture, layers.UpSampling2D(2, interpolation="bilinear")(picture)).save(folder / "unmovable.keras")

    class Subclassed(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(3)

        def call(self, x: Any) -> Any:
            return {"score": self.dense(x)}

    import numpy

    model = Subclassed()
    model(numpy.zeros((2, 4), numpy.float32))
    model.export(folder / "subclass", verbose=False)


def _modules(folder: Path) -> None:
    import tensorflow as tf

    class Doubles(tf.Module):  # type: ignore[misc]
        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])  # type: ignore[untyped-decorator]
        def double(self, x: Any) -> Any:
            return x * 2

    class Writes(tf.Module):  # type: ignore[misc]
        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])  # type: ignore[untyped-decorator]
        def write(self, x: Any) -> Any:
            tf.io.write_file("elsewhere.txt", "text")
            return x

    class Counts(tf.Module):  # type: ignore[misc]
        def __init__(self, start: float) -> None:
            super().__init__()
            self.sum = tf.Variable(tf.fill([4], start))

        @tf.function(input_signature=[tf.TensorSpec([1, 4], tf.float32)])  # type: ignore[untyped-decorator]
        def count(self, x: Any) -> Any:
            return x + self.sum.assign_add(x[0])

    doubles, writes = Doubles(), Writes()
    both = {"one": doubles.double, "other": doubles.double}
    tf.saved_model.save(doubles, str(folder / "two_signatures"), signatures=both)
    tf.saved_model.save(writes, str(folder / "writes"), signatures=writes.write)
    tf.saved_model.save(tf.Module(), str(folder / "no_signature"))
    for name, counts in (("counting", Counts(0.0)), ("started", Counts(1.0))):
        converter = tf.lite.TFLiteConverter.from_concrete_functions([counts.count.get_concrete_function()], counts)
        converter.experimental_enable_resource_variables = True
        (folder / f"{name}.tflite").write_bytes(converter.convert())


def _sparse(folder: Path) -> None:
    """A net of which most weights are zero, and weights without their net."""
    import keras
    import numpy
    import tensorflow as tf

    given = keras.Input((64,), batch_size=1)
    dense = keras.layers.Dense(64)
    model = keras.Model(given, dense(given))
    numbers = numpy.random.default_rng(0)
    kernel, bias = dense.get_weights()
    kept = numbers.random(kernel.shape) > 0.9
    dense.set_weights([numbers.standard_normal(kernel.shape).astype("f4") * kept, bias])
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    converter.optimizations = [tf.lite.Optimize.EXPERIMENTAL_SPARSITY]
    (folder / "sparse.tflite").write_bytes(converter.convert())
    model.save_weights(folder / "a.weights.h5")
    (folder / "a.weights.h5").rename(folder / "weights.h5")


def main() -> None:
    folder = Path(sys.argv[1])
    save_all(folder)
    write_answers(folder, SOURCES)


if __name__ == "__main__":
    main()
