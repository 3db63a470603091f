"""mobpack.toml: strict and small, with helpful errors."""

from pathlib import Path

import pytest

from packager import config
from packager.config import Config
from packager.core.errors import ConfigError, first_of
from packager.core.names import model_name, package_name
from packager.engines.runners import RUNNERS
from packager.quantizers import Auto, StaticQdq
from packager.targets.android import Android

MINIMAL = """
[package]
name = "vision"
[model.classifier]
path = "models/classifier.onnx"
"""


def load(folder: Path, text: str = MINIMAL, *, targets: tuple[str, ...] = (), settings: tuple[str, ...] = ()) -> Config:
    (folder / "mobpack.toml").write_text(text, encoding="utf-8")
    return config.load(folder / "mobpack.toml", targets=targets, settings=settings)


def refused(
    folder: Path, text: str = MINIMAL, *, targets: tuple[str, ...] = (), settings: tuple[str, ...] = ()
) -> tuple[str, str]:
    with pytest.raises(ConfigError) as error:
        load(folder, text, targets=targets, settings=settings)
    return error.value.message, error.value.hint


def test_a_minimal_file_gets_the_documented_defaults(tmp_path: Path) -> None:
    found = load(tmp_path)
    assert (found.package.name, found.package.version, found.package.license) == ("vision", "1.0.0", "")
    assert (found.parity.runners, found.parity.require, found.parity.random_samples, found.parity.seed) == (
        ("cpu",),
        ("cpu",),
        3,
        0,
    )
    assert found.targets() == {}
    assert found.quantizer_of("source").NAME == "none"


def test_paths_are_relative_to_the_file_if_not_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    text = MINIMAL + 'license = "L.txt"\n[parity]\nsamples = "samples"\n'
    found = load(tmp_path, text)
    assert found.model["classifier"].path == tmp_path / "models" / "classifier.onnx"
    assert found.model["classifier"].license == tmp_path / "L.txt"
    assert found.parity.samples == tmp_path / "samples"
    found = load(tmp_path, MINIMAL.replace("models/classifier.onnx", "/models/classifier.onnx"))
    assert found.model["classifier"].path == Path("/models/classifier.onnx")


def test_every_table_can_be_written_out(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        MINIMAL
        + """
    shapes = { batch = 1, image = [1, 3, 224, 224] }
    [variant.fp32]
    quantizer = "none"
    [parity]
    random-samples = 5
    seed = 7
    tolerance = 0.01
    [target.android]
    group = "com.example.ml"
    providers = ["nnapi", "xnnpack"]
    min-sdk = 26
    """,
    )
    assert found.model["classifier"].shapes == {"batch": 1, "image": (1, 3, 224, 224)}
    assert (found.parity.random_samples, found.parity.seed, found.parity.tolerance) == (5, 7, 0.01)
    android = found.targets()["android"]
    assert isinstance(android, Android)
    assert (android.group, android.providers, android.min_sdk) == ("com.example.ml", ("nnapi", "xnnpack"), 26)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[packages]\n", "top level: unknown key 'packages'", "did you mean 'package'?"),
        ("[target.android]\nmin_sdk = 24\n", "target.android: unknown key 'min_sdk'", "did you mean 'min-sdk'?"),
        ("[target.androyd]\n", "target: unknown key 'androyd'", "did you mean 'android'?"),
        ("[model.other]\npaht = 'x'\npath = 'y'\n", "model.other: unknown key 'paht'", "did you mean 'path'?"),
        (
            "[variant.int8]\nquantizer = 'dynamic'\ncalibration = 'samples'\n",
            "variant.int8: unknown key 'calibration'",
            "these have it: quantizer static-qdq, auto, weight-only",
        ),
        (
            "[parity]\nxyzzy = 1\n",
            "parity: unknown key 'xyzzy'",
            "known: runners, require, samples, random-samples, seed, tolerance, atol, from-original, interpreters, "
            "recorded, golden, golden-max-kib",
        ),
    ],
)
def test_unknown_keys_are_refused_with_the_nearest_one(tmp_path: Path, text: str, message: str, hint: str) -> None:
    assert refused(tmp_path, MINIMAL + text) == (message, hint)


