"""Publishing to a Maven repository: complete for readers at any moment, and continued after any failure."""

import re
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, GateError
from packager.distribution.publishing import publish, registries
from packager.distribution.publishing.http import retry_after
from tests.cases.publish_maven import LIST, expected
from tests.cases.registries import Waits, release, results


@pytest.mark.parametrize("form", ["{}", "file://{}", "file:{}"])
def test_a_folder_rehearses_what_a_repository_gets(form: str, tmp_path: Path) -> None:
    """The folder has the files of an address, lists a second version, and refuses other bytes."""
    dist, place = release(tmp_path / "dist"), tmp_path / "some where"
    address = form.format(place.as_posix().replace(" ", "%20" if "file:" in form else " "))
    known = registries([address if form.startswith("file:") else f"maven={address}"], [])
    sent = publish(dist, known, Waits().session, is_dry=False)
    found = {f"/{path.relative_to(place).as_posix()}": path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert (results(sent), found) == ({"sent"}, expected(dist))
    assert {each.words for each in sent} == {"", f"{place} is a folder: a rehearsal, of which apps get nothing"}
    assert results(publish(dist, known, Waits().session, is_dry=False)) == {"already there"}
    assert results(publish(release(tmp_path / "next", version="1.1.0"), known, Waits().session, is_dry=False)) == {
        "sent"
    }
    listed = (place / LIST[1:]).read_text(encoding="utf-8")
    assert re.findall(r"<version>([^<]+)", listed) == ["1.0.0", "1.1.0"]
    with pytest.raises(GateError, match="is there with other bytes"):
        publish(release(tmp_path / "other", aar=b"another aar"), known, Waits().session, is_dry=False)


def test_an_address_without_its_scheme_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text in ("maven.acme.example/releases", "localhost/releases", "localhost:8081/releases"):
        with pytest.raises(ConfigError, match="not an address of a registry"):
            registries([f"maven={text}"], [])
    for text in ("releases", "./maven.acme.example", "build/maven", "../up"):
        [made] = registries([f"maven={text}"], [])
        assert made.address == (tmp_path / text).absolute().as_posix()
    with pytest.raises(ConfigError, match="names a folder of another machine"):
        registries(["file://server/share"], [])


def test_dates_of_retry_after_are_counted_from_now() -> None:
    assert retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 20.0) == 40.0


def test_addresses_that_are_not_safe_are_refused() -> None:
    for address, message in [
        ("https://me:pass@example.com/maven", "contains a user name or a password"),
        ("https://token@example.com/maven", "contains a user name or a password"),
        ("http://example.com/maven", "http:// sends credentials and packages unencrypted"),
        ("http://127.0.0.1.example.com/maven", "unencrypted"),
        ("ftp://example.com", "unknown registry"),
        ("maven=ftp://example.com", "not an address"),
        ("maven", "not an address"),
        ("maven=https://[", "not an address"),
        ("maven=https://example.com/a b", "contains spaces or characters beyond ASCII"),
        ("maven=https://example.com/\u00fc", "contains spaces or characters beyond ASCII"),
        ("maven=https://example.com/a\n", "contains spaces or characters beyond ASCII"),
    ]:
        with pytest.raises(ConfigError, match=re.escape(message)) as error:
            registries([address], [])
        assert "pass" not in error.value.message.replace("password", "")
