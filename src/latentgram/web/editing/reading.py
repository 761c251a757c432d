"""The input of the parser in a request: a text, which is split into words, words with tags, or rows of CoNLL-U."""

from __future__ import annotations

from latentgram.data.conllu import parse_conllu
from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.data.treebank import CONSTITUENCY
from latentgram.errors import DataError
from latentgram.parser.parser import Parser
from latentgram.web.analysis import Asked
from latentgram.web.editing.question import ParseRequest
from latentgram.web.schemas import MAX_WORDS, Kind


def cut(parser: Parser, text: str, tokenised: bool) -> list[Sentence]:
    """The sentences of a text: one per line, if it is tokenised."""
    lines = (line.split() for line in text.splitlines())
    found = (Sentence(tuple(words)) for words in lines if words) if tokenised else parser.sentences_of(text)
    if not (sentences := list(found)):
        raise DataError("the text has no sentence")
    return sentences


def check_length(words: int) -> None:
    """Refuse a sentence without words, or of more words than are parsed here."""
    if not words:
        raise DataError("the sentence has no words")
    if words > MAX_WORDS:
        raise DataError(
            f"this has {words:,} words; sentences of at most {MAX_WORDS} words are parsed here: "
            "split it into sentences"
        )


def read_question(parser: Parser, kind: Kind, request: ParseRequest) -> Asked:
    """What a request asks."""
    if request.corrections and any(dict(request.fixes).values()):
        raise DataError("give constraints either as `fixes` or as `corrections`")
    source = None if request.source is None else _source(request.source, kind)
    sentence = _sentence(parser, request) if source is None else source.sentence
    check_length(len(sentence))
    if any("\ud800" <= char <= "\udfff" for word in sentence.words for char in word):
        raise DataError("the text contains half a character (a lone surrogate)")
    known = Constraints.read(request.fixes.model_dump()) or None
    return Asked(sentence, known, tuple(request.corrections), request.base, source, request.count)


def _sentence(parser: Parser, request: ParseRequest) -> Sentence:
    if (request.text is None) == (request.words is None):
        raise DataError("give a sentence either as text or as words")
    xpos, upos = (tuple(tags) if tags else None for tags in (request.xpos, request.upos))
    if request.words is not None:
        blanks = None if request.space_after is None else tuple(request.space_after)
        return Sentence(tuple(request.words), xpos, upos, blanks)
    first, *others = cut(parser, request.text or "", request.tokenised)
    if others:
        number = f"{1 + len(others):,} sentences"
        raise DataError(f"this has {number}, but only one at a time can be parsed: /api/sentences splits them")
    return Sentence(first.words, xpos, upos, first.space_after)


def _source(text: str, kind: Kind) -> DependencyTree:
    if kind == CONSTITUENCY:
        raise DataError("CoNLL-U rows need a dependency parser")
    rows = parse_conllu(text, heads=False)
    if len(rows) != 1:
        raise DataError(f"expected one sentence in CoNLL-U, got {len(rows)}")
    return rows[0]
