"""Variables of the environment that hold secrets, by their names, and texts without the secrets in them."""

import os
import re

WORDS = frozenset(
    """
    APIKEY AUTH CREDENTIAL CREDENTIALS DSN JWT KEY KEYS OTP PASS PASSPHRASE PASSWD PASSWORD PAT PIN PRIVATE SECRET
    SECRETS TOKEN TOKENS
    """.split()
)
"""Parts of names between underscores."""
PARTS = ("TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL", "APIKEY")
"""Parts of names, wherever they stand."""
OWNERS = ("MOBPACK_", "AWS_", "AZURE_", "GOOGLE_", "GCP_", "CLOUDSDK_", "VAULT_", "ACTIONS_ID_", "SSH_")
"""First letters of names: what they configure has access to something."""
SHORTEST = 6
"""Shortest value that is looked for in texts: a shorter one is part of ordinary words."""
USER_INFO = re.compile(r"(?<=://)[^\s/@'\"]+@")
QUERY = re.compile(
    r"([?&][\w.-]*(?:token|sig|signature|secret|password|credential|key)[\w.-]*=)[^&\s'\"]+", re.IGNORECASE
)
_named: set[str] = set()
"""Names of variables that the user has named as those of a key."""


def name_secret(name: str) -> None:
    """Counts the variable `name` among the secrets, whatever it is called."""
    _named.add(name)


def is_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret, or leads to one."""
    upper = name.upper()
    return (
        name in _named
        or upper.startswith(OWNERS)
        or any(part in upper for part in PARTS)
        or not WORDS.isdisjoint(re.split(r"[^A-Z0-9]+", upper))
    )


def without_secrets(text: str) -> str:
    """`text` with `***` in place of values of secret variables, of passwords in addresses and of tokens in queries."""
    values = {value for name, value in os.environ.items() if len(value) >= SHORTEST and is_secret(name)}
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, "***")
    return QUERY.sub(r"\1***", USER_INFO.sub("***@", text))
