"""spaCy: a pipeline component that parses tokenised documents and says how sure it is.

    latentgram.compat.spacy.register()
    nlp = spacy.blank("en"); nlp.add_pipe("sentencizer")
    nlp.add_pipe("latentgram", config={"model": "wsj.lg"})
    doc = nlp("The old man saw the boat."); list(doc.sents)[0]._.parse.tree, doc[1]._.head_prob

Each sentence gets `._.parse` (a `Parse`), `._.logprob` and `._.confidence` (the F1 or share of right heads that is
expected); each token `._.tag_prob` and `._.head_prob`. Dependency parsers also set `token.head` and `token.dep_`.
Sentences come from a component before this one, or the whole document is one.
"""

from __future__ import annotations

import importlib
import math
from types import ModuleType
from typing import TYPE_CHECKING

from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.errors import SettingError
from latentgram.parser.parser import Parser
from latentgram.store import load

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span


def register() -> None:
    """Make the component known to spaCy under the name `latentgram`."""
    language = _spacy("language").Language
    if not language.has_factory("latentgram"):
        language.factory("latentgram", default_config={"model": ""}, func=_make)


def _spacy(module: str) -> ModuleType:
    """A module of spaCy, which need not be installed."""
    try:
        return importlib.import_module(f"spacy.{module}")
    except ModuleNotFoundError:
        raise SettingError("latentgram.compat.spacy needs spaCy: pip install 'latentgram[spacy]'") from None


class LatentgramComponent:
    """Parses the sentences of a document."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        tokens = _spacy("tokens")
        for name in ("parse", "logprob", "confidence"):
            tokens.Span.set_extension(name, default=None, force=True)
        for name in ("tag_prob", "head_prob"):
            tokens.Token.set_extension(name, default=None, force=True)

    def __call__(self, doc: Doc) -> Doc:
        """Parse a document and keep what was found in extension attributes."""
        spans = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
        spans = [span for span in spans if len(span)]
        for span, parse in zip(spans, self.parser.parse_many(map(_sentence, spans)), strict=True):
            span._.parse, span._.logprob, span._.confidence = parse, parse.logprob, parse.expected
            for token, probability in zip(span, parse.tag_confidence.tolist(), strict=True):
                token._.tag_prob = None if math.isnan(probability) else probability
            if isinstance(parse.tree, DependencyTree):
                arcs = zip(span, parse.confidence.tolist(), parse.tree.heads, parse.tree.deprels, strict=True)
                for token, probability, head, relation in arcs:
                    token._.head_prob = probability
                    token.head = span[head - 1] if head else token
                    token.dep_ = relation
        return doc


def _sentence(span: Span) -> Sentence:
    xpos, upos = tuple(token.tag_ for token in span), tuple(token.pos_ for token in span)
    words = tuple(token.text for token in span)
    return Sentence(words, xpos if all(xpos) else None, upos if all(upos) else None)


def _make(nlp: Language, name: str, model: str) -> LatentgramComponent:
    return LatentgramComponent(load(model, Parser))
