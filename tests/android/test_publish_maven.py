"""Publishing to a Maven repository: complete for readers at any moment, and continued after any failure."""

from pathlib import Path

from tests.cases.publish_maven import LIST, published
from tests.cases.registries import Server, release, serving
from tests.toolchain import gradle


def test_gradle_finds_the_newest_version_and_its_files(tmp_path: Path) -> None:
    """By an open version, for which it reads the list."""
    app = tmp_path / "app"
    app.mkdir()
    with serving(Server()) as server:
        published(release(tmp_path / "old", version="1.0.0", aar=b"the old one"), server)
        published(release(tmp_path / "new", version="1.2.0"), server)
        (app / "settings.gradle").write_text("rootProject.name = 'app'\n", encoding="utf-8")
        (app / "build.gradle").write_text(
            f"repositories {{ maven {{ url = '{server.address}' }} }}\nconfigurations {{ models }}\n"
            "dependencies { models 'com.example:vision:1.+' }\n"
            'task show { doLast { configurations.models.each { println "${it.name}, ${it.length()} bytes" } } }\n',
            encoding="utf-8",
        )
        [done] = gradle.run(app, ["show"], is_offline=False)
    assert done.returncode == 0, done.output
    assert "vision-1.2.0.aar, 300000 bytes" in done.output
    assert f"GET {LIST}" in server.requests
