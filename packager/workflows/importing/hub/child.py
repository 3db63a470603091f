"""Asks the hub for a repository's files, or fetches some, in the environment with Hugging Face's client.

It reads a JSON job and prints one JSON line. `{"repository", "revision"}` is answered with `{"commit", "files":
[{"name", "size", "sha256"}]}`; sha256 is empty for files that the hub keeps in git. `{"repository", "commit", "names",
"folder"}` fetches these files into the folder: `{}`. A failure is `{"failed": class in packager.core.errors, "message",
"hint"}`.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from packager.core.errors import ConfigError, ToolError
from packager.files.atomic import NO_SPACE
from packager.files.processes.channel import Channel


def listed(job: dict[str, Any]) -> dict[str, Any]:
    """The files of a revision. Raises ConfigError for one that does not exist, ToolError without a network."""
    from huggingface_hub import HfApi

    with in_words(job["repository"]):
        found = HfApi().model_info(job["repository"], revision=job["revision"] or None, files_metadata=True)
    files = [
        {"name": each.rfilename, "size": each.size or 0, "sha256": each.lfs.sha256 if each.lfs else ""}
        for each in found.siblings or ()
    ]
    return {"commit": found.sha, "files": files}


def fetched(job: dict[str, Any]) -> dict[str, Any]:
    """Writes the files below the folder, by their paths in the repository."""
    from huggingface_hub import hf_hub_download

    with in_words(job["repository"]):
        for name in job["names"]:
            hf_hub_download(job["repository"], name, revision=job["commit"], local_dir=job["folder"])
    return {}


@contextmanager
def in_words(repository: str) -> Iterator[None]:
    """Makes errors of the client those of mobpack."""
    import requests
    from huggingface_hub import constants, errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise ConfigError(
            f"{repository} asks for an agreement before it can be fetched",
            hint="agree on its page, then give a token: hf auth login, or HF_TOKEN",
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise ConfigError(
            f"the hub has no model {repository}, or it is private",
            hint="check the name; for a private one give a token: hf auth login, or HF_TOKEN",
        ) from error
    except errors.RevisionNotFoundError as error:
        raise ConfigError(
            f"{repository} has no such revision", hint="name a branch, a tag or a whole commit after the @"
        ) from error
    except OSError as error:  # those of requests, and of a local disk
        if error.errno in NO_SPACE:
            raise
        if isinstance(error, requests.RequestException | errors.OfflineModeIsEnabled | errors.LocalEntryNotFoundError):
            reason = type(error).__name__
            raise ToolError(
                f"{constants.ENDPOINT} cannot be reached, or does not answer as a hub: {reason}",
                hint="check the network and HF_ENDPOINT; offline, a model that its lock pins comes from the cache",
            ) from error
        raise


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    channel = Channel.taken_over()
    channel.answer(lambda: fetched(job) if "names" in job else listed(job))
    return 0


if __name__ == "__main__":
    sys.exit(main())
