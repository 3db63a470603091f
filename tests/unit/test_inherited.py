"""Children inherit the variables that their calls name, and no secrets; neither do crash files."""

from pathlib import Path

import pytest

from benchmarks.abuse import secrets
from packager.core.secrets import is_secret, without_secrets
from packager.files.installed import PACKAGE
from packager.files.processes import children
from packager.files.processes.inherited import MODELS, NETWORK, NPM, PIP, users_code
from tests.cases.cli import Mobpack, mobpack
from tests.cases.cli_crash import plant

__all__ = ["mobpack"]


@pytest.mark.parametrize(
    "name",
    [*secrets.NAMES, "MOBPACK_GPG_PASSPHRASE", "npm_config_//registry.example.com/:_authToken", "CI_REGISTRY_PASSWORD"],
)
def test_a_variable_named_like_a_secret_is_inherited_by_none(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "a secret")
    for named in ((), MODELS, NETWORK, NPM, PIP, ("*",), users_code()):
        assert name not in children.variables({}, named)


def test_programs_inherit_what_they_need_and_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["PATH", "HOME", "DATA_ROOT", "PWD", "KEYBOARD", "MONKEYS", "LC_ALL", "XDG_CACHE_HOME"]:
        assert not is_secret(name)
    for name in ("LC_ALL", "XDG_CACHE_HOME", "HTTPS_PROXY", "DATA_ROOT", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "here")
    base = children.variables({})
    assert {"PATH", "HOME", "LC_ALL", "XDG_CACHE_HOME"} <= base.keys()
    assert not {"HTTPS_PROXY", "DATA_ROOT", "OMP_NUM_THREADS"} & base.keys()
    assert children.variables({}, NETWORK).keys() - base.keys() >= {"HTTPS_PROXY"}
    assert "OMP_NUM_THREADS" in children.variables({}, MODELS)
    assert children.variables({"HTTPS_PROXY": "own"}, NETWORK)["HTTPS_PROXY"] == "own"
    monkeypatch.setenv("MY_TOKEN", "one")
    assert without_secrets("one at https://example.com/a?b=c") == "one at https://example.com/a?b=c"


def test_a_crash_file_has_no_secrets(mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOBPACK_KEY_PASSWORD", "open sesame")
    text = "open sesame at https://ada:lovelace@example.com/x?X-Amz-Signature=abcdef&part=2"
    plant(monkeypatch, text)
    answer = mobpack("inspect", "https://ada:lovelace@example.com/m.onnx", "--debug")
    [path] = (tmp_path / ".cache" / "mobpack" / "crashes").iterdir()
    for said in (answer.err, path.read_text(encoding="utf-8")):
        assert "*** at https://***@example.com/x?X-Amz-Signature=***&part=2" in said, said
        assert not [each for each in ("open sesame", "lovelace", "abcdef") if each in said]


def test_no_module_hands_on_the_whole_environment() -> None:
    """A fleet's workers are mobpack itself, and fetch and sign results; registries are asked by this process."""
    folder = PACKAGE
    wanted = ("**os.environ", "dict(os.environ)", "os.environ.copy()")
    found = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*.py"))
        if any(each in path.read_text(encoding="utf-8") for each in wanted)
    ]
    assert found == ["distribution/publishing/registry.py", "measuring/fleet/cluster.py"]
