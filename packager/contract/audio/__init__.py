"""Recordings of any rate, length and number of channels."""

from packager.contract.audio.kind import SoundInput
from packager.contract.audio.streaming import pieces

__all__ = ["SoundInput", "pieces"]
