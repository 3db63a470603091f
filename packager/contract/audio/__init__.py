"""Recordings of any rate, length and number of channels."""

from packager.contract.audio.kind import SoundInput

__all__ = ["SoundInput"]
