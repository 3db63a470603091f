"""The providers of a platform, as the TypeScript of a package starts them."""

from collections.abc import Iterable

from packager.providers import PROVIDERS
from packager.targets.typescript.view import OptionView, ProviderView


def providers_view(names: Iterable[str]) -> tuple[ProviderView, ...]:
    return tuple(
        ProviderView(
            name=name,
            registered_name=PROVIDERS[name].REGISTERED_NAME,
            execution_provider=PROVIDERS[name].EXECUTION_PROVIDER,
            hides_nodes=PROVIDERS[name].HIDES_NODES,
            options=tuple(OptionView(key=key, value=value) for key, value in PROVIDERS[name]().options().items()),
        )
        for name in names
    )
