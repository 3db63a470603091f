"""Models by name: Hugging Face's own client fetches them from a server that simulates the hub."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from packager.core.console import Console
from packager.core.errors import ConfigError, MobpackError, ToolError
from packager.engines.environments.hub import HUB
from packager.files.store import Store
from packager.workflows.importing import ImportRequest, run
from packager.workflows.importing.hub import fetching
from packager.workflows.importing.hub.choosing import chosen
from packager.workflows.importing.hub.naming import HubModel, parse
from tests.cases.onnx_text import linear, saved
from tests.toolchain.hub import COMMIT, Hub, hub

SOURCE = "hf:acme/scorer"
OTHER = "f" * 40


@pytest.mark.parametrize(
    ("text", "repository", "revision", "file"),
    [
        ("hf:acme/scorer", "acme/scorer", "", ""),
        ("hf:acme/scorer@v1.0", "acme/scorer", "v1.0", ""),
        ("hf:acme/scorer@v1.0/onnx/model.onnx", "acme/scorer", "v1.0", "onnx/model.onnx"),
        ("hf:acme/scorer/onnx/model.onnx", "acme/scorer", "", "onnx/model.onnx"),
        ("zoo:resnet50_Opset17", "onnxmodelzoo/resnet50_Opset17", "", ""),
    ],
)
def test_names_of_models(text: str, repository: str, revision: str, file: str) -> None:
    assert parse(text) == HubModel(text=text, repository=repository, revision=revision, file=file)


@pytest.mark.parametrize("text", ["model.keras", "nets:classifier", "C:model.onnx", "hf/acme"])
def test_other_sources_are_on_the_disk(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    "text",
    ["hf:", "hf:acme", "hf:../x", "hf:acme/..", "hf:a/b/../../x", "hf:a/b@", "hf:a b/c", "zoo:", "hf:a/b/c\\d.onnx"],
)
def test_what_cannot_be_a_name_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="not the name of a model on the hub") as error:
        parse(text)
    assert error.value.hint


def files_of(source: str, *names: str) -> tuple[str, ...]:
    model = parse(source)
    assert model
    return chosen(model, names)


def test_the_only_model_of_a_repository_comes_with_its_weights() -> None:
    found = files_of(SOURCE, "README.md", "onnx/model.onnx", "onnx/model.onnx_data", "onnx/other.data")
    assert found == ("onnx/model.onnx", "onnx/model.onnx_data")


def test_a_folder_of_transformers_comes_before_models_that_were_made_of_it() -> None:
    names = (
        "config.json",
        "model.safetensors",
        "pytorch_model.bin",
        "tokenizer.json",
        "onnx/model.onnx",
        "flax_model.msgpack",
    )
    assert files_of(SOURCE, *names) == ("config.json", "model.safetensors", "tokenizer.json")
    assert files_of(f"{SOURCE}/onnx/model.onnx", *names) == ("onnx/model.onnx",)


@pytest.mark.parametrize(
    ("source", "names", "words", "hint"),
    [
        (SOURCE, ("a.onnx", "b.onnx"), "has 2 models: a.onnx, b.onnx", "hf:acme/scorer/a.onnx"),
        (SOURCE, ("README.md",), "has no file that mobpack imports", "it looks for .onnx"),
        (f"{SOURCE}/modle.onnx", ("model.onnx",), "has no file modle.onnx", "model.onnx"),
        (SOURCE, ("../evil.onnx", "/evil.onnx"), "has no file that mobpack imports", "it looks for"),
    ],
)
def test_repositories_without_one_model_are_refused(source: str, names: tuple[str, ...], words: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=words) as error:
        files_of(source, *names)
    assert hint in error.value.hint


class Setting:
    def __init__(self, served: Hub, folder: Path) -> None:
        self.served, self.folder = served, folder
        self.output = folder / "model.onnx"
        self.lock = folder / "model.onnx.lock"

    def run(self, source: str = SOURCE, **more: bool) -> tuple[str, ...]:
        """Names of the files that were written."""
        request = ImportRequest(source=source, folder=self.folder, output=self.output, **more)  # type: ignore[arg-type]
        return tuple(each.name for each in run(request, Store(self.folder / "store"), Console(quiet=True)).files)


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Setting]:
    """A hub with one model, and an empty cache that has the client."""
    HUB.install()
    installed = Path(HUB.variables()["PYTHONPATH"])
    content = saved(tmp_path / "linear.onnx", linear()).read_bytes()
    with hub({"acme/scorer": {"README.md": b"# Scorer", "config.json": b"{}", "scorer.onnx": content}}) as served:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        place = Path(HUB.variables()["PYTHONPATH"])
        place.parent.mkdir(parents=True)
        place.symlink_to(installed)
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
        yield Setting(served, tmp_path)


def test_a_model_is_fetched_once_and_its_lock_pins_it(setting: Setting) -> None:
    assert setting.run() == ("model.onnx", "model.onnx.lock")
    locked = tomllib.loads(setting.lock.read_text(encoding="utf-8"))
    assert (locked["source"], locked["repository"], locked["commit"]) == (SOURCE, "acme/scorer", COMMIT)
    assert [each["name"] for each in locked["file"]] == ["scorer.onnx"]
    assert b"hf:acme/scorer@0123456789ab, imported from" in setting.output.read_bytes()

    setting.served.asked.clear()
    setting.served.commit = OTHER
    setting.run()
    assert setting.served.asked == [], "the lock names files that the cache has"
    setting.run(is_updated=True)
    assert tomllib.loads(setting.lock.read_text(encoding="utf-8"))["commit"] == OTHER


def test_the_network_is_not_needed_for_what_is_locked(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    setting.run()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert setting.run() == ("model.onnx", "model.onnx.lock")
    with pytest.raises(ToolError, match=r"http://127\.0\.0\.1:9 cannot be reached"):
        setting.run(is_updated=True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ToolError, match="cannot be reached"):
        setting.run(is_updated=True)


def test_other_bytes_than_the_hub_promises_are_refused(setting: Setting) -> None:
    content = setting.served.repositories["acme/scorer"]["scorer.onnx"]
    setting.served.changed["scorer.onnx"] = bytes(len(content))
    with pytest.raises(ToolError, match=r"scorer\.onnx is not the expected file"):
        setting.run()
    assert not setting.output.exists()
    assert not setting.lock.exists()
    setting.served.changed.clear()
    setting.run()


def test_other_bytes_than_the_lock_has_are_refused(setting: Setting) -> None:
    setting.run()
    text = setting.lock.read_text(encoding="utf-8")
    sha256 = tomllib.loads(text)["file"][0]["sha256"]
    setting.lock.write_text(text.replace(sha256, "0" * 64), encoding="utf-8", newline="\n")
    with pytest.raises(ToolError, match=r"scorer\.onnx is not the expected file") as error:
        setting.run()
    assert "--update" in error.value.hint


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        ("hf:acme/absent", ConfigError, "the hub has no model acme/absent, or it is private"),
        (f"{SOURCE}@v9", ConfigError, "acme/scorer has no such revision"),
        ("hf:acme/gated", ConfigError, "acme/gated asks for an agreement"),
    ],
)
def test_what_the_hub_refuses_is_said_in_words(
    source: str, kind: type[MobpackError], words: str, setting: Setting
) -> None:
    setting.served.repositories["acme/gated"] = {"scorer.onnx": b""}
    setting.served.gated = frozenset({"acme/gated"})
    with pytest.raises(kind, match=words) as error:
        setting.run(source)
    assert error.value.hint
    assert not setting.output.exists()


def test_a_damaged_lock_is_refused(setting: Setting) -> None:
    setting.lock.write_text('source = "hf:acme/scorer"\n', encoding="utf-8", newline="\n")
    with pytest.raises(ConfigError, match=r"model\.onnx\.lock is damaged"):
        setting.run()


def test_a_client_that_the_system_kills_has_had_too_little_memory(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "MOUNT", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(ToolError, match=r"the hub's client crashed \(SIGKILL\)") as error:
        setting.run()
    assert error.value.hint == "memory has probably run out: close other programs"
    assert not setting.output.exists()
