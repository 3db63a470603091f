"""Publishing to a Maven repository: complete for readers at any moment, and continued after any failure."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, GateError, MobpackError, ToolError
from packager.distribution.publishing import publish, registries
from tests.cases.publish_maven import HOME, LIST, expected, published
from tests.cases.registries import Answered, Fault, Server, Waits, release, results, serving
from tests.cases.waiting import until

FILES = 4

REQUESTS = 5 * FILES + 5


def test_an_empty_repository_gets_the_files_of_the_build_and_a_second_call_sends_nothing(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    with serving(Server()) as server:
        assert results(published(dist, server)) == {"sent"}
        assert server.files == expected(dist)
        assert len(server.changed()) == REQUESTS
        assert results(published(dist, server)) == {"already there"}
        assert len(server.changed()) == REQUESTS


def test_readers_find_a_version_only_when_all_of_it_is_there(tmp_path: Path) -> None:
    """Gradle and Maven begin with the POM, or with the list if the version is open."""
    dist = release(tmp_path / "dist")
    with serving(Server()) as server:
        published(dist, server)
        order = [each.split()[1] for each in server.changed()]
    first = [re.sub(r"\.(md5|sha1|sha256|sha512)$", "", each) for each in order]
    stem = f"{HOME}/1.0.0/vision-1.0.0"
    artifacts = [f"{stem}-sources.jar", f"{stem}.aar"]
    assert order[:2] == artifacts
    assert set(first[:10]) == set(artifacts)
    assert first[10:] == [f"{stem}.module"] * 5 + [f"{stem}.pom"] * 5 + [LIST] * 5
    assert order[20] == LIST, "before its checksums"


def test_a_dry_run_shows_every_request_and_asks_nobody(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    with serving(Server()) as server:
        planned = published(dist, server, is_dry=True)
        assert server.requests == []
        published(dist, server)
        assert [each.request.address.removeprefix(server.address) for each in planned] == [
            each.removeprefix("PUT ") for each in server.changed()
        ]
    sizes = {each.request.file: each.request.size_bytes for each in planned}
    assert sizes["maven/com/example/vision/1.0.0/vision-1.0.0.aar"] == 300_000
    assert [each.request.sha256 for each in planned if each.request.file.endswith("metadata.xml")] == [""]


def test_versions_that_are_listed_stay_listed(tmp_path: Path) -> None:
    with serving(Server()) as server:
        published(release(tmp_path / "old", version="0.9.0"), server)
        published(release(tmp_path / "new"), server)
        text = server.files[LIST].decode()
    assert re.findall(r"<version>(.*)</version>", text) == ["0.9.0", "1.0.0"]
    assert "<latest>1.0.0</latest>" in text


def test_other_bytes_are_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with serving(Server()) as server:
        published(release(tmp_path / "one"), server)
        del server.files[f"{HOME}/1.0.0/vision-1.0.0-sources.jar"]
        before, count = dict(server.files), len(server.changed())
        with pytest.raises(GateError, match=r"vision-1\.0\.0\.aar is there with other bytes, and \d+ more") as error:
            published(release(tmp_path / "two", aar=b"another aar"), server)
        assert "nothing was sent" in error.value.hint
        assert (server.files, len(server.changed())) == (before, count)


def test_a_page_in_the_place_of_a_file_is_not_taken_for_another_version(tmp_path: Path) -> None:
    """A login page that answers everything with 200."""
    page = Answered(200, b"<html>Log in</html>", {"Content-Type": "text/html; charset=utf-8"})
    with (
        serving(Server(handle=lambda _server, _asked: page)) as server,
        pytest.raises(ToolError, match="answers with a web page") as error,
    ):
        published(release(tmp_path / "dist"), server)
    assert "login page" in error.value.hint
    assert server.changed() == []


@pytest.mark.parametrize("fault", [429, 500, 502, 503, "cut", "late", "half"])
@pytest.mark.parametrize("number", [1, 7, 21, 25])
def test_a_failure_that_passes_is_tried_again(tmp_path: Path, fault: Fault, number: int) -> None:
    """The connection may end before the server has the file (cut), after it (late) or amid it (half)."""
    dist, waits = release(tmp_path / "dist"), Waits()
    with serving(Server(faults={number: fault})) as server:
        published(dist, server, waits)
        assert server.files == expected(dist)
    assert waits.seconds == [1]
    assert "trying again in 1 s" in waits.said[0]


def test_a_repository_that_takes_each_file_once_is_not_asked_twice(tmp_path: Path) -> None:
    """The first attempt arrived, although its answer did not."""
    dist = release(tmp_path / "dist")
    with serving(Server(faults={2: "late"}, is_write_once=True)) as server:
        assert results(published(dist, server)) == {"sent"}
        assert server.files == expected(dist)


@pytest.mark.parametrize(("header", "waited"), [("7", 7), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("soon", 1)])
def test_a_repository_may_say_how_long_to_wait(tmp_path: Path, header: str, waited: float) -> None:
    waits = Waits()
    with serving(Server(faults={3: (429, {"Retry-After": header})})) as server:
        published(release(tmp_path / "dist"), server, waits)
    assert waits.seconds == [waited]


def test_a_long_wait_is_left_to_the_user_and_the_next_call_continues(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    with serving(Server(faults={4: (503, {"Retry-After": "3600"})})) as server:
        with pytest.raises(ToolError, match=r"asks to wait for 3600 s \(3 of 25 requests are done\)") as error:
            published(dist, server)
        assert "run the same command again" in error.value.hint
        found = error.value.document["requests"]
        assert isinstance(found, list)
        assert [each["result"] for each in found] == ["sent"] * 3 + ["not sent"] * 22
        assert LIST not in server.files
        published(dist, server)
        assert server.files == expected(dist)


def test_a_repository_that_fails_for_good_is_given_up_with_the_reason(tmp_path: Path) -> None:
    waits = Waits()
    message = r"answers 500 \(.*\), 5 times \(4 of 25 requests are done\)"
    failing = Server(faults=dict.fromkeys(range(5, 99), 500))
    with serving(failing) as server, pytest.raises(ToolError, match=message):
        published(release(tmp_path / "dist"), server, waits)
    assert waits.seconds == [1, 2, 4, 8]


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with serving(Server()) as server:
        pass
    with pytest.raises(ToolError, match=r"the connection to 127\.0\.0\.1:\d+ failed: Connection refused, 5 times"):
        published(release(tmp_path / "dist"), server)


def test_409_for_something_that_is_not_shown_is_said_in_words(tmp_path: Path) -> None:
    message = r"says that .*vision-1\.0\.0\.aar is there \(409\), but does not"
    failing = Server(faults=dict.fromkeys((2, 3, 4), 409))
    with serving(failing) as server, pytest.raises(ToolError, match=message) as error:
        published(release(tmp_path / "dist"), server)
    assert "somebody else may be publishing this version" in error.value.hint


TOKEN = "s3cret-t0ken"


@pytest.mark.parametrize(
    ("variables", "message", "hint"),
    [
        ({}, "asks for credentials (401)", "MOBPACK_MAVEN_TOKEN, or MOBPACK_MAVEN_USERNAME and MOBPACK_MAVEN_PASSWORD"),
        ({"MOBPACK_MAVEN_USERNAME": "me"}, "asks for credentials (401)", "variable MOBPACK_MAVEN_PASSWORD"),
        ({"MOBPACK_MAVEN_TOKEN": TOKEN}, "wrong or have expired", "set MOBPACK_MAVEN_TOKEN"),
    ],
)
def test_missing_and_expired_credentials_are_told_apart_and_never_shown(
    tmp_path: Path, variables: dict[str, str], message: str, hint: str
) -> None:
    waits = Waits(variables)
    with serving(Server(authorization="Bearer fresh")) as server:
        with pytest.raises(ToolError) as error:
            published(release(tmp_path / "dist"), server, waits)
        assert server.files == {}
    assert message in error.value.message
    assert hint in error.value.hint
    assert TOKEN not in f"{error.value} {error.value.hint} {error.value.document} {waits.said}"


@pytest.mark.parametrize(
    ("variables", "header"),
    [
        ({"MOBPACK_MAVEN_TOKEN": "fresh"}, "Bearer fresh"),
        ({"MOBPACK_MAVEN_USERNAME": "me", "MOBPACK_MAVEN_PASSWORD": "pass"}, "Basic bWU6cGFzcw=="),
    ],
)
def test_credentials_of_the_environment_are_sent(tmp_path: Path, variables: dict[str, str], header: str) -> None:
    with serving(Server(authorization=header)) as server:
        assert results(published(release(tmp_path / "dist"), server, Waits(variables))) == {"sent"}


@pytest.mark.parametrize("place", ["http://example.com/stolen", "https://example.com/elsewhere"])
def test_packages_and_credentials_follow_no_redirect(tmp_path: Path, place: str) -> None:
    failing = Server(faults={1: (307, {"Location": f"{place}?signature=1"})})
    message = f"redirects PUT to another address: {place} "
    with serving(failing) as server, pytest.raises(ToolError, match=message) as error:
        published(release(tmp_path / "dist"), server)
    assert "signature" not in error.value.message


def test_reading_follows_redirects_but_not_to_unencrypted_servers(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    with serving(Server()) as real, serving(Server(authorization="Bearer mine")) as front:
        published(dist, real)
        front.handle = lambda server, asked: redirected(asked.method, real.address + asked.path)
        variables = {"MOBPACK_MAVEN_TOKEN": "mine"}
        assert results(published(dist, front, Waits(variables))) == {"already there"}
        assert all("Authorization" in each for each in front.headers)
        assert not any("Authorization" in each for each in real.headers), "it is another server"
        front.handle = lambda server, asked: redirected(asked.method, "http://example.com/x")
        with pytest.raises(ToolError, match=r"redirects to http://example\.com/x"):
            published(dist, front)


def redirected(method: str, place: str) -> Answered | None:
    return Answered(302, b"", {"Location": place}) if method == "GET" else None


def test_a_list_that_somebody_else_changes_meanwhile_is_merged_again(tmp_path: Path) -> None:
    """The other version arrives between reading the list and writing it."""
    other = release(tmp_path / "other", version="1.1.0")
    meanwhile = [True]
    with serving(Server()) as server:
        published(release(tmp_path / "old", version="0.9.0"), server)

        def race(path: str) -> None:
            if path == LIST and meanwhile and meanwhile.pop():
                published(other, server)

        server.before_put = race
        waits = Waits()
        published(release(tmp_path / "dist"), server, waits)
        found = re.findall(r"<version>(.*)</version>", server.files[LIST].decode())
    assert found == ["0.9.0", "1.1.0", "1.0.0"]
    assert "changed by somebody else" in waits.said[0]


def test_repositories_without_etags_get_the_list_too(tmp_path: Path) -> None:
    with serving(Server(has_etags=False)) as server:
        published(release(tmp_path / "old", version="0.9.0"), server)
        published(release(tmp_path / "dist"), server)
        assert server.files[LIST].decode().count("<version>") == 2


def test_checksums_of_other_servers_end_with_a_line_or_a_name(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    with serving(Server()) as server:
        published(dist, server)
        server.files[f"{HOME}/1.0.0/vision-1.0.0.aar.sha1"] += b"  vision-1.0.0.aar\n"
        assert results(published(dist, server)) == {"already there"}


def test_snapshots_and_releases_without_a_library_are_refused(tmp_path: Path) -> None:
    with serving(Server()) as server:
        with pytest.raises(ConfigError, match=r"version 1\.0\.0-SNAPSHOT is a snapshot"):
            published(release(tmp_path / "dist", version="1.0.0-SNAPSHOT"), server)
        (tmp_path / "empty").mkdir()
        (tmp_path / "empty" / "manifest.json").write_text('{"package": {"name": "a", "version": "1"}, "artifacts": []}')
        with pytest.raises(ConfigError, match="the release has no library for Maven"):
            published(tmp_path / "empty", server)
        assert server.requests == []


def test_a_killed_call_is_completed_by_the_next(tmp_path: Path) -> None:
    """SIGKILL while the server has half of a file."""
    dist = release(tmp_path / "dist", aar=bytes(range(256)) * 20_000)
    with serving(Server()) as server:
        waiting = [True]

        def hang(path: str) -> None:
            if path.endswith(".aar.md5") and waiting:
                until(lambda: not waiting)

        server.before_put = hang
        command = [sys.executable, "-m", "packager.cli", "publish", str(dist), "--to", server.address]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            until(lambda: any(each.endswith(".aar.md5") for each in server.changed()))
            os.kill(process.pid, signal.SIGKILL)
        waiting.clear()
        done = len(server.changed())
        assert LIST not in server.files
        done_again = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert server.files == expected(dist)
    assert "25 requests: " in done_again
    assert "already there" in done_again
    assert done < REQUESTS


def test_errors_of_one_registry_stop_the_others_before_anything_is_sent(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    with serving(Server()) as good, serving(Server()) as bad:
        published(release(tmp_path / "two", aar=b"another aar"), bad)
        with pytest.raises(MobpackError, match="other bytes"):
            publish(dist, registries([good.address, bad.address], []), Waits().session, is_dry=False)
        assert good.changed() == []
