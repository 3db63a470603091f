"""Zip archives: same input same bytes, whole or absent, no name that leaves the archive."""

import os
import subprocess
import sys
import time
from pathlib import Path, PurePosixPath

from packager.files.zips import write_zip


def test_time_zone_hash_seed_date_and_permissions_of_the_source_do_not_matter(tmp_path: Path) -> None:
    source = tmp_path / "weights.ort"
    source.write_bytes(b"w" * 5000)
    here = write_zip(tmp_path / "here.zip", {PurePosixPath("assets/weights.ort"): source})
    source.chmod(0o600)
    os.utime(source, (time.time() + 1e6, time.time() + 1e6))
    code = (
        "from pathlib import Path, PurePosixPath; from packager.files.zips import write_zip;"
        f"write_zip(Path({str(tmp_path / 'there.zip')!r}), "
        f"{{PurePosixPath('assets/weights.ort'): Path({str(source)!r})}})"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"}
    )
    assert here.read_bytes() == (tmp_path / "there.zip").read_bytes()
