"""Credentials from environment variables: never from the command line, never in a message."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass

ACTIONS = ("ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
"""address and token with which a job of GitHub Actions with `id-token: write` gets an identity"""


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """Names of the variables of a registry, and the header that is made of their values."""

    token: str = ""
    """variable with a token; empty if the registry knows none"""
    token_user: str = ""
    """name beside which a token is sent as a password (`Basic`); empty for a token that is sent as `Bearer`"""
    username: str = ""
    password: str = ""
    is_pair_a_token: bool = False
    """whether name and password are sent as one `Bearer` token, in base64, instead of as `Basic`"""

    def header(self, variables: Mapping[str, str]) -> str:
        """The value of `Authorization`; empty if no variable is set."""
        if self.token and variables.get(self.token):
            token = variables[self.token].strip()
            return f"Basic {_pair(self.token_user, token)}" if self.token_user else f"Bearer {token}"
        if self.username and variables.get(self.username) and variables.get(self.password):
            pair = _pair(variables[self.username].strip(), variables[self.password].strip())
            return f"{'Bearer' if self.is_pair_a_token else 'Basic'} {pair}"
        return ""

    def wanted(self) -> str:
        """The variables in words: `A, or B and C`."""
        ways = [self.token] if self.token else []
        ways += [f"{self.username} and {self.password}"] if self.username else []
        return ", or ".join(ways)

    def missing(self, variables: Mapping[str, str]) -> str:
        """The variables that are not set of those that would be enough; empty if one way is complete."""
        if self.header(variables):
            return ""
        if self.username and (variables.get(self.username) or variables.get(self.password)):
            return self.password if variables.get(self.username) else self.username
        return self.wanted()


def _pair(username: str, password: str) -> str:
    return base64.b64encode(f"{username}:{password}".encode()).decode()
