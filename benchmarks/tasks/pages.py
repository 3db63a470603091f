"""Pages of printed text, as a phone photographs them badly: `page(seed)`."""

import numpy
from numpy.random import Generator

from benchmarks.tasks.task import Array

SIZE = 224
WORDS = (
    "account address after again amount annual answer before below between board budget building called change city "
    "closed coast company council country court date delivery document early effect energy evening family figure final "
    "first following forest general garden ground group health history house important include interest island january "
    "journey judge language large letter light market matter meeting monday money month morning mountain museum "
    "nature notice number office often opened other paper people period person place plant point police present price "
    "private problem project public quality quarter question railway reading reason report result river road school "
    "second service seven several short small social south spring station still street student summer supply table "
    "ticket today together total town travel under until value village visit water week weather window winter work year"
).split()


def page(seed: int) -> Array:
    """An upright grey page, [224, 224] of 0..255: a few lines of text, dim, blurred and noisy."""
    from PIL import Image, ImageDraw, ImageFilter, ImageFont

    numbers = numpy.random.default_rng(seed)
    paper = int(numbers.integers(110, 245))
    ink = max(0, paper - int(numbers.integers(30, 120)))
    size = float(numbers.uniform(10, 18))
    image = Image.new("L", (SIZE, SIZE), paper)
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(size)
    left, top = int(numbers.integers(4, 60)), int(numbers.integers(4, 120))
    for line in range(int(numbers.integers(2, 7))):
        text = " ".join(numbers.choice(WORDS, int(numbers.integers(2, 6))))
        draw.text((left, top + line * size * 1.4), text, fill=ink, font=font)
    tilted = image.rotate(float(numbers.uniform(-6, 6)), Image.Resampling.BILINEAR, fillcolor=paper)
    blurred = tilted.filter(ImageFilter.GaussianBlur(float(numbers.uniform(0.4, 1.1))))
    return _photographed(numpy.asarray(blurred, numpy.float32), numbers)


def _photographed(image: Array, numbers: Generator) -> Array:
    """With light that falls off to one side, and the noise of a sensor."""
    across, down = numpy.meshgrid(numpy.linspace(-1, 1, SIZE), numpy.linspace(-1, 1, SIZE))
    light = 1 + numbers.uniform(-0.25, 0.25) * across + numbers.uniform(-0.25, 0.25) * down
    noisy = image * light + numbers.normal(0, numbers.uniform(2, 10), image.shape)
    return numpy.asarray(numpy.clip(noisy, 0, 255).round(), numpy.float32)
