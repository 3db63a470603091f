"""What packages of a language cannot do yet."""

from packager.core.contract import Contract
from packager.core.errors import ConfigError


def refuse_generated(contract: Contract, language: str) -> None:
    """Raises ConfigError for a model that generates a text."""
    if contract.generated:
        raise ConfigError(
            f"output '{contract.generated.identifier}': packages in {language} do not generate texts yet",
            hint="run it with mobpack predict, or use the tensors: remove the tables of the contract",
        )