def test_a_variant_that_nothing_defines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="variant 'int4' is not defined") as error:
        load(tmp_path).quantizer_of("int4")
    assert error.value.hint == "add a [variant.int4] table to mobpack.toml"


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"mobpack.toml: no such file") as error:
        config.load(tmp_path / "mobpack.toml")
    assert error.value.hint == "run: mobpack init MODEL.onnx"


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"a folder, not a file"):
        config.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[parity]\nseed = '3'\n", ("parity.seed", "integer", "'3'")),
        ("[parity]\nseed = true\n", ("parity.seed", "integer", "True")),
        ("[parity]\nseed = -1\n", ("parity.seed", "-1")),
        ("[parity]\ntolerance = 0\n", ("parity.tolerance", "greater than 0")),
        ("[parity]\ntolerance = inf\n", ("parity.tolerance", "finite")),
        ("[parity]\nrunners = 'cpu'\n", ("parity.runners", "'cpu'")),
        ("[target.android]\nmin-sdk = '24'\n", ("target.android.min-sdk", "integer", "'24'")),
        ("[target]\nandroid = 5\n", ("target.android", "5")),
        ("[model.other]\npath = 'x'\nshapes = { batch = '1' }\n", ("model.other.shapes.batch: ", "'1'")),
        ("[model.other]\npath = 'x'\nshapes = { batch = [1, 2.5] }\n", ("model.other.shapes.batch",)),
    ],
)
def test_values_of_the_wrong_type_are_refused_and_never_converted(
    tmp_path: Path, text: str, words: tuple[str, ...]
) -> None:
    message, hint = refused(tmp_path, MINIMAL + text)
    assert [word for word in words if word not in message] == []
    assert hint == "correct it in mobpack.toml" or " quotes: " in hint


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[parity]\nrunners = ['cpuu']\n", "unknown runner 'cpuu'", "did you mean 'cpu'?"),
        ("[parity]\nrequire = ['moon']\n", "unknown runner 'moon'", f"known: {first_of(sorted(RUNNERS))}"),
        ("[variant.int8]\nquantizer = 'nonne'\n", "unknown quantizer 'nonne'", "did you mean 'none'?"),
        ("[target.android]\nproviders = ['nnappi']\n", "unknown provider 'nnappi'", "did you mean 'nnapi'?"),
        ("[target.android]\nmin-sdk = 19\n", "min-sdk 19 is too old", "ONNX Runtime needs 24 or later"),
        (
            "[target.android]\ngroup = 'My Company'\n",
            "group 'My Company' is not a package name",
            "use a reversed domain: com.example",
        ),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(tmp_path: Path, text: str, message: str, hint: str) -> None:
    found, found_hint = refused(tmp_path, MINIMAL + text)
    assert message in found
    assert found_hint == hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model.m]\npath = 'x'\n", "top level: 'package' is missing"),
        ("[package]\nname = 'v'\n", "top level: 'model' is missing"),
        ("[package]\nversion = '1'\n[model.m]\npath = 'x'\n", "package: 'name' is missing"),
        ("[package]\nname = 'v'\n[model.m]\n", "model.m: 'path' is missing"),
    ],
)
def test_missing_keys_are_named(tmp_path: Path, text: str, message: str) -> None:
    assert refused(tmp_path, text) == (message, "add it to mobpack.toml")


@pytest.mark.parametrize(
    "name", ["Vision", "1vision", "vision_x", "vision--x", "-x", "", "vision x", "é", "a\nb", "aux", "com1"]
)
def test_package_names_that_no_repository_takes_are_refused(tmp_path: Path, name: str) -> None:
    message, hint = refused(
        tmp_path, MINIMAL.replace('"vision"', '"""' + name + '"""') if name else MINIMAL.replace('"vision"', '""')
    )
    assert message.startswith("package.name: ")
    assert hint == (
        "use lower-case letters, digits and single hyphens, starting with a letter; Windows reserves aux, con and nul"
    )


