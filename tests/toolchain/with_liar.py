"""`mobpack` that knows the provider that lies."""

from packager.cli import commands
from packager.providers import PROVIDERS
from tests.cases.liar import Liar

if __name__ == "__main__":
    PROVIDERS[Liar.NAME] = Liar
    commands()
