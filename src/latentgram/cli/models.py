"""Loading the parser of a model file, with a word on what a file of another kind is for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from latentgram.parser.parser import Parser

COUNTS_USE = "'latentgram ngram build' makes an automaton of it, 'latentgram train hmm' a tagger"


def load_parser(path: Path) -> Parser:
    """The parser in a file; of another kind of model it is said what it is for."""
    import latentgram
    from latentgram.errors import ModelFileError, a_or_an
    from latentgram.kinds.registry import kinds
    from latentgram.store import read_header

    name = read_header(path).kind
    kind = kinds().get(name)
    use = COUNTS_USE if name == "NGramCounts" else kind.use if kind is not None else ""
    if use:
        raise ModelFileError(f"{path} is {a_or_an(name)}, not a Parser: {use}")
    parser: Parser = latentgram.load(path, latentgram.Parser)
    return parser
