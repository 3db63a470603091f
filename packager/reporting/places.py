"""Removes folders of this machine from texts."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packager.files.user_cache import cache_folder


def placeless(text: str) -> str:
    """Removes the folders of this machine from `text`; names below them stay. Other paths stay too: node names look
    like /encoder/layer.0/MatMul."""
    for folder in _machine_folders():
        text = re.sub(rf"{re.escape(folder)}(?:[/\\][^\s/\\'\":,;]+)*[/\\](?=[^\s/\\'\":,;])", "", text)
    return text


def _machine_folders() -> Iterator[str]:
    """Folders of this machine that may occur in messages: home, temporary, cache and current folder."""
    for path in (cache_folder(), Path.cwd(), Path(tempfile.gettempdir()), Path.home()):
        if len(path.parts) > 1:
            yield str(path)
