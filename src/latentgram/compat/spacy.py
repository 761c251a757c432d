"""spaCy: a pipeline component that parses documents and reports its confidence.

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("latentgram", config={"model": "wsj.lg"})
    doc = nlp("The old man saw the boat.")
    list(doc.sents)[0]._.parse.tree, doc[1].tag_, doc[1]._.tag_prob

spaCy finds the component by its entry point: nothing has to be imported. Each sentence has `._.parse` (a `Parse`),
`._.constituents` (label and span of each phrase), `._.logprob` and `._.confidence` (the expected F1 or proportion
of correct heads); each token has `tag_`, for UD models `pos_`, and `._.tag_prob`. Dependency parsers also set
`token.head`, `token.dep_` and `token._.head_prob`. Sentences come from an earlier component; without one the whole
document is a sentence.

Documents store plain values, so `doc.to_bytes()`, `DocBin` (with `store_user_data=True`) and
`nlp.pipe(texts, n_process=2)` work; `nlp.to_disk` writes the model with the rest of the pipeline.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.errors import SettingError
from latentgram.kinds.result import Parse, finite
from latentgram.parser.parser import Parser
from latentgram.store import load, save

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

NAME = "latentgram"
KEPT = "latentgram.parse"
"""The key under which a document keeps the parses of its sentences, by their first token."""


def register() -> None:
    """Make the component known to spaCy; it is, by its entry point, wherever the package is installed."""
    language = _spacy("language").Language
    if not language.has_factory(NAME):
        language.factory(NAME, default_config={"model": ""}, func=make)


def make(nlp: Language, name: str, model: str) -> LatentgramComponent:
    """The component with the parser of a file; without one it waits for `from_disk`."""
    del nlp, name
    return LatentgramComponent(load(model, Parser) if model else None)


def _spacy(module: str) -> ModuleType:
    """A module of spaCy, which need not be installed."""
    try:
        return importlib.import_module(f"spacy.{module}")
    except ModuleNotFoundError:
        raise SettingError("latentgram.compat.spacy needs spaCy: pip install 'latentgram[spacy]'") from None


class LatentgramComponent:
    """Parses the sentences of documents."""

    def __init__(self, parser: Parser | None) -> None:
        self.parser = parser
        show_extensions()

    def __call__(self, doc: Doc) -> Doc:
        """Parse a document, and write what was found into it."""
        if self.parser is None:
            raise SettingError("there is no model: nlp.add_pipe('latentgram', config={'model': 'wsj.lg'})")
        if not doc.has_annotation("SENT_START"):
            for token in doc:
                token.is_sent_start = token.i == 0
        spans = [span for span in doc.sents if len(span)]
        parses = list(self.parser.parse_many(map(_sentence, spans)))
        doc.user_data[KEPT] = {str(span.start): parse.to_json() for span, parse in zip(spans, parses, strict=True)}
        for span, parse in zip(spans, parses, strict=True):
            _write(span, parse)
        return doc

    def to_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> None:
        """Write the parser into a folder of the pipeline."""
        del exclude
        if self.parser is not None:
            Path(path).mkdir(parents=True, exist_ok=True)
            save(self.parser, Path(path) / "model.lg")

    def from_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> LatentgramComponent:
        """Read the parser that `to_disk` has written."""
        del exclude
        self.parser = load(Path(path) / "model.lg", Parser)
        return self


def show_extensions() -> None:
    """Give spans and tokens their attributes, which read what the document keeps."""
    tokens = _spacy("tokens")
    spans = {
        "parse": parse_of,
        "constituents": _constituents,
        "logprob": lambda span: None if (parse := parse_of(span)) is None else finite(parse.logprob),
        "confidence": lambda span: None if (parse := parse_of(span)) is None else finite(parse.expected),
    }
    for name, getter in spans.items():
        tokens.Span.set_extension(name, getter=getter, force=True)
    for name in ("tag_prob", "head_prob"):
        tokens.Token.set_extension(name, default=None, force=True)


def parse_of(span: Span) -> Parse | None:
    """The parse of a sentence, if there is one."""
    plain = span.doc.user_data.get(KEPT, {}).get(str(span.start))
    return None if plain is None else Parse.from_json(plain)


def _constituents(span: Span) -> list[tuple[str, Span]]:
    """The phrases of a sentence: their labels and words."""
    parse = parse_of(span)
    if parse is None or isinstance(parse.tree, DependencyTree):
        return []
    return [(label, span[begin:end]) for label, begin, end in parse.tree.spans()]


def _write(span: Span, parse: Parse) -> None:
    """Tags, heads and how sure the parser is of them, onto the tokens of a sentence."""
    tree = parse.tree
    tags = tree.xpos if isinstance(tree, DependencyTree) else tree.tags
    for token, tag, probability in zip(span, tags, parse.tag_confidence.tolist(), strict=True):
        token._.tag_prob = None if math.isnan(probability) else probability
        if not token.tag_ and tag != "_":
            token.tag_ = tag
    if isinstance(tree, DependencyTree):
        universal = _spacy("symbols").IDS
        arcs = zip(span, parse.confidence.tolist(), tree.heads, tree.deprels, tree.upos, strict=True)
        for token, probability, head, relation, upos in arcs:
            token._.head_prob = probability
            token.head = span[head - 1] if head else token
            token.dep_ = relation
            if not token.pos_ and upos in universal:
                token.pos_ = upos


def _sentence(span: Span) -> Sentence:
    xpos, upos = tuple(token.tag_ for token in span), tuple(token.pos_ for token in span)
    words = tuple(token.text for token in span)
    return Sentence(words, xpos if all(xpos) else None, upos if all(upos) else None)


if importlib.util.find_spec("spacy") is not None:  # so that spaCy's entry point finds the component registered
    register()
