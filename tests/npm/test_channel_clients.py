"""Channels on a plain web server, from which the clients of The Update Framework in Python and JavaScript update."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import Metadata, Root, Timestamp
from tuf.ngclient import Updater

from packager.distribution.channel import publishing, rotating
from packager.distribution.channel.publishing import Terms
from packager.distribution.channel.storage import ChannelFolder
from tests.cases.channel import ONE, TWO, dist, folder, key
from tests.cases.channel_cases import NOW, Release, repository_of, role_keys, root_of, signers_of, signing_of
from tests.cases.signing_cases import Key, digest, make_key
from tests.cases.web_servers import serving
from tests.toolchain import node

__all__ = ["dist", "folder", "key"]

Client = Callable[[Path, str, Metadata[Root], list[str]], str]
"""Updates what it keeps in a folder from an address, downloads targets there, and returns why it refuses to, if so."""


def python_tuf(kept: Path, url: str, root: Metadata[Root], targets: list[str]) -> str:
    (kept / "targets").mkdir(parents=True, exist_ok=True)
    client = Updater(
        str(kept / "metadata"), f"{url}/stable/", str(kept / "targets"), f"{url}/targets/", bootstrap=root.to_bytes()
    )
    try:
        client.refresh()
        for each in targets:
            found = client.get_targetinfo(each)
            assert found, each
            client.download_target(found)
    except RepositoryError as error:
        return str(error)
    return ""


SCRIPT = """
const { Updater } = require("tuf-js");
const [kept, url, ...targets] = process.argv.slice(2);
const [metadataDir, targetDir] = ["metadata", "targets"].map((name) => `${kept}/${name}`);
const places = { metadataDir, targetDir, metadataBaseUrl: `${url}/stable`, targetBaseUrl: `${url}/targets` };
(async () => {
  const client = new Updater(places);
  await client.refresh();
  for (const each of targets) await client.downloadTarget(await client.getTargetInfo(each));
})().catch((error) => { console.log(`${error.name}: ${error.message}`); });
"""


def tuf_js(kept: Path, url: str, root: Metadata[Root], targets: list[str]) -> str:
    (kept / "targets").mkdir(parents=True, exist_ok=True)
    (kept / "metadata").mkdir(exist_ok=True)
    if not (kept / "metadata" / "root.json").exists():
        (kept / "metadata" / "root.json").write_bytes(root.to_bytes())
        node.link(node.project("tuf"), kept)
    (kept / "update.js").write_text(SCRIPT, encoding="utf-8", newline="\n")
    done = node.run([kept / "update.js", kept, url, *targets], cwd=kept)
    assert done.returncode == 0, done.output
    return done.stdout.strip()


@pytest.mark.parametrize("update", [python_tuf, tuf_js])
def test_other_clients_update_from_a_channel(
    folder: ChannelFolder, key: Key, dist: Callable[[Release], Path], tmp_path: Path, update: Client
) -> None:
    """Through two releases, other keys and a step back; an older timestamp, a changed list and a stranger's key are
    refused."""
    root, new = root_of(key), make_key(tmp_path / "new")
    place = repository_of(folder, root, key, new)
    kept = tmp_path / "kept"
    lists, weights = "classifier/releases.json", f"classifier/{digest(TWO.weights)}"

    def versions(url: str, *targets: str) -> list[str]:
        assert update(kept, url, root, [lists, *targets]) == ""
        found = json.loads((kept / "targets" / "classifier%2Freleases.json").read_bytes())
        return [each["version"] for each in found["releases"]]

    with serving(folder.root) as url:
        publishing.publish(place, dist(ONE), Terms(), signing_of())
        assert versions(url) == ["1.0.0"]
        old = (folder.root / place.pointer).read_bytes()
        publishing.publish(place, dist(TWO), Terms(), signing_of())
        assert versions(url, weights) == ["1.1.0", "1.0.0"]
        assert (kept / "targets" / weights.replace("/", "%2F")).read_bytes() == TWO.weights
        current = (folder.root / place.pointer).read_bytes()
        (folder.root / place.pointer).write_bytes(old)
        assert "version" in update(kept, url, root, [lists])
        (folder.root / place.pointer).write_bytes(current)
        changed = rotating.rotated(place, {"timestamp": role_keys(new), "targets": role_keys(new)}, (), NOW, 365)
        assert rotating.put_root(place, changed, signing_of()) == ()
        publishing.rollback(place, signing_of(), number=1)
        assert versions(url) == ["1.0.0"]
        for hosted in folder.root.glob("targets/classifier/*.releases.json"):
            hosted.write_bytes(hosted.read_bytes().replace(b"1.0.0", b"9.9.9"))
        assert "hash" in update(kept, url, root, [lists])
        forged = Metadata[Timestamp].from_bytes((folder.root / place.pointer).read_bytes())
        forged.signed.version += 1
        forged.sign(*signers_of(make_key(tmp_path / "stranger")))
        (folder.root / place.pointer).write_bytes(forged.to_bytes())
        assert "signed by 0/1 keys" in update(kept, url, root, [])