@pytest.mark.parametrize("version", ["", "1 0", "-1", "1.0/..", "v\n"])
def test_versions_that_would_break_a_path_are_refused(tmp_path: Path, version: str) -> None:
    assert refused(tmp_path, settings=(f"package.version={version!r}",))[0].startswith("package.version: ")


@pytest.mark.parametrize("name", ["1st", '"a b"', '"é"', '"a.b"', '"../x"', "AUX", "lpt9"])
def test_model_names_that_make_no_class_name_are_refused(tmp_path: Path, name: str) -> None:
    message, hint = refused(tmp_path, MINIMAL + f"[model.{name}]\npath = 'x'\n")
    assert message == f"model.{name.strip(chr(34))}: invalid model name"
    assert "starting with a letter" in hint


@pytest.mark.parametrize(
    ("one", "two"),
    [("a-b", "a_b"), ("ab", "AB"), ("my-model", "MyModel"), ("text", "text-model"), ("net-inputs", "net")],
)
def test_models_that_would_share_a_class_are_refused(tmp_path: Path, one: str, two: str) -> None:
    text = f"[package]\nname = 'v'\n[model.{one}]\npath = 'x'\n[model.{two}]\npath = 'y'\n"
    message, hint = refused(tmp_path, text)
    assert "have the same class name in generated code" in message
    assert one in message
    assert two in message
    assert hint == "rename one of them"


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ("target.android.min-sdk=26", 26),
        ("target.android.min-sdk = 26", 26),
        ("target.android.group=com.acme", "com.acme"),
        ('target.android.group="com.acme"', "com.acme"),
        ("target.android.providers=['nnapi']", ("nnapi",)),
        ("target.android.providers=[]", ()),
    ],
)
def test_a_setting_overrides_the_file(tmp_path: Path, setting: str, found: object) -> None:
    android = load(tmp_path, MINIMAL + "[target.android]\nmin-sdk = 25\n", settings=(setting,)).targets()["android"]
    key = setting.partition("=")[0].strip().rpartition(".")[2].replace("-", "_")
    assert getattr(android, key) == found


def test_settings_override_the_file_as_strictly(tmp_path: Path) -> None:
    assert load(tmp_path, settings=("parity.seed=1", "parity.seed=2")).parity.seed == 2
    found = load(tmp_path, settings=("model.classifier.shapes.batch=1", "variant.mine.quantizer=none"))
    assert found.model["classifier"].shapes == {"batch": 1}
    assert found.quantizer_of("mine").NAME == "none"
    assert "parity.seed" in refused(tmp_path, settings=("parity.seed='3'",))[0]
    assert refused(tmp_path, settings=("target.android.min_sdk=26",))[1] == "did you mean 'min-sdk'?"
    message, hint = refused(tmp_path, settings=("target.android.providers=qnn",))
    assert message.startswith("target.android.providers: ")
    assert hint.startswith("correct it in mobpack.toml or in --set")
    example = hint.partition("--set '")[2].rstrip("'")
    assert load(tmp_path, settings=(example,)).targets()["android"] == Android(providers=("xnnpack",))


@pytest.mark.parametrize("setting", ["parity.seed", "=1", ".seed=1", "parity..seed=1", ""])
def test_settings_of_another_form_are_refused_with_an_example(tmp_path: Path, setting: str) -> None:
    assert refused(tmp_path, settings=(setting,)) == (
        f"--set {setting}: expected key=value",
        "for example: --set target.android.min-sdk=26",
    )


@pytest.mark.parametrize("setting", ["package.name.x=1", "package.name.x.y=1"])
def test_a_setting_below_a_value_is_refused(tmp_path: Path, setting: str) -> None:
    assert refused(tmp_path, settings=(setting,))[0] == f"--set {setting}: 'name' is not a table"


