"""sample_apps/vision: the command that its README names, and the network that it writes."""

from pathlib import Path

from tests.toolchain import command, vision

ROOT = Path(__file__).parents[2]


def test_the_command_builds_what_the_apps_take() -> None:
    dist = vision.dist()
    assert (dist / "maven" / "com" / "example" / "vision" / "1.0.0" / "vision-1.0.0.aar").is_file()
    assert (dist / "swift" / "vision" / "Package.swift").is_file()
    assert (dist / "npm" / "react-native-vision-1.0.0.tgz").is_file()


def test_the_picture_beside_it_is_an_espresso() -> None:
    picture = ROOT / vision.FOLDER / "coffee.jpg"
    folder = vision.root() / vision.FOLDER
    done = command.run("predict", "--top", "3", picture, folder=folder)
    assert done.stdout.splitlines() == [str(picture), "  0.951  espresso", "  0.012  cup", "  0.011  consomme"]


def test_there_is_a_name_for_every_class() -> None:
    lines = (vision.root() / vision.FOLDER / "build" / "models" / "labels.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1000
    assert (lines[0], lines[967], lines[999]) == ("tench", "espresso", "toilet tissue")
