"""An Android app whose model is loaded with every list of `tests/cases/trust_vectors.py`."""

import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

from packager.core.findings import Report
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.targets import signed_list
from packager.targets.android import Android
from tests.cases.trust_vectors import VECTORS
from tests.toolchain import jvm, trusted
from tests.toolchain.device import library, write_apk

FOLDER = "assets/mobpack/models/"
CPU_FILE = "scorer.ort.tflite"
DAMAGED = "damaged"
"""name of an app that is signed, and has another byte in the CPU's file"""


def answers(folder: Path) -> Mapping[str, str]:
    """The answers to each list by its number and the provider, and how long a check takes (`milliseconds`)."""
    store = Store(cache_folder() / "store")
    target = Android(providers=("xnnpack",))
    view = target.view(trusted.PACKAGE, (trusted.plan(folder, store, "android", "xnnpack"),), Report(parities=()))
    aar = target.assemble(view, target.render(view), store)[0].path
    made = library(aar, folder, apps="trust/*", has_task=False)
    files = {asset.path.removeprefix("mobpack/models/"): asset.sha256 for asset in view.assets}
    apps = folder / "apps"
    for number, vector in enumerate(VECTORS):
        place = apps / f"{number:02}"
        write_apk(
            with_list(aar, folder / "changed.aar", vector.text(files, trusted.PACKAGE)),
            installed(place),
            is_stored=True,
        )
    place = apps / DAMAGED
    write_apk(
        with_list(aar, folder / "changed.aar", VECTORS[0].text(files, trusted.PACKAGE), other=CPU_FILE),
        installed(place),
        is_stored=True,
    )
    own, stranger, by_digest = folder / "own.ort", folder / "stranger.ort", folder / "by digest"
    shutil.copy(view.models[0].files[-1].asset.file, own)
    stranger.write_bytes(own.read_bytes() + b"\0")
    by_digest.mkdir()
    shutil.copy(own, by_digest / files[CPU_FILE])
    return jvm.run(
        "apps.TrustVectorsKt",
        {"files": apps, "own": own, "stranger": stranger, "folder": by_digest},
        classpath=[made.apps, made.classes],
    ).facts


def installed(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder / "base.apk"


def with_list(aar: Path, changed: Path, text: str | None, *, other: str = "") -> Path:
    """The library with another list of its files, or none, and another last byte in the file `other`."""
    with zipfile.ZipFile(aar) as before, zipfile.ZipFile(changed, "w") as after:
        for entry in before.infolist():
            content = before.read(entry)
            if entry.filename == FOLDER + other:
                content = content[:-1] + bytes([content[-1] ^ 1])
            if entry.filename != FOLDER + signed_list.NAME:
                after.writestr(entry, content)
        if text is not None:
            after.writestr(FOLDER + signed_list.NAME, text)
    return changed