def test_targets_of_the_command_line_are_known_ones(tmp_path: Path) -> None:
    assert load(tmp_path, targets=("android",)).targets()["android"] == Android()
    found = load(tmp_path, MINIMAL + "[target.android]\nmin-sdk = 30\n", targets=("android",))
    assert found.targets()["android"] == Android(min_sdk=30)
    assert refused(tmp_path, targets=("windows",)) == (
        "unknown target 'windows'",
        "known: android, ios, web, python, cpp, jvm, node, react_native, flutter",
    )
    assert refused(tmp_path, "target = 'android'\n" + MINIMAL, targets=("android",))[0].startswith("target")


@pytest.mark.parametrize("name", ["react-native", "ReactNative", "react_natve"])
def test_a_misspelt_target_is_refused_with_the_nearest(name: str, tmp_path: Path) -> None:
    assert refused(tmp_path, targets=(name,)) == (f"unknown target '{name}'", "did you mean 'react_native'?")


@pytest.mark.parametrize("content", [b"[package\n", b"name = \xff", b"a = 1\na = 2\n"])
def test_what_is_not_toml_is_refused_with_the_place(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mobpack.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"mobpack.toml: not valid TOML: "):
        config.load(tmp_path / "mobpack.toml")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("version = 1.0.0  # first", 'text stands in quotes: version = "1.0.0"'),
        ("license = Apache-2.0", 'text stands in quotes: license = "Apache-2.0"'),
        ('name = "b"', "see toml.io for the format"),
        ("authors = [", "see toml.io for the format"),
        ("trust = True", "see toml.io for the format"),
    ],
)
def test_text_without_quotes_that_is_no_toml_says_how_to_write_it(line: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "mobpack.toml").write_text(f'[package]\nname = "a"\n{line}\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="not valid TOML") as error:
        config.load(tmp_path / "mobpack.toml")
    assert error.value.hint == hint


@pytest.mark.parametrize(
    ("file", "model", "package"),
    [
        ("MobileNet V2.onnx", "MobileNet-V2", "mobilenet-v2"),
        ("PP-OCRv6_rec_small.onnx", "PP-OCRv6_rec_small", "pp-ocrv6-rec-small"),
        ("Größe 模型.onnx", "Groe", "groe"),
        ("模型.onnx", "model", "model"),
        ("2024.onnx", "model-2024", "model-2024"),
        ("a..b--c.onnx", "a-b--c", "a-b-c"),
        ("model.v2.onnx", "model-v2", "model-v2"),
        ("Con.onnx", "model-Con", "model-con"),
        ("nulls.onnx", "nulls", "nulls"),
    ],
)
def test_names_come_from_the_file_where_there_is_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, model: str, package: str
) -> None:
    assert (model_name(Path(file)), package_name(Path(file))) == (model, package)
    monkeypatch.chdir(tmp_path)
    found = config.for_model(Path(file), targets=("android",))
    assert (list(found.model), found.package.name) == ([model], package)
    assert found.model[model].path == tmp_path / file


VARIANTS = {"static-qdq": "", "auto": "max-drop = 0.01\n"}


@pytest.mark.parametrize("quantizer", VARIANTS)
def test_a_calibration_is_its_samples_or_a_table(tmp_path: Path, quantizer: str) -> None:
    table = f'{MINIMAL}[variant.small]\nquantizer = "{quantizer}"\n{VARIANTS[quantizer]}'
    short = load(tmp_path, f'{table}calibration = "samples"\n').variant["small"]
    long = load(tmp_path, f'{table}calibration = {{ samples = "samples" }}\n').variant["small"]
    assert isinstance(short, StaticQdq | Auto)
    assert short == long
    assert short.calibration.samples == str(tmp_path / "samples")


def test_a_calibration_says_how_pictures_become_numbers_or_names_a_function(tmp_path: Path) -> None:
    image = "{ mean = [0.5, 0.4, 0.3], std = [0.2], size = [64, 32], resize = 'crop' }"
    text = (
        f'{MINIMAL}[variant.small]\nquantizer = "static-qdq"\ncalibration.samples = "s"\ncalibration.image = {image}\n'
    )
    found = load(tmp_path, text).variant["small"]
    assert isinstance(found, StaticQdq)
    assert found.calibration.image.mean == (0.5, 0.4, 0.3)
    assert (found.calibration.image.size, found.calibration.image.resize) == ((64, 32), "crop")
    text = f'{MINIMAL}[variant.small]\nquantizer = "static-qdq"\ncalibration = "mine.data:samples"\n'
    found = load(tmp_path, text).variant["small"]
    assert isinstance(found, StaticQdq)
    assert found.calibration.samples == "mine.data:samples"


