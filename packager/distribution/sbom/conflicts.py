"""Licences that do not go together: what a model asks of a package, against what the package says of itself."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packager.core import licenses
from packager.core.card import Card
from packager.core.licenses import CONSEQUENCES, Duty
from packager.core.values import Package

KEPT = {
    Duty.NETWORK: (Duty.NETWORK,),
    Duty.COPYLEFT: (Duty.NETWORK, Duty.COPYLEFT),
    Duty.NON_COMMERCIAL: (Duty.NON_COMMERCIAL,),
}
"""Duty of a part -> the duties of a package's own licence that keep it"""


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """A part whose licence the package cannot keep, or that has none."""

    message: str
    hint: str


def conflicts(package: Package, cards: Mapping[str, Card], *, has_files: Mapping[str, bool]) -> tuple[Conflict, ...]:
    """Conflicts of the models and their data with the package, in the order of `cards`. `has_files` says of which
    models the licence's text ships."""
    return tuple(_found(package, cards, has_files))


def _found(package: Package, cards: Mapping[str, Card], has_files: Mapping[str, bool]) -> Iterator[Conflict]:
    own = licenses.duty(package.license)
    by_terms: dict[str, list[str]] = {}
    for name, card in cards.items():
        if card.license or (package.license and not has_files.get(name)):
            by_terms.setdefault(card.license, []).append(name)
    for terms, names in by_terms.items():
        models = ("model " if len(names) == 1 else "models ") + ", ".join(f"'{name}'" for name in names)
        key = f"license in [model.{names[0] if len(names) == 1 else 'NAME'}.card]"
        if terms:
            yield from _against(models, terms, package, own, key, is_one=len(names) == 1)
        else:
            yield Conflict(
                message=f"{models} {'has' if len(names) == 1 else 'have'} no licence, the package has "
                f"{package.license}: nobody may ship a model without one",
                hint=f"set {key} to the SPDX expression of its terms",
            )
    for name, card in cards.items():
        for data in card.datasets:
            if data.license and licenses.duty(data.license) is Duty.NON_COMMERCIAL:
                place = f"license of '{data.name}' in [[model.{name}.card.datasets]]"
                yield from _against(f"data '{data.name}' of model '{name}'", data.license, package, own, place)


def _against(
    what: str, terms: str, package: Package, own: Duty | None, key: str, *, is_one: bool = True
) -> Iterator[Conflict]:
    duty = licenses.duty(terms)
    if duty is None or own in KEPT[duty]:
        return
    yield Conflict(
        message=f"{what} {'is' if is_one else 'are'} under {terms} ({duty}), "
        f"the package under {package.license or 'no licence'}: "
        f"{CONSEQUENCES[duty]}",
        hint=f"ship another model, release the package under {terms}, or correct {key}",
    )


def unnamed(package: Package, cards: Mapping[str, Card], *, has_files: Mapping[str, bool]) -> str:
    """A sentence about a project that names no licence at all, with the keys to set; empty if it names one."""
    if package.license or any(card.license for card in cards.values()) or any(has_files.values()):
        return ""
    first = next(iter(cards), "NAME")
    return f"no licence is named: license in [package] and in [model.{first}.card] say under which terms apps get this"
