# mypy: allow-subclassing-any
"""Factories as users write them, for `mobpack export`: valid ones, and one for every mistake."""

import dataclasses
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional


def seeded(module: nn.Module) -> Any:
    """`module` with the same weights each time, in eval mode."""
    numbers = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(torch.randn(weight.shape, generator=numbers) / 4)
    return module.eval()


def random(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def classifier() -> Any:
    layers = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
    return seeded(layers), random(1, 3, 12, 12)


def large() -> Any:
    return seeded(nn.Linear(300, 300)), random(2, 300)


def training() -> Any:
    layers = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout())
    return seeded(layers).train(), random(2, 4)


class Drops(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return functional.dropout(x)


def drops() -> Any:
    return Drops().eval(), torch.ones(4, 30)


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Tensor) -> Any:
        self.calls += 1
        return x + self.calls


def counts() -> Any:
    return Counts().eval(), torch.ones(2)


def doubles() -> Any:
    return seeded(nn.Linear(4, 3)), {"input": torch.ones(2, 4, dtype=torch.float64)}


def numpy_doubles() -> Any:
    return seeded(nn.Linear(4, 3)), (torch.ones(2, 4).numpy(),)


def whole_doubles() -> Any:
    return seeded(nn.Linear(4, 3)).double(), torch.ones(2, 4, dtype=torch.float64)


def halves() -> Any:
    return seeded(nn.Linear(4, 3)).half(), torch.ones(2, 4).half()


def float_indices() -> Any:
    return seeded(nn.Embedding(10, 4)), torch.ones(2, 3)


class OneHot(nn.Module):
    def forward(self, words: Tensor) -> Any:
        return functional.one_hot(words, 5)


def short_indices() -> Any:
    return OneHot().eval(), torch.ones(3, dtype=torch.int32)


def integers() -> Any:
    return seeded(nn.Linear(4, 3)), torch.ones(2, 4, dtype=torch.int64)


def empty_weights() -> Any:
    return nn.Linear(4, 3, device="meta").eval(), torch.ones(2, 4)


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.offset = torch.ones(4, device="meta")

    def forward(self, x: Tensor) -> Any:
        return torch.cat([x, self.offset])


def elsewhere() -> Any:
    return Plain().eval(), torch.ones(4)


class Loops(nn.Module):
    def forward(self, x: Tensor) -> Any:
        for step in range(x.shape[0]):
            x = x + step
        return x


def loops() -> Any:
    return Loops().eval(), torch.ones(4, 3)


class Tied(nn.Module):
    def forward(self, left: Tensor, right: Tensor) -> Any:
        return left + right


def tied() -> Any:
    return Tied().eval(), (torch.ones(4, 3), torch.ones(4, 3))


class Fixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(12, 2)

    def forward(self, x: Tensor) -> Any:
        return self.linear(x.flatten())


def fixed() -> Any:
    return seeded(Fixed()), torch.ones(4, 3)


class Kernel(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(2, 3, 3)

    def forward(self, sound: Tensor) -> Any:
        return self.convolution(sound)


def kernel() -> Any:
    return seeded(Kernel()), random(1, 2, 8)


def stereo() -> Any:
    return seeded(Kernel()), random(2, 2, 8)


class SizeBranch(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return x * 2 if x.shape[0] > 3 else x


def size_branch() -> Any:
    return SizeBranch().eval(), torch.ones(4, 3)


class NumberBranch(nn.Module):
    def forward(self, x: Tensor) -> Any:
        if x.sum() > 0:
            return x * 2
        return x


def number_branch() -> Any:
    return NumberBranch().eval(), torch.ones(4, 3)


class Decomposes(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return torch.linalg.svd(x)[0]


def untranslatable() -> Any:
    return Decomposes().eval(), random(4, 3)


class Pair(NamedTuple):
    mean: Any
    spread: Any


@dataclasses.dataclass
class Scores:
    best: Any
    rest: Any
    missing: Any = None


class Gives(nn.Module):
    """Returns its input and its double, in one of several structures."""

    def __init__(self, how: Any) -> None:
        super().__init__()
        self.how = how

    def forward(self, x: Tensor) -> Any:
        return self.how(x + 1, x * 2)


def gives_dict() -> Any:
    return Gives(lambda a, b: {"x": a, "inner": [b, {"last": a - b}], "none": None}).eval(), torch.ones(3)


def gives_tuple() -> Any:
    return Gives(lambda a, b: (a, b, a)).eval(), torch.ones(3)


def gives_named_tuple() -> Any:
    return Gives(Pair).eval(), torch.ones(3)


def gives_dataclass() -> Any:
    return Gives(Scores).eval(), torch.ones(3)


def gives_number() -> Any:
    return Gives(lambda a, b: {"good": a, "size": 5}).eval(), torch.ones(3)


def gives_nothing() -> Any:
    return Gives(lambda a, b: None).eval(), torch.ones(3)


class Writes(nn.Module):
    def forward(self, x: Tensor) -> Any:
        x.mul_(3)
        return x + 1


def writes() -> Any:
    return Writes().eval(), torch.ones(3)


class Shares(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(10, 4)
        self.scores = nn.Linear(4, 10, bias=False)
        self.scores.weight = self.words.weight

    def forward(self, words: Tensor) -> Any:
        return self.scores(self.words(words))


def shares() -> Any:
    return seeded(Shares()), torch.ones(2, 3, dtype=torch.int64)


class ManyByPlace(nn.Module):
    def forward(self, first: Tensor, *others: Tensor) -> Any:
        return first + others[0] * others[1]


def many() -> Any:
    return ManyByPlace().eval(), (random(2, 3), random(2, 3), random(2, 3))


class Named(nn.Module):
    def forward(self, x: Tensor, **others: Tensor) -> Any:
        return x - others["offset"]


def named() -> Any:
    return Named().eval(), {"x": random(2, 3), "offset": random(2, 3)}


def compiled() -> Any:
    return torch.compile(nn.DataParallel(seeded(nn.Linear(4, 3)))), random(2, 4)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(8, 4, batch_first=True)

    def forward(self, sound: Tensor, state: Tensor) -> Any:
        steps, state = self.gru(sound, state)
        return {"steps": steps, "state": state}


def recurrent() -> Any:
    return seeded(Recurrent()), (random(2, 10, 8), random(1, 2, 4))


class Complex(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return {"spectrum": torch.fft.rfft(x)}


def gives_complex() -> Any:
    return Complex().eval(), random(4, 8)


def learns() -> Any:
    return seeded(nn.Linear(4, 3)), torch.ones(2, 4, requires_grad=True)


def wrong_arguments() -> Any:
    return seeded(nn.Linear(4, 3)), (torch.ones(2, 4), torch.ones(2, 4))


def module_alone() -> Any:
    return nn.Linear(4, 3)


def no_inputs() -> Any:
    return nn.Linear(4, 3), ()


def not_a_module() -> Any:
    return functional.relu, torch.ones(3)


def raises() -> Any:
    return missing_weights()


def missing_weights() -> Any:
    raise FileNotFoundError("weights.pt is not there")


def from_file() -> Any:
    """Its weights are in a file of the project."""
    module = nn.Linear(3, 5, bias=False)
    module.load_state_dict({"weight": torch.from_numpy(numpy.load("weights.npy"))})
    return module.eval(), torch.randn(2, 3)


def prints() -> Any:
    print("a line that is not an answer")
    return classifier()


def waits() -> Any:
    (Path(__file__).parent / "waiting").write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(60)
    return classifier()
