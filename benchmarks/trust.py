"""Time that a load takes to verify the signed list of a package's files: `python -m benchmarks.trust`.

The least of 200 checks of a list of few files, in one process for each language: Kotlin in a desktop's Java, Swift with
OpenSSL in CryptoKit's place, TypeScript in Node. No file of a model is read.
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.toolchain import trusted_android, trusted_swift, trusted_web


def kotlin(folder: Path) -> float:
    return float(trusted_android.answers(folder)["milliseconds"])


def swift(folder: Path) -> float:
    return milliseconds(trusted_swift.answers(folder))


def typescript(folder: Path) -> float:
    return milliseconds(trusted_web.answers(folder))


def milliseconds(answers: Mapping[str, Mapping[str, Any]]) -> float:
    return float(answers["milliseconds"]["found"])


LANGUAGES: Mapping[str, Callable[[Path], float]] = {"Kotlin": kotlin, "Swift": swift, "TypeScript": typescript}


def main() -> None:
    for name, measure in LANGUAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"{name:<12}{measure(Path(folder)):6.2f} ms")


if __name__ == "__main__":
    main()
