"""The sample app for React Native takes a newer model from a local channel, and opens it at the next start."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cases.delivery_releases import Published
from tests.toolchain import sample_releases, vision
from tests.toolchain.npm_checks import compile_all
from tests.toolchain.react_native import sample_app, sample_updates
from tests.toolchain.react_native.download.running import certificate
from tests.toolchain.react_native.download.server import serving
from tests.toolchain.react_native.sample_updates import Sample
from tests.toolchain.sample_releases import NEWER, OURS

ADDRESS = "https://models.example.com/vision/"
BUTTON = "Look for a newer model"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both releases, and the channel."""
    folder = tmp_path_factory.mktemp("sample")
    sample_releases.publish(folder, "react_native")
    return folder


@pytest.fixture(scope="module")
def archive(root: Path) -> Path:
    """The package with a channel."""
    return root / vision.FOLDER / "dist" / "npm" / f"react-native-vision-{OURS}.tgz"


@pytest.fixture(scope="module")
def sample(root: Path, archive: Path) -> Sample:
    return sample_updates.make(archive, root / "made")


def test_the_next_start_has_the_newer_model_of_a_channel_that_nobody_has_changed(root: Path, sample: Sample) -> None:
    pair = certificate(root)
    honest = Published(folder=root / "channel", documents=()).files()
    with serving(pair) as channel:

        def start(files: Mapping[str, bytes]) -> tuple[str, str]:
            """Starts the app, and presses its button: what it says of its model before and after."""
            channel.files.by_path = dict(files)
            with sample_updates.started(sample, channel.url, root / "phone", pair.certificate) as app:
                seen = app.ask("look")
                assert (seen["label"], seen["problem"]) == ("espresso", ""), seen
                return seen["update"], app.ask("press")["update"]

        for tampered in (sample_releases.with_another_document(honest), sample_releases.with_other_files(honest)):
            before, after = start(tampered)
            assert before == f"Model {OURS}"
            assert after.startswith("failed: "), after
        assert start(honest) == (f"Model {OURS}", f"The next start opens model {NEWER}.")
        before, after = start(sample_releases.with_another_document(honest))
        assert before == f"Model {NEWER}"
        assert after.startswith("failed: "), after
        assert start(honest) == (f"Model {NEWER}", f"Model {NEWER} is the newest.")


@pytest.fixture(scope="module")
def app(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app as somebody has it whose package has a channel."""
    return sample_app.make(tmp_path_factory.mktemp("app") / "app", {"react-native-vision": archive})


def test_its_types_are_right_with_a_channel(app: Path) -> None:
    text = (app / "src" / "model.channel.tsx").read_text(encoding="utf-8")
    assert "updater.update(" in text
    wrong = text.replace("updater.update(", "updater.refresh(")
    (app / "src" / "model.wrong.tsx").write_text(wrong, encoding="utf-8", newline="\n")
    without = ("src/*.channel.tsx", "src/*.wrong.tsx")
    configs = [
        sample_app.config(app, kind, [f".{kind}", ".channel", ".native", ""], without) for kind in ("channel", "wrong")
    ]
    right, refused = compile_all(configs)
    (app / "src" / "model.wrong.tsx").unlink()
    assert (right.returncode, right.output) == (0, "")
    assert "src/model.wrong.tsx(" in refused.output
    assert "'refresh' does not" in refused.output


@pytest.mark.parametrize("channel", ["", ADDRESS])
def test_metro_takes_the_button_where_the_address_of_a_channel_is_set(app: Path, channel: str) -> None:
    done = sample_app.run(
        app, "expo", "export", "--platform", "android", "--no-bytecode", "--no-minify", channel=channel
    )
    assert done.returncode == 0, done.output
    [bundle] = (app / "dist" / "_expo" / "static" / "js" / "android").glob("*.js")
    text = bundle.read_text(encoding="utf-8")
    assert (BUTTON in text, ADDRESS in text) == (bool(channel), bool(channel))
