"""Results by content: the same inputs are never computed twice, a half-made or damaged result is never used."""

from packager.store.index import damage_of
from packager.store.keys import code_digest, content_key, key_of
from packager.store.store import ABANDONED_AFTER_S, Store

__all__ = ["ABANDONED_AFTER_S", "Store", "code_digest", "content_key", "damage_of", "key_of"]
