"""React Native: whatever servers, publishers and disks do, the app opens a verified model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import delivery_releases
from tests.delivery_drivers import react_native
from tests.delivery_killing import SWEEPS, Victim, kill_everywhere
from tests.delivery_releases import BUNDLED
from tests.delivery_tales import Tale
from tests.delivery_telling import Language, fills_up, serving, told
from tests.toolchain import jsc
from tests.toolchain.react_native import codegen, native
from tests.toolchain.react_native.packages import Built, unpack
from tests.toolchain.react_native.verifier import add_verifier

pytestmark = [pytest.mark.by_content, pytest.mark.react_native]


def program(folder: Path) -> react_native.Made:
    """The program with the package that a build has made."""
    built = Built(folder / "project")
    npm = delivery_releases.releases("react_native")[BUNDLED] / "npm"
    [archive] = npm.glob("*.tgz")
    unpack(archive, built.project / "unpacked")
    specs = codegen.for_ios(built.app(folder / "app"), folder / "codegen", project=jsc.NEWEST)
    script = folder / "script.js"
    native.bundle(folder / "app", script, "delivery.js")
    add_verifier(built.package)
    code = native.Code(jsc.program(built.package, specs, native.MODULE), script, built.package / "models")
    signed = built.package / "models/ios" / native.ASSETS / "models.sig"
    return react_native.Made(
        package=built.package, specs=specs, code=code, signatures=signed.read_text(encoding="utf-8")
    )


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Language]:
    folder = tmp_path_factory.mktemp("react_native")
    made = program(folder / "program")
    with serving("react_native", folder) as (channel, pair):
        yield Language(
            channel=channel,
            start=lambda place: react_native.driver(made, channel.url, place, pair.certificate),
            kept=react_native.storage,
            dying=lambda place, variables: react_native.driver(made, channel.url, place, pair.certificate, variables),
            follows=True,
        )


@told()
def test_a_verified_model_is_opened_after(language: Language, tale: Tale, tmp_path: Path) -> None:
    language.tell(tale, tmp_path)


@pytest.mark.parametrize(("version", "count"), SWEEPS)
def test_a_verified_model_is_opened_after_a_kill(language: Language, version: str, count: int, tmp_path: Path) -> None:
    assert language.dying
    assert language.kept
    victim = Victim(
        channel=language.channel, start=language.start, dying=language.dying, kept=language.kept, scratch=tmp_path
    )
    print(f"{kill_everywhere(victim, version, count)} changes")


def test_a_full_disk_is_named_and_the_update_goes_on_when_there_is_room(language: Language, tmp_path: Path) -> None:
    fills_up(language, tmp_path)
