"""Fetches a model of the hub into the user's cache, and checks every file."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.core.console import Console, size
from packager.core.errors import ToolError
from packager.core.parsing import Json
from packager.engines.environments.environment import make_once
from packager.engines.environments.hub import HUB
from packager.files.hashes import sha256_of
from packager.files.processes.channel import ChildProgram, CrashError, raise_failure
from packager.files.processes.inherited import NETWORK, PYTHON
from packager.files.store import key_of
from packager.files.user_cache import cache_folder
from packager.workflows.importing.hub.choosing import chosen
from packager.workflows.importing.hub.lock import HubLock
from packager.workflows.importing.hub.naming import HubModel
from packager.workflows.importing.starting import MOUNT

CHILD = "packager.workflows.importing.hub.child"
HUB_CLIENT = (
    *(*PYTHON, *NETWORK, "HF_*", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE"),
    *("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH"),
)
"""Variables of the hub's client: where the hub and its cache are, and who asks."""
METADATA = ".cache"
"""folder that the client leaves beside what it has fetched"""


@dataclass(frozen=True, kw_only=True)
class Fetched:
    path: Path
    """the model on the disk: a file, or a folder of transformers"""
    lock: HubLock


def fetch(model: HubModel, known: HubLock | None, scratch: Path, console: Console) -> Fetched:
    """The files of `model`, those that `known` names if it is given. What is in the cache needs no network.

    Raises ConfigError for a model that does not exist, ToolError without a network or if the hub serves other files
    than `known` says.
    """
    if known and (place := place_of(known.repository, known.commit, tuple(known.files))).is_dir():
        refuse_other(hashes(place, tuple(known.files)), known.files, place, model)
        return Fetched(path=path_in(place, tuple(known.files)), lock=known)
    if known:
        commit, names, promised = known.commit, tuple(known.files), dict(known.files)
    else:
        answer = asked({"repository": model.repository, "revision": model.revision}, scratch, model)
        sizes = {each["name"]: each["size"] for each in answer["files"]}
        commit, names = answer["commit"], chosen(model, list(sizes))
        promised = {each["name"]: each["sha256"] for each in answer["files"] if each["name"] in names}
        console.say(
            f"  {model.repository} at {commit[:12]}: {len(names)} files, {size(sum(sizes[name] for name in names))}"
        )
    place = place_of(model.repository, commit, names)
    promised = {name: sha256 for name, sha256 in promised.items() if sha256}
    files: dict[str, str] = {}

    def make(folder: Path) -> None:
        job = {"repository": model.repository, "commit": commit, "names": list(names), "folder": str(folder.absolute())}
        asked(job, scratch, model)
        shutil.rmtree(folder / METADATA, ignore_errors=True)
        files.update(hashes(folder, names))
        refuse_other(files, promised, folder, model)

    with console.step(f"fetch {model.text}"):
        make_once(place, make)
    if not files:  # in the cache already
        files = hashes(place, names)
        refuse_other(files, promised, place, model)
    lock = HubLock(source=model.text, repository=model.repository, commit=commit, files=files)
    return Fetched(path=path_in(place, names), lock=lock)


def place_of(repository: str, commit: str, names: Sequence[str]) -> Path:
    """Folder of these files in the cache."""
    return cache_folder() / "hub" / key_of([repository, commit, sorted(names)])[:32]


def path_in(place: Path, names: Sequence[str]) -> Path:
    """The model among the files `names` of `place`."""
    return place if "config.json" in names else place / names[0]


def hashes(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """The sha256 of those of `names` that are files of `folder`."""
    return {name: sha256_of(folder / name) for name in names if (folder / name).is_file()}


def refuse_other(files: Mapping[str, str], expected: Mapping[str, str], folder: Path, model: HubModel) -> None:
    """Raises ToolError for a file of `folder` whose sha256, in `files`, is not the expected one."""
    for name, sha256 in expected.items():
        found = files.get(name, "no file")
        if found != sha256:
            raise ToolError(
                f"{model.text}: {name} is not the expected file: {found[:16]} instead of {sha256[:16]}",
                hint=f"do not use it; --update takes what the hub has now; remove {folder} if it is from the cache",
            )


def asked(job: Json, scratch: Path, model: HubModel) -> Json:
    """The answer of the client. Raises ToolError if it is not installed, and the failure that it reports."""
    if HUB.missing():
        raise ToolError(
            f"fetching {model.text} needs the hub's client", hint=f"run: mobpack doctor --install {HUB.name}"
        )
    command = (*HUB.command(), "-c", MOUNT)
    variables = HUB.variables()
    with ChildProgram([CHILD], job, scratch, command=command, inherits=HUB_CLIENT, environment=variables) as program:
        program.close_stdin()
        try:
            [answer] = program.lines()
        except CrashError as error:
            raise ToolError(f"the hub's client crashed ({error.signal})", hint=error.hint("try again")) from error
    raise_failure(answer)
    return answer
