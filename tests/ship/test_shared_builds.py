"""Whole builds come from the cache that machines share, and only where exactly they would be made."""

import hashlib
import json
import os
import shutil
import subprocess
from base64 import b64encode
from pathlib import Path

import pytest

from packager.files.store.remote import LAYOUT
from tests.cases.caches import empty_cache
from tests.cases.cli import in_process
from tests.cases.onnx_text import linear, saved
from tests.cases.signing_cases import make_key
from tests.toolchain import command

PROJECT = """[package]
name = "pages"
[model.pages]
path = "models/pages.onnx"
[target.ios]
"""
FETCHED = "another machine has built exactly this"
MADE = "compare model 'pages'"


def mobpack(folder: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """mobpack in `folder`, which must succeed."""
    done = in_process(*arguments, folder=folder, environment={**without_cache(), **variables})
    assert done.returncode == 0, done.stderr
    return done


def without_cache() -> dict[str, str]:
    """The variables of this process, without those that name a shared cache."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MOBPACK_CACHE")}


class Runner:
    """A machine of CI: an empty cache, and the project in a folder of its own with new times of change."""

    def __init__(self, folder: Path, text: str = PROJECT) -> None:
        self.project, self.cache = folder / "deep" / "project", empty_cache(folder / "cache")
        (self.project / "models").mkdir(parents=True)
        saved(self.project / "models" / "pages.onnx", linear())
        (self.project / "mobpack.toml").write_text(text)
        time_s = 1_600_000_000 + len(str(folder))
        for path in self.project.rglob("*"):
            os.utime(path, (time_s, time_s))

    def build(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        return mobpack(self.project, "build", *arguments, XDG_CACHE_HOME=str(self.cache), **variables)

    def files(self) -> dict[str, bytes]:
        dist = self.project / "dist"
        return {path.relative_to(dist).as_posix(): path.read_bytes() for path in dist.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shared folder, to which one machine has sent its build."""
    folder = tmp_path_factory.mktemp("shared")
    first = Runner(folder / "first")
    environment = {**without_cache(), "XDG_CACHE_HOME": str(first.cache)}
    done = command.run("build", "--cache", folder / "cache", folder=first.project, environment=environment)
    assert done.returncode == 0, done.stderr
    assert MADE in done.stderr
    assert "sent" in done.stderr
    return folder


def copy(shared: Path, folder: Path) -> Path:
    return Path(shutil.copytree(shared / "cache", folder / "copy"))


def first_files(shared: Path) -> dict[str, bytes]:
    dist = shared / "first" / "deep" / "project" / "dist"
    return {path.relative_to(dist).as_posix(): path.read_bytes() for path in dist.rglob("*") if path.is_file()}


def test_a_new_machine_gets_the_release_and_knows_it_the_next_time(tmp_path: Path, shared: Path) -> None:
    second = Runner(tmp_path / "another place")
    done = second.build("--cache", str(shared / "cache"))
    assert FETCHED in done.stderr
    assert MADE not in done.stderr
    assert "pages-1.0.0.zip" in done.stdout
    assert second.files() == first_files(shared)
    assert not [path for path in (second.cache / "mobpack" / "store").glob("[a-z]*/*") if "scratch" not in path.parts]
    again = second.build("--cache", str(shared / "cache"))
    assert "nothing has changed since the last build" in again.stderr
    assert again.stdout == done.stdout
    without = second.build("--cache", "off")
    assert "nothing has changed since the last build" in without.stderr, "the address is no part of the command"


def test_verify_makes_everything_of_the_results_of_others(tmp_path: Path, shared: Path) -> None:
    second = Runner(tmp_path)
    done = second.build("--verify", "--json", MOBPACK_CACHE=str(shared / "cache"))
    assert FETCHED not in done.stderr
    assert second.files() == first_files(shared)
    totals = json.loads(mobpack(tmp_path, "cache", "--json", XDG_CACHE_HOME=str(second.cache)).stdout)["shared"]
    (counts,) = totals
    assert counts["hits"] >= 3
    assert counts["misses"] == counts["sent"] == counts["refused"] == 0


def test_a_changed_project_is_built(tmp_path: Path, shared: Path) -> None:
    other = Runner(tmp_path / "setting", PROJECT.replace('name = "pages"', 'name = "pages"\nversion = "1.0.1"'))
    done = other.build("--cache", str(shared / "cache"))
    assert FETCHED not in done.stderr
    assert (other.project / "dist" / "swift" / "pages-1.0.1.zip").is_file()
    option = Runner(tmp_path / "option")
    assert FETCHED not in option.build("--cache", str(copy(shared, tmp_path)), "--emit-project").stderr


def test_the_cache_is_no_part_of_what_is_built(tmp_path: Path, shared: Path) -> None:
    """[cache] in the project changes no byte of the release."""
    named = Runner(tmp_path, PROJECT + f'[cache]\nremote = "{shared / "cache"}"\nmode = "read"\n')
    done = named.build()
    assert "results fetched" in " ".join(done.stderr.split())
    assert named.files() == first_files(shared)


def test_a_poisoned_release_is_not_used(tmp_path: Path, shared: Path) -> None:
    poisoned = copy(shared, tmp_path)
    for path in (poisoned / LAYOUT / "blobs").rglob("*"):
        if path.is_file():
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
    second = Runner(tmp_path / "second")
    done = second.build("--cache", str(poisoned))
    assert FETCHED not in done.stderr
    assert "is not used, and made here instead" in done.stderr
    assert second.files() == first_files(shared)


def test_an_unsigned_release_is_not_used_where_keys_are_trusted(tmp_path: Path, shared: Path) -> None:
    key = make_key(tmp_path / "keys", "cache")
    text = PROJECT + f'[cache]\nremote = "{copy(shared, tmp_path)}"\ntrust = "cache.pub"\n'
    for name, variables, is_fetched in (
        ("reader", {}, False),
        ("signer", {"MOBPACK_CACHE_KEY": str(key.private)}, False),
        ("second reader", {}, True),
    ):
        runner = Runner(tmp_path / name, text)
        shutil.copyfile(key.public, runner.project / "cache.pub")
        done = runner.build(**variables)
        assert (FETCHED in done.stderr) == is_fetched, done.stderr
        assert ("it is not signed, and cache.trust names keys" in done.stderr) == (not is_fetched)
        assert runner.files() == first_files(shared)


def rewritten(shared: Path, folder: Path, content: bytes) -> Path:
    """A copy of the shared folder whose results have other contents, and all hashes right."""
    poisoned = copy(shared, folder)
    for path in (poisoned / LAYOUT / "results").rglob("*"):
        if path.is_file():
            document = json.loads(path.read_bytes())
            sha256 = hashlib.sha256(content).hexdigest()
            document["files"] = [[name, len(content), sha256] for name, *_ in document["files"]]
            document["inline"] = b64encode(content * len(document["files"])).decode()
            document.pop("pack", None)
            path.write_text(json.dumps(document))
    return poisoned


@pytest.mark.parametrize("options", [(), ("--verify",)], ids=["whole builds", "results"])
@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 20_000], ids=["empty", "JSON", "deep"])
def test_a_build_does_not_fail_because_results_have_wrong_contents(
    tmp_path: Path, shared: Path, options: tuple[str, ...], content: bytes
) -> None:
    """Of every step at once: the build is done again without the cache, which gives the same bytes."""
    poisoned = rewritten(shared, tmp_path, content)
    second = Runner(tmp_path / "second")
    done = second.build(*options, "--cache", str(poisoned))
    assert "it is done again without them" in done.stderr
    assert "is not a release with its result" in done.stderr or options
    assert second.files() == first_files(shared)
    again = second.build("--verify", "--cache", str(poisoned))
    assert "done again" not in again.stderr, "what was made here goes before what another machine has sent"


