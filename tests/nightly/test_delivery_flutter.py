"""Dart: whatever servers, publishers and disks do, and wherever the app is killed, it opens a verified model."""

from pathlib import Path

import numpy as np

from packager.distribution import deltas
from tests.cases.delivery_flutter import language
from tests.cases.delivery_language import Language

__all__ = ["language"]


def test_a_delta_is_applied_in_memory_that_does_not_grow_with_the_file(language: Language, tmp_path: Path) -> None:
    def used(megabytes: int) -> int:
        old, new, delta = (tmp_path / f"{name}-{megabytes}" for name in ("old", "new", "delta"))
        content = np.random.default_rng(3).standard_normal(megabytes << 18).astype(np.float32)
        old.write_bytes(content.tobytes())
        new.write_bytes((content * np.float32(1.0001)).tobytes())
        delta.write_bytes(deltas.make(old, new))
        with language.start(tmp_path / "device") as app:
            found = app.ask(f"patch {old} {delta} {tmp_path / 'made'} {1 << 30}")
        assert (tmp_path / "made").read_bytes() == new.read_bytes()
        print(f"{megabytes} MiB in {found['seconds']:.2f} s")
        return int(found["KiB"])

    # Dart's heap grows with the first megabytes that a program makes, and stays: 46 MiB for a file of 24, and of 48.
    assert used(40) - used(24) < 8 * 1024
