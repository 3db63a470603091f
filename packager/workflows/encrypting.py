"""Encrypts the model files of packages, after all that is proven of them was proven."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from packager.config import Config
from packager.core.errors import ConfigError
from packager.core.findings import Report
from packager.core.values import Compiled, Plan
from packager.files.hashes import sha256_of
from packager.signing.encryption import ModelKey, seal
from packager.targets import KNOWN_TARGETS
from packager.workflows.packages import Contents
from packager.workflows.requested import BuildRequest


def refuse_unencrypted(config: Config, request: BuildRequest) -> None:
    """Raises ConfigError for `[package] encryption` without its key, with `channel`, and with a target whose code
    cannot decrypt; and for a key that nothing is encrypted with."""
    key_id = config.package.encryption
    if not key_id:
        if request.model_key is not None:
            raise ConfigError(
                "--model-key has no effect without [package] encryption",
                hint='add under [package] in mobpack.toml the name by which apps know the key: encryption = "models-1"',
            )
        return
    if request.model_key is None:
        raise ConfigError(
            f"package.encryption needs the key {key_id}",
            hint="mobpack build --model-key env:NAME, or a file outside the project; openssl rand -hex 32 makes one",
        )
    if config.package.channel:
        raise ConfigError(
            "package.encryption and package.channel cannot be combined yet",
            hint="leave one of them out: models of a channel are signed, and readable",
        )
    known = {**config.targets(), **config.wrappers()}
    unable = [name for name in request.targets if name in known and not known[name].DECRYPTS]
    if unable:
        able = [name for name, target in KNOWN_TARGETS.items() if target.DECRYPTS]
        raise ConfigError(
            f"package.encryption: the code for {', '.join(unable)} cannot decrypt models yet",
            hint=f"build it from a mobpack.toml without encryption; these can: {', '.join(able)}",
        )


def encrypted(contents: Contents, request: BuildRequest, folder: Path) -> Contents:
    """`contents` with encrypted files, which are written to `folder`; the same where nothing is to be encrypted.

    Findings name a file by its SHA-256, which is then that of the encrypted one. Golden vectors stay as they are.
    """
    if not contents.package.encryption or request.model_key is None:
        return contents
    sealing = _Sealing(folder, request.model_key, contents.package.encryption)
    plans = tuple(sealing.plan(plan) for plan in contents.plans)
    digests = sealing.digests
    return replace(
        contents,
        plans=plans,
        report=_renamed(contents.report, digests),
        golden={(model, digests.get(sha256, sha256)): each for (model, sha256), each in contents.golden.items()},
    )


class _Sealing:
    """Encrypts each file once."""

    def __init__(self, folder: Path, key: ModelKey, key_id: str) -> None:
        self.folder, self.key, self.key_id = folder, key, key_id
        self.digests: dict[str, str] = {}
        """sha256 of each model file -> that of the encrypted one"""

    def plan(self, plan: Plan) -> Plan:
        return replace(
            plan, choices=tuple(replace(each, compiled=self.compiled(each.compiled)) for each in plan.choices)
        )

    def compiled(self, compiled: Compiled) -> Compiled:
        path = self._sealed(compiled.path, compiled.sha256)
        data = tuple(self._sealed(file, sha256_of(file)) for file in compiled.data_files)
        self.digests[compiled.sha256] = sha256_of(path)
        return replace(
            compiled,
            path=path,
            data_files=data,
            sha256=self.digests[compiled.sha256],
            plain_sha256=compiled.sha256,
            size_bytes=sum(file.stat().st_size for file in (path, *data)),
        )

    def _sealed(self, file: Path, sha256: str) -> Path:
        """Under the name of the file: graphs find their weights by it."""
        path = self.folder / sha256 / file.name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            seal(file, path, key=self.key.value, key_id=self.key_id)
        return path


def _renamed(report: Report, digests: Mapping[str, str]) -> Report:
    return replace(
        report,
        parities=tuple(replace(each, sha256=digests.get(each.sha256, each.sha256)) for each in report.parities),
        partitions=tuple(replace(each, sha256=digests.get(each.sha256, each.sha256)) for each in report.partitions),
        kernels=tuple(replace(each, sha256=digests.get(each.sha256, each.sha256)) for each in report.kernels),
    )