def test_a_store_out_of_reach_is_one_warning(tmp_path: Path, shared: Path) -> None:
    alone = Runner(tmp_path)
    done = alone.build("--cache", str(tmp_path / "not" / "mounted"))
    assert done.stderr.count("warning:") == 1
    assert "is the disk mounted?" in done.stderr
    assert alone.files() == first_files(shared)


def test_results_that_were_made_before_are_pushed(tmp_path: Path, shared: Path) -> None:
    home = {"XDG_CACHE_HOME": str(shared / "first" / "cache"), "MOBPACK_CACHE": str(tmp_path / "cache")}
    pushed = json.loads(mobpack(tmp_path, "cache", "--push", "--json", **home).stdout)
    assert pushed["sent"] >= 3
    listed = json.loads(mobpack(tmp_path, "cache", "--remote", "--json", **home).stdout)["contents"]
    assert sum(each["objects"] for each in listed if each["name"] != "files") == pushed["sent"]
    second = Runner(tmp_path / "second")
    assert "results fetched" in " ".join(second.build("--cache", str(tmp_path / "cache")).stderr.split())
    removed = json.loads(mobpack(tmp_path, "cache", "--remote", "--max-age", "0", "--json", **home).stdout)
    assert removed["contents"] == []
    assert len(removed["removed"]) >= pushed["sent"]


def test_nothing_of_an_encrypted_project_reaches_a_shared_cache(tmp_path: Path) -> None:
    """Neither from a command of the project, nor from one of its model alone, there or elsewhere, nor later by
    --push."""
    encrypted = PROJECT.replace('name = "pages"', 'name = "pages"\nencryption = "models-1"')
    own = Runner(tmp_path / "own", encrypted)
    cache, key = tmp_path / "shared", {"MODEL_KEY": "ab" * 32, "XDG_CACHE_HOME": str(own.cache)}
    known = {"XDG_CACHE_HOME": str(own.cache)}

    def plain() -> list[Path]:
        return [path for path in cache.rglob("*") if path.is_file()]

    assert "is left out" in own.build("--cache", str(cache), "--model-key", "env:MODEL_KEY", MODEL_KEY="ab" * 32).stderr
    for command_line in (
        ("build", "--verify", "--model-key", "env:MODEL_KEY", "-t", "ios"),
        ("check",),
        ("convert", "models/pages.onnx"),
        ("build", "models/pages.onnx", "-t", "ios", "--out", "other"),
    ):
        done = mobpack(own.project, *command_line, "--cache", str(cache), **key)
        assert "is left out: a project encrypts these models" in done.stderr, command_line
        assert plain() == [], command_line
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copyfile(own.project / "models" / "pages.onnx", elsewhere / "net.onnx")
    for alone in ("check net.onnx", "convert net.onnx", "quantize net.onnx -q dynamic"):
        done = mobpack(elsewhere, *alone.split(), "--cache", str(cache), **known)
        assert "is left out: a project encrypts these models" in done.stderr, alone
        assert plain() == [], alone
    refused = in_process(
        "cache", "--push", "--cache", str(cache), folder=own.project, environment={**os.environ, **known}
    )
    assert (refused.returncode, plain()) == (2, [])
    assert "a project encrypts these models" in refused.stderr
    mobpack(tmp_path, "cache", "--push", "--cache", str(cache), **known)
    assert plain() == []
