"""Finds the text that an output refers to."""

from packager.contract.kind import Core, TextTokens
from packager.core.errors import ConfigError, nearest


def tokens_of(core: Core, name: str, *, texts: int) -> TextTokens:
    """Tokens of the input `name`, or of the only one with a text. Raises ConfigError if there is none such, or if it
    takes another number of `texts`."""
    if not core.tokens:
        raise ConfigError("the model takes no text", hint='describe the input with the token ids: kind = "text"')
    if name and name not in core.tokens:
        raise ConfigError(f"text '{name}' is not an input with a text", hint=nearest(name, core.tokens))
    if not name and len(core.tokens) > 1:
        raise ConfigError(
            f"the model takes {len(core.tokens)} texts", hint=f"set text to one of {', '.join(core.tokens)}"
        )
    found = core.tokens[name] if name else next(iter(core.tokens.values()))
    if len(found.texts) != texts:
        wanted = "omit names" if texts == 1 else 'set names = ["query", "document"]'
        raise ConfigError(
            f"needs an input of {texts} texts, but it has {len(found.texts)}", hint=f"{wanted} in the input's table"
        )
    return found
