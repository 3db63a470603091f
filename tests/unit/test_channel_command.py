"""`mobpack channel` on the command line."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packager.cli import main
from tests.cases.channel_cases import Release, make_release
from tests.cases.signing_cases import Key, make_key


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return make_key(tmp_path / "keys")


Mobpack = Callable[..., tuple[int, str, str]]


@pytest.fixture
def mobpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Mobpack:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["mobpack", "channel", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main()
        assert isinstance(exited.value.code, int)
        return (exited.value.code, *capfd.readouterr())

    return run


def test_a_model_goes_from_a_release_to_a_tenth_to_all_and_back(mobpack: Mobpack, key: Key, tmp_path: Path) -> None:
    to = ("--to", "channel", "--key", key.private)
    read = ("--from", "channel")
    for name in ("stable", "late"):
        assert mobpack("init", "--package", "vision", "--channel", name, "--key", key.private)[0] == 0
    one, two = tmp_path / "one", tmp_path / "two"
    make_release(one, Release())
    make_release(two, Release(version="1.1.0", weights=b"others"))

    def percents() -> list[tuple[str, int]]:
        code, out, _ = mobpack("show", *read, "--json")
        assert code == 0
        document: dict[str, Any] = json.loads(out)["documents"][0]
        return [(each["version"], each["rollout"]["percent"]) for each in document["models"][0]["releases"]]

    code, _, err = mobpack("publish", one, *to)
    assert code == 0
    assert "were built without `trust` and `channel` in [package]: apps that have them get no models" in err
    code, out, _ = mobpack("publish", two, *to, "--percent", "10", "--wifi", "--free", "50MB", "--dry-run")
    assert code == 0
    assert "nothing was written (--dry-run)" in out
    assert percents() == [("1.0.0", 100)]
    code, out, _ = mobpack("publish", two, *to, "--percent", "10", "--wifi", "--free", "50MB", "--json")
    made = json.loads(out)
    assert (code, made["is-new"], made["document"]["number"], len(made["uploaded"])) == (0, True, 2, 3)
    conditions = made["document"]["models"][0]["releases"][0]["conditions"]
    assert conditions == {"wifi": True, "charging": False, "free-bytes": 50_000_000}
    assert percents() == [("1.1.0", 10), ("1.0.0", 100)]
    assert mobpack("promote", *to, "--percent", "100")[0] == 0
    assert mobpack("promote", *to, "--channel", "late", "--from-channel", "stable", "--percent", "5")[0] == 0
    assert percents() == [("1.1.0", 100), ("1.0.0", 100)]
    assert mobpack("rollback", *to, "--number", "1")[0] == 0
    assert percents() == [("1.0.0", 100)]
    assert mobpack("renew", *to, "--days", "7")[0] == 0
    code, out, _ = mobpack("verify", *read, "--at-least", "4")
    assert code == 0
    assert "stable of vision: document 4 is signed and valid until" in out
    code, out, _ = mobpack("prune", "--to", "channel", "--keep", "1", "--grace", "0", "--json")
    assert code == 0
    pruned = json.loads(out)
    assert [each for each in pruned["names"] if each.endswith(".targets.json")] == [
        f"stable/{number}.targets.json" for number in (1, 2, 3)
    ]
    assert pruned["kept"] == 6, "of 1.1.0 in the channel 'late', and of 1.0.0"
    assert "document 4" in mobpack("show", *read, "--history")[1]


def test_gates_end_with_6_and_say_what_to_do(mobpack: Mobpack, key: Key, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    make_release(one, Release())
    make_release(two, Release(version="1.1.0", labels=("cat", "hound")))
    to = ("--to", "channel", "--key", key.private)
    assert mobpack("init", "--package", "vision", "--key", key.private)[0] == 0
    assert mobpack("publish", one, *to)[0] == 0
    code, _, err = mobpack("publish", two, *to)
    assert code == 6
    assert "--new-contract" in err
    other = make_key(tmp_path / "others")
    assert mobpack("init", "--package", "vision", "--key", other.private, "--out", "other.json")[0] == 0
    code, out, _ = mobpack("verify", "--from", "channel", "--root", "other.json", "--json")
    assert code == 6
    assert json.loads(out)["error"]["exit-code"] == 6
    code, _, err = mobpack("renew", "--to", "channel", "--key", other.private)
    assert code == 2
    assert "is none of the channel" in err
    code, _, err = mobpack("verify", "--from", "channel", "--at-least", "9")
    assert code == 6
    assert "--after" in err


def test_what_is_not_there_ends_with_2(mobpack: Mobpack, key: Key) -> None:
    for words in ("mobpack channel init", "mobpack channel publish"):
        for command in ("show", "verify"):
            code, _, err = mobpack(command, "--from", "nothing")
            assert code == 2, command
            assert words in err
        mobpack("init", "--package", "vision", "--key", key.private)
    assert mobpack("publish", "nothing", "--to", "channel", "--key", key.private)[0] == 2
    assert not Path("channel").exists()


def test_people_sign_one_after_the_other(mobpack: Mobpack, tmp_path: Path) -> None:
    """Two of three hold the root, two sign what is published, and a machine has the key of the timestamp alone."""
    a, b, c, machine, other = (make_key(tmp_path / "keys", name) for name in ("a", "b", "c", "machine", "other"))
    one = make_release(tmp_path / "one", Release())
    people: list[str | Path] = [argument for each in (a, b, c) for argument in ("--root-key", each.public)]
    targets: list[str | Path] = ["--targets-key", a.public, "--targets-key", b.public]
    thresholds = ["--threshold", "root=2", "--threshold", "targets=2"]
    online: list[str | Path] = ["--snapshot-key", machine.public, "--timestamp-key", machine.public]

    def run(*arguments: str | Path, code: int = 0) -> str:
        found, out, err = mobpack(*arguments)
        assert found == code, err
        return out + err

    def roles() -> list[tuple[str, int, int]]:
        found = json.loads(run("show", "--from", "channel", "--json"))["roles"]
        return [(each["role"], each["number"], len(each["keys"])) for each in found]

    init: list[str | Path] = [
        "init",
        "--package",
        "vision",
        "--key",
        a.private,
        *people,
        *targets,
        *online,
        *thresholds,
    ]
    assert "needs 1 more signature" in run(*init, "--to", "channel")
    assert not Path("channel").exists()
    assert "is there already" in run(*init, code=2)
    assert "may not sign" in run("sign", "stable.root.json", "--key", machine.private, code=2)
    assert "stable.root.json: root 1 is published" in run(
        "sign", "stable.root.json", "--key", b.private, "--to", "channel"
    )
    another = ("init", "--package", "vision", "--key", other.private, "--out", "another.json", "--to", "channel")
    assert "has another stable/1.root.json" in run(*another, code=6)
    to: list[str | Path] = ["--to", "channel", "--key"]
    assert "is none of the channel" in run("publish", one, *to, other.private, code=2)
    assert "may sign 'targets'" in run("publish", one, *to, machine.private, "--dry-run", code=2)
    said = run("publish", one, *to, a.private, code=6)
    assert "targets 1 needs 1 more signature" in said
    assert "mobpack channel sign stable.1.targets.json" in said
    said = run("sign", "stable.1.targets.json", *to, b.private)
    assert "when a key of the role 'snapshot' signed" in said
    run("verify", "--from", "channel", code=2)
    run("renew", *to, machine.private)
    assert "document 1 is signed and valid" in run("verify", "--from", "channel")
    assert roles() == [("root", 1, 3), ("targets", 1, 2), ("snapshot", 1, 1), ("timestamp", 1, 1)]
    before = len(list(tmp_path.rglob("*")))
    assert "nothing was written" in run("revoke", c.public, *to, a.private, "--key", b.private, "--dry-run")
    assert len(list(tmp_path.rglob("*"))) == before
    assert "2 of 1 keys of the role 'targets' cannot sign" in run("revoke", b.public, *to, a.private, code=2)
    said = run("rotate", *to, c.private, "--timestamp-key", other.public)
    assert "stable.2.root.json: root 2 needs 1 more signature" in said
    run("sign", "stable.2.root.json", *to, a.private, "--key", other.private)
    assert roles() == [("root", 2, 3), ("targets", 1, 2), ("snapshot", 1, 1), ("timestamp", 1, 1)]
    run("revoke", c.public, *to, a.private, "--key", b.private)
    assert roles()[0] == ("root", 3, 2)
    assert Path("stable.3.root.json").read_bytes() == Path("channel/stable/3.root.json").read_bytes()
    run("renew", *to, other.private, "--all")
    assert "the timestamp ends when it did" in run("renew", *to, machine.private, "--json")
    found = json.loads(run("show", "--from", "channel", "--json"))["roles"]
    assert [each["number"] for each in found] == [3, 1, 1, 2], "of root 2, timestamps begin anew"
    assert json.loads(run("verify", "--from", "channel", "--json"))["verified"]["document"]["number"] == 1
