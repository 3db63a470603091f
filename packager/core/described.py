"""Describes an output kind once for all languages: a language only spells its types, calls, numbers and labels."""

from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

API = PurePosixPath("api.json")
"""Place of the description of a package's API in its sources."""


class Plain(Enum):
    """A type that every language has, or that a package declares for tensors."""

    NUMBER = "number"
    """first value of the only tensor"""
    NUMBERS = "numbers"
    TEXTS = "texts"
    """parts of a text, one after the other"""
    TENSOR = "tensor"
    """of the element type of the only tensor, with its shape"""


@dataclass(frozen=True, kw_only=True)
class Described:
    """An output kind in generated code: its names, the tensors that it reads, its documentation."""

    verb: str
    """name of the method of a model with this output alone"""
    type: str | Plain
    """name of a type of the runtimes, or a plain one"""
    is_list: bool = False
    tensors: tuple[str, ...]
    """fields of the output with the tensors that the result is made of, in the order of the function's parameters"""
    shape: str = ""
    """field with the tensor whose shape the function takes, too; empty for none"""
    text: str = ""
    """field with the code points of a text that the result has parts of; empty for none"""
    lines: tuple[str, ...] = ()
    """fields with labels, symbols or units"""
    numbers: tuple[str, ...] = ()
    """fields with whole numbers that the function takes as they are"""
    limits: tuple[()] | tuple[str, str] = ()
    """fields with the default number of results and the minimum of their scores, if the function takes these"""
    function: str = ""
    """name of the function of every runtime that makes the result; empty if the tensor is the result"""
    module: str = ""
    """name of the file with the function in runtimes with a file for each kind; empty for none"""
    noun: str
    """name of the result in examples"""
    sentence: str
    """documentation of the method and of the result"""
    has_places: bool = False
    """whether the result says where something is in the model's picture"""
