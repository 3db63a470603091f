"""Publishing wheels: to pypiserver, from which pip takes them, and to a double that answers as PyPI does."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from packager.core.errors import GateError, ToolError
from packager.distribution.publishing import RegistryOutcome, publish, registries
from tests.cases.onnx_text import onnx_model, saved
from tests.cases.registries import Answered, Asked, Server, Waits, parts_of, results, serving
from tests.toolchain import command, stores

LOGGED_IN = {"MOBPACK_PYPI_USERNAME": "ada", "MOBPACK_PYPI_PASSWORD": "secret"}
SIMPLE = "/simple/vision-models/"
JOB = {"ACTIONS_ID_TOKEN_REQUEST_URL": "{}/job?api-version=2", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "of-the-job"}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("project"), "Sees.")


def built(folder: Path, description: str) -> Path:
    folder.mkdir(exist_ok=True)
    saved(folder / "m.onnx", onnx_model("(float[2] x) => (float[2] y) { y = Neg (x) }"))
    table = f'[package]\nname = "vision-models"\nversion = "1.0.0"\nlicense = "MIT"\ndescription = "{description}"\n'
    (folder / "mobpack.toml").write_text(f'{table}[model.m]\npath = "m.onnx"\n[target.python]\n', encoding="utf-8")
    done = command.run("build", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "dist"


def published(dist: Path, address: str, variables: Mapping[str, str]) -> list[RegistryOutcome]:
    return list(publish(dist, registries([f"pypi={address}"], []), Waits(variables).session, is_dry=False))


def test_pip_gets_the_wheel_that_was_published_once(dist: Path, tmp_path: Path) -> None:
    [wheel] = (dist / "python").glob("*.whl")
    with stores.package_index(tmp_path) as address:
        sent = command.run("publish", dist, "--to", f"pypi={address}", environment={**os.environ, **LOGGED_IN})
        assert sent.returncode == 0, sent.stderr
        assert "vision-models 1.0.0" in sent.stdout
        assert results(published(dist, address, LOGGED_IN)) == {"already there"}
        with pytest.raises(GateError, match="other bytes"):
            published(built(tmp_path / "other", "Sees more."), address, LOGGED_IN)
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-cache-dir",
            "-d",
            str(tmp_path / "got"),
        ]
        own = ["--index-url", f"{address}/simple/", "vision-models==1.0.0"]
        done = subprocess.run([*pip, *own], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "got" / wheel.name).read_bytes() == wheel.read_bytes()


class PyPIDouble:
    """Files of an index as JSON, and tokens for jobs, as its documentation describes them."""

    def __init__(self) -> None:
        self.server = Server(handle=lambda server, asked: self.answer(asked))
        self.files: dict[str, dict[str, bytes]] = {}
        self.is_stale = False
        """whether the index does not list what is there yet"""

    def answer(self, asked: Asked) -> Answered:
        if asked.path == SIMPLE:
            listed = {} if self.is_stale else self.files
            files = [
                {"filename": name, "url": f"/{name}", "hashes": {"sha256": sha256(form["content"]).hexdigest()}}
                for name, form in listed.items()
            ]
            said = json.dumps({"meta": {"api-version": "1.1"}, "files": files}).encode()
            return Answered(200, said, {"Content-Type": "application/vnd.pypi.simple.v1+json"})
        if asked.path == "/_/oidc/audience":
            return Answered(200, b'{"audience": "pypi"}')
        if asked.path == "/job":
            assert (asked.query["audience"], asked.headers["Authorization"]) == ("pypi", "Bearer of-the-job")
            return Answered(200, b'{"value": "who-i-am"}')
        if asked.path == "/_/oidc/mint-token":
            assert json.loads(asked.body) == {"token": "who-i-am"}
            return Answered(200, b'{"success": true, "token": "pypi-minted"}')
        assert (asked.method, asked.path) == ("POST", "/legacy/")
        form = parts_of(asked)
        name = f"{form['name'].decode().replace('-', '_')}-{form['version'].decode()}-py3-none-any.whl"
        if name in self.files:
            return Answered(400, b"File already exists.")
        self.files[name] = form
        return Answered(200)


def test_the_identity_of_a_job_publishes_without_a_token(dist: Path) -> None:
    double = PyPIDouble()
    with serving(double.server) as server:
        job = {name: value.format(server.address) for name, value in JOB.items()}
        assert results(published(dist, f"{server.address}/legacy/", job)) == {"sent"}
        assert results(published(dist, f"{server.address}/legacy/", job)) == {"already there"}
    [headers] = [each for each in double.server.headers if "multipart" in each.get("Content-Type", "")]
    assert headers["Authorization"] == "Basic X190b2tlbl9fOnB5cGktbWludGVk"  # __token__:pypi-minted
    [form] = double.files.values()
    fields = {
        name: form[name].decode() for name in (":action", "filetype", "pyversion", "license_expression", "summary")
    }
    assert list(fields.values()) == ["file_upload", "bdist_wheel", "py3", "MIT", "Sees."]
    assert form["sha256_digest"].decode() == sha256(form["content"]).hexdigest()


def test_credentials_that_are_wrong_are_said_and_not_shown(dist: Path) -> None:
    double = PyPIDouble()
    double.server.authorization = "Basic another"
    with serving(double.server) as server, pytest.raises(ToolError, match="does not accept the credentials") as error:
        published(dist, f"{server.address}/legacy/", {**LOGGED_IN, "MOBPACK_PYPI_PASSWORD": "wr0ng"})
    assert "wr0ng" not in f"{error.value} {error.value.hint}"


def test_a_file_that_the_index_does_not_list_yet_is_not_sent_as_another(dist: Path) -> None:
    """The answer of PyPI to a name that is taken is 400. What is there is asked again, and nothing is lost."""
    double = PyPIDouble()
    with serving(double.server) as server:
        token = {"MOBPACK_PYPI_TOKEN": "pypi-s3cret"}
        published(dist, f"{server.address}/legacy/", token)
        double.is_stale = True
        with pytest.raises(ToolError) as error:
            published(dist, f"{server.address}/legacy/", token)
    assert "s3cret" not in f"{error.value} {error.value.hint}"
    assert len(double.files) == 1
