"""Loading the parser of a model file, with a word on what a file of another kind is for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from latentgram.parser.parser import Parser

_TAGS = "'latentgram tag' tags with it, and 'latentgram eval GOLD OUTPUT' scores what it tagged"
USES = {
    "HMM": f"{_TAGS}; 'latentgram score' gives log-probabilities of text",
    "Tagger": _TAGS,
    "BackoffNGram": "'latentgram score' and 'latentgram ngram query' give log-probabilities of text",
    "NGramCounts": "'latentgram ngram build' makes an automaton of it, 'latentgram train hmm' a tagger",
    "OperatorAutomaton": "'latentgram score' gives log-probabilities of text",
    "TopDown": "'latentgram score' gives log-probabilities of trees",
    "LatentTree": "'latentgram score' gives log-probabilities of trees",
    "WordVectors": "'latentgram show --word' lists neighbours",
}
"""What commands there are for models that are no parsers."""


def load_parser(path: Path) -> Parser:
    """The parser in a file; of another kind of model it is said what it is for."""
    import latentgram
    from latentgram.errors import ModelFileError
    from latentgram.store import read_header

    kind = read_header(path).kind
    if kind in USES:
        article = "an" if kind[0] in "HO" else "a"
        raise ModelFileError(f"{path} is {article} {kind}, not a Parser: {USES[kind]}")
    parser: Parser = latentgram.load(path, latentgram.Parser)
    return parser
