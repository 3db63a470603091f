"""Where the password of a key, or the PIN of a token, comes from."""

PASSWORD = "MOBPACK_KEY_PASSWORD"  # noqa: S105 - the name of an environment variable
