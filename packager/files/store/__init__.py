"""Stores results by content: the same inputs are never computed twice, an incomplete or damaged result is never
used."""

from packager.files.store.index import damage_of
from packager.files.store.keys import Step, content_key, key_of
from packager.files.store.store import Store

__all__ = ["Step", "Store", "content_key", "damage_of", "key_of"]
