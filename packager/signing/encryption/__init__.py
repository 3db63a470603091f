"""Encrypted model files: their format, and the keys that they are encrypted with."""

from packager.signing.encryption.keys import ModelKey, key_of
from packager.signing.encryption.sealing import KEY_ID, Header, open_sealed, read_header, seal

__all__ = ["KEY_ID", "Header", "ModelKey", "key_of", "open_sealed", "read_header", "seal"]
