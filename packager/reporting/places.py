"""Texts without the folders of the machine that they were said on."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packager.files.user_cache import cache_folder


def placeless(text: str) -> str:
    """`text` without the folders of this machine: of paths below them, names are left. Other paths stay: nodes are
    called /encoder/layer.0/MatMul."""
    for folder in _places():
        text = re.sub(rf"{re.escape(folder)}(?:[/\\][^\s/\\'\":,;]+)*[/\\](?=[^\s/\\'\":,;])", "", text)
    return text


def _places() -> Iterator[str]:
    """Where this machine keeps files: of the user, for the moment, of results, of the work at hand."""
    for path in (cache_folder(), Path.cwd(), Path(tempfile.gettempdir()), Path.home()):
        if len(path.parts) > 1:
            yield str(path)
