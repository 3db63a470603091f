"""A model of every importer in one package for the web: each tests itself under Node."""

import json
from pathlib import Path

import pytest

from packager.importers import FRAMEWORKS, IMPORTERS
from tests.toolchain import imported, node
from tests.toolchain.importing import importer_of, source_in
from tests.toolchain.react_native.packages import unpack


def test_models_of_every_importer_test_themselves_in_javascript(tmp_path: Path) -> None:
    archive, names = imported.web_package(tmp_path)
    sources = {source: program for program in imported.PROGRAMS for source in program.models.values()}
    tried = {importer_of(source_in(source, tmp_path / each.module)) for source, each in sources.items()}
    assert tried | {"onnx"} == IMPORTERS.keys()

    unpack(archive, tmp_path / "unpacked")
    program = tmp_path / "program.mjs"
    entry = next((tmp_path / "unpacked").rglob("lib/index.js")).as_uri()
    classes = {name: name.title() for name in names}
    program.write_text(
        f"""
        import * as models from '{entry}';
        const found = {{}};
        for (const [name, each] of Object.entries({json.dumps(classes)})) {{
          const model = await models[each].load();
          const {{ passed, outputs }} = await model.selfTest();
          found[name] = [passed, outputs.length > 0];
          model.dispose();
        }}
        console.log(JSON.stringify(found));
        """,
        encoding="utf-8",
        newline="\n",
    )
    done = node.run([program], cwd=tmp_path)
    assert done.returncode == 0, done.output
    assert json.loads(done.stdout) == {name: [True, True] for name in names}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_environments_install_as_they_do_for_users(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    framework = FRAMEWORKS[name]
    assert framework.missing()
    framework.install()
    assert framework.folder().is_dir()  # which is all that `missing` asks for, but for PyTorch
