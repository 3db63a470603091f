"""A program in Node whose model is loaded with every list of `tests/cases/trust_vectors.py`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packager.core.findings import Report
from packager.engines.environments import web as environment
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.web import Web
from tests.cases.trust_vectors import write_lists
from tests.toolchain import node, trusted

Facts = Mapping[str, Mapping[str, Any]]

SCRIPT = """\
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { ModelError, ModelUntrustedError, Scorer } from './package/lib/index.js';

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
bytes[bytes.length - 1] ^= 1;
writeFileSync(MODEL, bytes);
await tell('damaged', {});
const { crypto } = globalThis;
Object.defineProperty(globalThis, 'crypto', { value: {} });
await tell('no secure context', {});
Object.defineProperty(globalThis, 'crypto', { value: crypto });
console.log(JSON.stringify(found));
"""


def write(folder: Path) -> Mapping[str, str]:
    """Writes a package to `package`, and the lists to `lists`; gives the SHA-256 of the package's files by name."""
    store = Store(cache_folder() / "store")
    target = Web()
    plan = trusted.plan(folder, store, "web", environment=environment.Web.NAME)
    view = target.view(trusted.PACKAGE, (plan,), Report(parities=()))
    write_sources(target.render(view), folder / "package")
    files = {each.content.path: each.content.sha256 for each in view.files}
    write_lists(folder / "lists", files, trusted.PACKAGE)
    return files


def answers(folder: Path) -> Facts:
    """The answers to each list by its number."""
    write(folder)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "main.mjs").write_text(SCRIPT, encoding="utf-8")
    done = node.run(["main.mjs"], cwd=folder)
    assert done.returncode == 0, done.output
    found: Facts = json.loads(done.stdout.splitlines()[-1])
    return found
