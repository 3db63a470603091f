"""Finds the tokens that continue a word."""

from packager.contract.tokenization import Tokens
from packager.contract.tokenization.definition import Tokenizer, WordPiece
from packager.core.signature import ElementType
from packager.graph.writer import Writer

BLANK, NOTHING = ord(" "), -1


def continuing(writer: Writer, tokenizer: Tokenizer, tokens: Tokens, text: str) -> str:
    """bool [tokens]: whether a token continues the word of the token before, as transformers' pipelines decide it.

    A vocabulary of WordPiece marks such tokens. With others, a word begins at the start of the text, at a blank, after
    one, and with a token for what is unknown. `text` is the name of the code points, int32 [characters].
    """
    if isinstance(tokenizer.model, WordPiece):
        return _marked(writer, tokenizer, tokenizer.model, tokens)
    padded = writer.node("Concat", writer.int32([BLANK]), text, writer.int32([NOTHING]), axis=0)
    ahead, first = (
        writer.node("Equal", writer.node("Gather", padded, place), writer.int32(BLANK))
        for place in (tokens.starts, writer.node("Add", tokens.starts, 1))
    )
    begins = writer.node("Or", ahead, first)
    if tokenizer.model.unknown is not None:
        begins = writer.node("Or", begins, writer.node("Equal", tokens.ids, tokenizer.model.unknown))
    return writer.node("Not", begins)


def _marked(writer: Writer, tokenizer: Tokenizer, model: WordPiece, tokens: Tokens) -> str:
    import numpy

    added = {each.id for group in tokenizer.added for each in group.values()}
    others = {*added, model.vocabulary[model.unknown]}
    marked = numpy.zeros(max((*model.vocabulary.values(), *others)) + 2, numpy.uint8)
    marked[[number for piece, number in model.vocabulary.items() if piece.startswith(model.prefix)]] = 1
    marked[list(others)] = 0
    ids = writer.node("Min", tokens.ids, len(marked) - 1)  # a template may have tokens that no vocabulary has
    return writer.cast(writer.node("Gather", writer.constant(marked), ids), ElementType.BOOL)
