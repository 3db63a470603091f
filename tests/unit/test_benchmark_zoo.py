"""The zoo: models as models.toml describes them, builds measured from outside, and the page."""

import re

from benchmarks.zoo import __main__ as program
from benchmarks.zoo import models


def test_the_list_has_150_models_with_licence_and_pinned_bytes_in_the_page() -> None:
    zoo = models.read()
    assert len(zoo.models) >= 150
    assert len({each.sha256 for each in zoo.models}) == len(zoo.models)
    for each in zoo.models:
        assert all(re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in each.members.values()), each.name
        assert each.licence, each.name
        assert re.search(r"==\d|@\d", each.package), each.name
        assert bool(each.refusal) == bool(each.why), each.name
    text = program.PAGE.read_text(encoding="utf-8")
    missing = [each.name for each in models.read().models if f"\n| {each.name} | {each.package} |" not in text]
    assert missing == []