@pytest.mark.parametrize(
    ("table", "message", "hint"),
    [
        ('quantizer = "statik"', "variant.small: unknown quantizer 'statik'", "did you mean 'static-qdq'?"),
        ('quantizer = "weight-only"\nbit = 4', "variant.small: unknown key 'bit'", "did you mean 'bits'?"),
        ('quantizer = "dynamic"\nper-chanel = true', "variant.small: unknown key 'per-chanel'", "mean 'per-channel'?"),
        (
            'quantizer = "auto"\nmax-drop = 1.0\ncalibration = { sampels = "x", samples = "y" }',
            "variant.small.calibration: unknown key 'sampels'",
            "did you mean 'samples'?",
        ),
        (
            'quantizer = "auto"\nmax-drop = 1.0\ncalibration = { samples = "y", image = { sise = [1, 1] } }',
            "variant.small.calibration.image: unknown key 'sise'",
            "did you mean 'size'?",
        ),
        ('quantizer = "auto"\nmax-drop = -1.0\ncalibration = "x"', "variant.small: max-drop -1 is negative", "0.01"),
        (
            'quantizer = "auto"\nmax-drop = 1.0\ncalibration = { samples = "x", method = "mse" }',
            "variant.small: calibration.method 'mse' would be ignored",
            "auto tries the methods of `methods`",
        ),
        ('quantizer = "static-qdq"', "variant.small: 'calibration' is missing", "add it"),
        ('quantizer = "weight-only"\nbits = 5', "variant.small.bits: input should be 4 or 8, not 5", "correct it"),
    ],
)
def test_a_variant_knows_the_keys_of_its_quantizer(tmp_path: Path, table: str, message: str, hint: str) -> None:
    found = refused(tmp_path, f"{MINIMAL}[variant.small]\n{table}\n")
    assert found[0] == message
    assert hint in found[1]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ('[package]\nname = "a"\nversion = 1.0', "package.version", 'text stands in quotes: version = "1.0"'),
        ('[package]\nname = "a"\nversion = 1.10', "package.version", 'text stands in quotes: version = "1.10"'),
        ('[package]\nname = "a"\ndevelopers = [7]', "package.developers.0", 'text stands in quotes: "7"'),
        ('[package]\nname = "a"\ntrust = 5', "package.trust", 'text stands in quotes: trust = "5"'),
        (f"{MINIMAL}license = 3", "model.classifier.license", 'text stands in quotes: license = "3"'),
        (f"{MINIMAL}[target.ios]\nmin-ios = 16.0", "target.ios.min-ios", 'text stands in quotes: min-ios = "16.0"'),
        (f'{MINIMAL}[target.android]\nmin-sdk = "26"', "target.android.min-sdk", "without quotes: min-sdk = 26"),
        (f'{MINIMAL}[parity]\ntolerance = "1e-3"', "parity.tolerance", "without quotes: tolerance = 1e-3"),
        ('[package]\nname = "a"\n[model.int]\npath = 3', "model.int.path", 'text stands in quotes: path = "3"'),
        (
            f'{MINIMAL}[model.classifier.outputs.y]\nkind = "values"\nnames = ["a"]\nscale = "1"',
            "model.classifier.outputs.y.scale",
            "without quotes: scale = 1",
        ),
    ],
)
def test_wrong_quotes_are_told_with_the_right_ones(text: str, message: str, hint: str, tmp_path: Path) -> None:
    said = refused(tmp_path, text + ("" if "[model" in text else '\n[model.a]\npath = "a.onnx"\n'))
    assert said[0].startswith(f"{message}: input should be a valid ")
    assert said[1].endswith(hint)
