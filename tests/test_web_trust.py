"""Web packages with trusted keys open what was signed, and say of everything else why they do not: in Node."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from packager.core.findings import Report
from packager.environments import web as environment
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render import write_sources
from packager.targets.web import Web
from tests.onnx_text import linear, saved
from tests.toolchain import node, trusted
from tests.toolchain.react_native.packages import unpack
from tests.trust_vectors import IN_USE, OPENED, SWAPPED, VECTORS

pytestmark = [pytest.mark.by_content, pytest.mark.react_native]

Facts = Mapping[str, Mapping[str, Any]]

SCRIPT = """\
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { ModelError, ModelUntrustedError, Scorer } from './package/lib/index.js';
import { TRUST } from './package/lib/trust.js';
import { loadTrusted } from './package/lib/runtime/trust.js';

const LIST = './package/models/models.sig', MODEL = './package/models/scorer.ort';
const found = {};
async function tell(name, options) {
  const told = [];
  const observer = { onFailure: ({ error }) => told.push(error.name) };
  try {
    const model = await Scorer.load({ ...options, observer });
    found[name] = { found: `opened by ${model.provider}` };
    model.dispose();
  } catch (error) {
    const isKnown = error instanceof ModelUntrustedError && error instanceof ModelError;
    found[name] = { found: isKnown ? error.problem : error.code ?? String(error), words: error.message, told };
  }
}
const names = readdirSync('lists').sort();
for (const name of names) {
  rmSync(LIST, { force: true });
  if (!name.endsWith('.none')) copyFileSync(`lists/${name}`, LIST);
  await tell(name.slice(0, 2), {});
}
copyFileSync(`lists/${names[0]}`, LIST);
const bytes = readFileSync(MODEL), sha256 = createHash('sha256').update(bytes).digest('hex');
await tell('own', { source: { buffer: new Uint8Array(bytes), sha256: sha256.toUpperCase() } });
await tell('own without sha256', { source: { buffer: new Uint8Array(bytes) } });
await tell('own stranger', { source: { buffer: new Uint8Array(8), sha256: '0'.repeat(64) } });
await tell('own with another byte', { source: { buffer: new Uint8Array(8), sha256 } });
let least = Infinity;
for (let time = 0; time < 200; time += 1) {
  const began = performance.now();
  await loadTrusted(TRUST, Scorer.descriptor, {}, async () => null);
  least = Math.min(least, performance.now() - began);
}
found.milliseconds = { found: least };
bytes[bytes.length - 1] ^= 1;
writeFileSync(MODEL, bytes);
await tell('damaged', {});
const { crypto } = globalThis;
Object.defineProperty(globalThis, 'crypto', { value: {} });
await tell('no secure context', {});
Object.defineProperty(globalThis, 'crypto', { value: crypto });
console.log(JSON.stringify(found));
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package in `package`, and the lists in `lists`."""
    folder = tmp_path_factory.mktemp("trust")
    store = Store(cache_folder() / "store")
    target = Web()
    plan = trusted.plan(folder, store, "web", environment=environment.Web.NAME)
    view = target.view(trusted.PACKAGE, (plan,), Report(parities=()))
    write_sources(target.render(view), folder / "package")
    files = {each.content.path: each.content.sha256 for each in view.files}
    (folder / "lists").mkdir()
    for number, vector in enumerate(VECTORS):
        text = vector.text(files, trusted.PACKAGE)
        suffix = "none" if text is None else "sig"
        (folder / "lists" / f"{number:02}.{suffix}").write_text(text or "", encoding="utf-8", newline="\n")
    return folder


@pytest.fixture(scope="module")
def facts(folder: Path) -> Facts:
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "main.mjs").write_text(SCRIPT, encoding="utf-8")
    done = node.run(["main.mjs"], cwd=folder)
    assert done.returncode == 0, done.output
    found: Facts = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("number", range(len(VECTORS)), ids=[vector.name for vector in VECTORS])
def test_a_list_is_answered_as_on_every_platform(facts: Facts, number: int) -> None:
    expected, found = VECTORS[number].expected, facts[f"{number:02}"]
    assert found["found"] == ("opened by cpu" if expected == OPENED else expected), found
    if expected != OPENED:
        assert found["told"] == ["ModelUntrustedError"], "the observer hears of it"


def test_a_signed_file_with_another_byte_is_not_opened(facts: Facts) -> None:
    assert facts["damaged"]["found"] == "corrupted"
    assert "sha256" in facts["damaged"]["words"]


def test_a_file_of_the_app_s_own_must_be_in_the_list(facts: Facts) -> None:
    assert facts["own"]["found"] == "opened by cpu"
    assert facts["own without sha256"]["found"] == SWAPPED
    assert facts["own stranger"]["found"] == SWAPPED
    assert facts["own with another byte"]["found"] == "corrupted"


def test_a_page_that_is_not_secure_is_told_to_be_served_over_https(facts: Facts) -> None:
    assert facts["no secure context"]["found"] == "unsupported"
    assert "serve the page over https" in facts["no secure context"]["words"]


def test_words_say_what_to_do(facts: Facts) -> None:
    words = {vector.name: facts[f"{number:02}"].get("words", "") for number, vector in enumerate(VECTORS)}
    assert "Run `mobpack sign`" in words["no list"]
    assert "Run `mobpack sign`" in words["no signature"]
    assert "sign with the private key of [package] trust" in words["a stranger's key"]
    assert "release 1.2.2, which is older" in words["an older release"]
    assert "package other, not of models" in words["another package"]


PROJECT = """\
[package]
name = "models"
version = "1.2.3"
trust = "release.pub"

[model.scorer]
path = "scorer.onnx"

[target.web]
"""
LOAD = """\
const { Scorer } = await import('./package/lib/index.js');
const model = await Scorer.load().catch((error) => error);
console.log(model.provider ?? model.problem);
"""


def test_what_mobpack_builds_is_opened_once_mobpack_has_signed_it(tmp_path: Path) -> None:
    saved(tmp_path / "scorer.onnx", linear())
    (tmp_path / "mobpack.toml").write_text(PROJECT, encoding="utf-8", newline="\n")
    (tmp_path / "release.pub").write_bytes(
        IN_USE.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    key = tmp_path / "release.pem"
    key.touch(mode=0o600)
    key.write_bytes(IN_USE.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))

    mobpack(tmp_path, "build")
    assert loaded(tmp_path, tmp_path / "unsigned") == "unsigned"
    mobpack(tmp_path, "sign", "dist", "--key", "release.pem")
    assert loaded(tmp_path, tmp_path / "signed") == "cpu"


def mobpack(folder: Path, *words: str) -> None:
    command = [sys.executable, "-m", "packager.cli", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def loaded(project: Path, folder: Path) -> str:
    """The outcome of a load of the package that lies in the project's `dist`."""
    [archive] = (project / "dist").rglob("*.tgz")
    unpack(archive, folder)
    (folder / "main.mjs").write_text(LOAD, encoding="utf-8", newline="\n")
    done = node.run(["main.mjs"], cwd=folder)
    assert done.returncode == 0, done.output
    return done.stdout.strip()
