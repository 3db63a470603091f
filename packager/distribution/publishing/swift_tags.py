"""Swift packages as SwiftPM takes them from a git repository: the package at the root of a commit, tagged with its
version."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.core.errors import ConfigError, ToolError
from packager.distribution.publishing.registry import PublishingSession, RegistryRequest, State
from packager.distribution.publishing.release import ReleaseToPublish
from packager.distribution.publishing.swift_archives import archive_of
from packager.files.processes import children
from packager.files.processes.commands import last_lines
from packager.files.zips import unpack

PLAIN = ("-c", "core.autocrlf=false", "-c", "core.fileMode=false", "-c", "core.symlinks=true")
"""Settings of git by which files keep their bytes."""
GIT = tuple(
    """
    GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE EMAIL
    GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_EXEC_PATH GNUPGHOME GPG_TTY SSH_AUTH_SOCK
    """.split()
)
"""Variables of git: whose commit it is, and how it is signed; none by which a hook or an outer git would lead it
elsewhere."""
ALONE = {"GIT_TERMINAL_PROMPT": "0"}


@dataclass(frozen=True, kw_only=True)
class SwiftTags:
    """A local git repository, which gets a commit and a tag. Nothing leaves this machine before `git push`."""

    NAME: ClassVar[str] = "swift-git"
    address: str = ""
    branch: str = "releases"
    package: str = ""
    """`onnxruntime-binary` for the runtime's package; empty for the release's own"""

    def __post_init__(self) -> None:
        if not self.address:
            raise ConfigError("--to swift-git: a folder is missing", hint="write --to swift-git=FOLDER")

    def plan(self, release: ReleaseToPublish, folder: Path) -> tuple[RegistryRequest, ...]:
        archive = archive_of(release, self.package)
        where = Path(self.address).absolute()
        self._refuse_checked_out(where)
        return (
            RegistryRequest(
                registry=self.NAME,
                method="git tag",
                address=f"{where}#{archive.version}",
                file=archive.file.name,
                size_bytes=archive.file.size_bytes,
                sha256=archive.file.sha256,
                note=f"on branch {self.branch}",
                content=archive.file.path,
                version=archive.version,
            ),
        )

    def _refuse_checked_out(self, where: Path) -> None:
        """Raises ConfigError if `where` is no repository, or its files are those of the branch: they would not follow
        it."""
        hint = f"make one: git clone --bare ADDRESS {where}, or git init --bare {where}"
        if not where.is_dir():
            raise ConfigError(f"--to swift-git: {where} is not there", hint=hint)
        is_bare = _git(where, "rev-parse", "--is-bare-repository")
        if is_bare is None:
            raise ConfigError(f"--to swift-git: {where} is not a git repository", hint=hint)
        if is_bare == "false" and _git(where, "symbolic-ref", "--quiet", "HEAD") == f"refs/heads/{self.branch}":
            raise ConfigError(
                f"--to swift-git: branch {self.branch} is checked out in {where}",
                hint="use another branch (--set swift-git.branch=NAME), or a bare repository",
            )

    def state(self, request: RegistryRequest, session: PublishingSession) -> State:
        where = _where(request)
        tagged = _git(where, "rev-parse", "--verify", "--quiet", f"refs/tags/{request.version}^{{tree}}")
        if tagged is None:
            return State.ABSENT
        with tempfile.TemporaryDirectory() as scratch:  # objects that are made to compare stay out of the repository
            kept = _require(where, {}, "rev-parse", "--git-path", "objects")
            objects = {"GIT_OBJECT_DIRECTORY": f"{scratch}/objects"}
            objects["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = str(where / kept)
            Path(scratch, "objects").mkdir()
            return State.SAME if _tree(request, Path(scratch), objects) == tagged else State.OTHER

    def send(self, request: RegistryRequest, session: PublishingSession) -> str:
        where = _where(request)
        with tempfile.TemporaryDirectory() as scratch:
            tree = _tree(request, Path(scratch), {})
        reference = f"refs/heads/{self.branch}"
        parent = _git(where, "rev-parse", "--verify", "--quiet", reference)
        commit = parent or ""
        if not parent or _require(where, {}, "rev-parse", f"{parent}^{{tree}}") != tree:
            before = ["-p", parent] if parent else []
            commit = _require(where, {}, "commit-tree", tree, *before, "-m", request.version)
            _require(where, {}, "update-ref", reference, commit, parent or "")
        _require(where, {}, "tag", "--annotate", "--message", request.version, request.version, commit)
        return f"publish it with: git -C {where} push origin {self.branch} {request.version}"


def _where(request: RegistryRequest) -> Path:
    return Path(request.address.rpartition("#")[0])


def _tree(request: RegistryRequest, scratch: Path, objects: Mapping[str, str]) -> str:
    """Writes the files of the archive as objects of git, and returns the id of their folder."""
    where = _where(request)
    files = scratch / "files"
    files.mkdir()
    assert isinstance(request.content, Path)
    unpack(request.content, files)
    own = {**objects, "GIT_INDEX_FILE": f"{scratch}/index"}
    _require(where, own, f"--work-tree={files}", "add", "--all", "--force", ".", folder=files)
    return _require(where, own, "write-tree")


def _git(where: Path, *arguments: str) -> str | None:
    """Output of git; None if it fails. Raises ToolError if there is no git."""
    try:
        done = children.run(["git", "-C", where, *arguments], inherits=GIT, environment=ALONE)
    except OSError as error:
        raise ToolError(f"cannot run git: {error.strerror}", hint="install git") from error
    return done.stdout.strip() if done.returncode == 0 else None


def _require(where: Path, own: Mapping[str, str], *arguments: str, folder: Path | None = None) -> str:
    """Output of git. Raises ToolError if it fails."""
    place = _git(where, "rev-parse", "--absolute-git-dir") or str(where)
    command = ["git", *PLAIN, f"--git-dir={place}", *arguments]
    done = children.run(command, folder=folder, inherits=GIT, environment={**ALONE, **own})
    if done.returncode != 0:
        raise ToolError(
            f"git {arguments[0]} failed in {where}: {last_lines(done.stderr, 4)}",
            hint="see what git says, then run the same command again: it continues",
        )
    return done.stdout.strip()
