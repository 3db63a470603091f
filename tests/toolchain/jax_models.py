"""Functions of JAX and modules of flax for the tests of `mobpack import`, imported in one process of their environment.

`python -m tests.toolchain.jax_models FOLDER` is that process.
"""

import sys
from pathlib import Path

from tests.toolchain.importing import write_answers

SOURCES = "nets:corners nets:two nets:number nets:fails nets:missing".split()
CODE = '''
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 4, (3, 3), strides=2, rngs=rngs)
        self.dense = nnx.Linear(4 * 6 * 6, 4, rngs=rngs)

    def __call__(self, image):
        return jax.nn.softmax(self.dense(jax.nn.relu(self.conv(image)).reshape(image.shape[0], -1)))


def corners():
    """A net that tells four bright corners apart, trained until it does."""
    numbers = np.random.default_rng(0)
    labels = np.arange(128) % 4
    images = numbers.random((128, 12, 12, 1), dtype=np.float32) / 2
    for image, label in zip(images, labels):
        image[6 * (label // 2) :, 6 * (label % 2) :][:6, :6] += 0.5
    graph, state = nnx.split(Net(nnx.Rngs(0)))

    def loss(state):
        scores = nnx.merge(graph, state)(images)
        return -jnp.mean(jnp.log(scores[jnp.arange(128), labels] + 1e-9))

    step = jax.jit(lambda state: jax.tree.map(lambda value, slope: value - slope, state, jax.grad(loss)(state)))
    for _ in range(60):
        state = step(state)
    model = nnx.merge(graph, state)
    assert (np.argmax(model(images), 1) == labels).mean() > 0.95
    return model, (images[:2],)


def two():
    weights = jax.random.normal(jax.random.key(0), (4, 3))
    return (
        lambda left, right: {"sum": left @ weights + right, "largest": jnp.max(left, axis=1)},
        (np.zeros((1, 4), np.float32), np.zeros((1, 3), np.float32)),
    )


def number():
    return 3


def fails():
    raise ValueError("no weights")
'''


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / "nets.py").write_text(CODE, encoding="utf-8", newline="\n")
    write_answers(folder, SOURCES)
