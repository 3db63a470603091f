"""`api.json`: the description that every package has of its API is true, complete and the same every time."""

import json
import re
from pathlib import Path

import pytest

from packager import description
from packager.core.errors import ConfigError
from packager.workflows import reference
from tests.cases.schemas import jsonschema
from tests.golden.cases import api_of
from tests.golden.trees import TREES

SCHEMA = Path(__file__).parents[2] / "docs" / "api.schema.json"
PACKAGES = {f"{target} {case}": made for target, cases in TREES.items() for case, made in cases.items()}


def test_the_schema_is_up_to_date() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == reference.api_schema()


@pytest.mark.parametrize("case", PACKAGES)
def test_descriptions_keep_to_their_schema_and_are_read_as_they_were_printed(case: str) -> None:
    api = api_of(PACKAGES[case])
    text = description.printed(api)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(json.loads(text))
    assert description.read(text, case) == api
    assert description.printed(api_of(PACKAGES[case])) == text


def test_descriptions_name_the_features_of_their_package_alone() -> None:
    features = {
        name: api_of(PACKAGES[f"android {name}"]).features for name in ("image_classifier", "trusted", "encrypted")
    }
    assert features == {"image_classifier": (), "trusted": ("trust",), "encrypted": ("encryption",)}
    assert api_of(PACKAGES["android delivered"]).features == ("channel", "trust")


@pytest.mark.parametrize("case", [name for name in PACKAGES if not name.startswith(("react_native", "web", "node"))])
def test_classes_have_the_methods_that_the_description_names(case: str) -> None:
    package = PACKAGES[case]
    api = api_of(package)
    texts = "".join(
        text for path, text in package.sources().texts.items() if path.suffix in (".kt", ".swift", ".dart", ".py", ".h")
    )
    for model in api.models:
        assert re.search(rf"\bclass {model.class_name}\b", texts), model.name
        assert not model.method or re.search(rf"\b{model.method}\(", texts), model.name
        for result in model.results:
            assert result.type.islower() or re.search(rf"\b{result.type}\b", texts), result.type
    if api.language not in ("Dart", "Python", "C++"):
        for model in api.models:
            tested = re.search(rf"\bclass {model.class_name}\b[^{{]*\bSelfTestingModel\b", texts)
            assert bool(tested) == model.has_self_test, model.name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a description"),
        ("[]", "not a description"),
        ("[" * 5000, "not a description"),
        ('{"schema-version": 1}', "not a description"),
        ('{"schema-version": 2, "mobpack": "9.1.0"}', "schema version 2"),
    ],
)
def test_what_is_no_description_is_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        description.read(text, "vision-1.0.0.aar")
    assert caught.value.hint
    assert "vision-1.0.0.aar" in caught.value.message
