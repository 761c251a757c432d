"""`Segmenter`: raw text divided into sentences, tokens and words as in a treebank.

Token boundaries are found by kernels/segmenting.py, sentence boundaries by kernels/sentences.py.

A line is a paragraph, and ends a sentence in any case; spaces within it count as one. In scripts
without spaces, tokens may end after any character; frequent words of the training data help
then. Multiword tokens are split after that (multiwords.py). Linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, NamedTuple

import numpy as np

from latentgram.arcs.model import HashedWeights
from latentgram.arrays import Codes, Flags, Floats, Ints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.invariants import ANY, holds, rising, shape
from latentgram.data.provenance import Provenance, Summarised
from latentgram.data.sentence import Sentence
from latentgram.data.surface import Surface, Token, paragraphs_of
from latentgram.data.tokenise import ruled_places, unwrapped
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.kinds.kind import Context
from latentgram.numeric.adagrad import Moving
from latentgram.ud.averaging import Learning, averaged_weights
from latentgram.ud.chooser import codes_of, letters_of
from latentgram.ud.kernels.segmenting import (
    BLANK,
    FAMILIAR,
    FIRST_BLOCK,
    OUTLINES,
    Places,
    learn_ends,
    token_ends,
    word_codes,
)
from latentgram.ud.kernels.sentences import (
    CAPITAL,
    CAPITALS,
    CASELESS,
    FIRST_SIGN,
    GAPS,
    MIXED,
    NUMBER,
    OTHER,
    SMALL,
    Tokens,
    best_sentences,
    learn_sentences,
    sentence_spans,
)
from latentgram.ud.multiwords import Split, Splitter, learn_splitter
from latentgram.ud.settings import GradientSegmenter

BITS = 20
"""Weights of token ends and of sentence ends are hashed into 2 to this power buckets each."""
SPLIT_BITS = 18
"""The same for the weights of splits."""
OFTEN = 3
"""Words seen so often help to find words that are written without blanks, and are known in small letters."""
FAMILIAR_FROM = 40
"""Where two characters are side by side so often in training, rules are not asked whether a token ends between."""
SENTENCE_STEP = 2.0
"""Steps towards the ends of sentences, of which there are few, are so many times as long."""
SPARSE = 0.3
"""Where fewer tokens than this share have a blank behind them, words are written without blanks."""


@dataclass(frozen=True, eq=False, repr=False)
class Segmenter(Summarised):
    """Splits text into sentences, tokens and words, with the probability of each split.

    >>> import latentgram as lg
    >>> no_blank = ("_",) * 2 + ("SpaceAfter=No", "_")
    >>> tree = lg.DependencyTree(("The", "cat", "sleeps", "."), (2, 3, 0, 3), misc=no_blank)
    >>> segmenter = lg.fit(lg.Segmenter, [tree] * 20, by=lg.Gradient())
    >>> [sentence.words for sentence in segmenter.sentences("The cat sleeps. The cat sleeps.")]
    [('The', 'cat', 'sleeps', '.'), ('The', 'cat', 'sleeps', '.')]
    """

    ends: Annotated[HashedWeights, holds("ends.size.bit_count() == 1 < ends.size", "is not a power of two")]
    stops: Annotated[HashedWeights, holds("stops.size.bit_count() == 1 < stops.size", "is not a power of two")]
    """The weights of features of the ends of tokens, and of sentences."""
    words: Annotated[Codes, shape(ANY), rising()]
    """Codes of words that are often written without a blank; none where blanks stand between words."""
    small: Annotated[Codes, shape(ANY), rising()]
    """Codes of words that are usually written small."""
    joins: bool
    """Whether some tokens hold blanks."""
    splitter: Splitter | None = None
    provenance: Provenance = field(default_factory=Provenance)
    chained: bool = False
    """Whether weights of token ends know where the token began, and which characters are an address's."""
    wide: bool = False
    """Whether weights of sentence ends know what tokens farther away look like."""
    classes: bool = False
    """Whether weights of token ends know wider kinds of characters."""
    outlines: bool = False
    """Whether they know what the token so far looks like as a whole, and what follows it."""
    gaps: bool = False
    """Whether weights of sentence ends know whether a blank follows the next token."""
    rules: bool = False
    """Whether weights of token ends know what rules say of characters that are not familiar side by side."""
    familiar: Annotated[Codes, shape(ANY), rising()] = field(default_factory=lambda: np.zeros(0, np.uint64))
    """Codes of pairs of characters that are."""

    def summary(self) -> str:
        """One line."""
        splits = 0 if self.splitter is None else len(self.splitter.chooser.scripts) - 1
        sizes = f"{len(self.ends):,} weights of token ends, {len(self.stops):,} of sentence ends"
        return f"segmenter with {sizes}, {splits:,} ways to split a token"

    def sentences(self, text: str) -> Iterator[Sentence]:
        """The sentences of a text; every line is a separate paragraph, unless the text is wrapped."""
        for _, line in unwrapped(enumerate(text.splitlines(), 1)):
            yield from self._paragraph(" ".join(line.split()))

    def sentence(self, text: str) -> Sentence:
        """A text as one sentence, even if it contains several."""
        return joined(list(self.sentences(text)))

    def _paragraph(self, text: str) -> Iterator[Sentence]:
        if not text:
            return
        sign = letters_of([text])[0]
        kind = kinds_of(text, self.chained)
        ends, stop_bits = (self.ends.dense, bits_of(self.ends)), bits_of(self.stops)
        classes = OUTLINES if self.outlines else int(self.classes)
        ruled = _ruled([text], sign, self.familiar) if self.rules else np.full(len(sign), FAMILIAR)
        probability = token_ends(sign, kind, ruled, self.joins, self.chained, classes, self.words, *ends)
        tokens = list(_cut(text, probability))
        forms = [text[piece.begin : piece.end] for piece in tokens]
        space = np.array([piece.space_after for piece in tokens], np.bool_)
        wide = GAPS if self.gaps else int(self.wide)
        spans = sentence_spans(described(forms, space, self.small), wide, self.stops.dense, stop_bits)
        splits = [((form,), 1.0) for form in forms] if self.splitter is None else self.splitter.split(forms)
        begins, behind, sure, _ = spans
        for number in best_sentences(*spans).tolist():
            begin, end = int(begins[number]), int(behind[number])
            yield _sentence(forms, tokens, splits, begin, end, min(float(sure[number]), 1.0), begin == 0)


def bits_of(weights: HashedWeights) -> int:
    """The power of two that is the length of weights."""
    return weights.size.bit_length() - 1


class Piece(NamedTuple):
    """A token's place in its paragraph, and how sure that is given where it begins."""

    begin: int
    end: int
    space_after: bool
    probability: float


def _cut(text: str, probability: Floats) -> Iterator[Piece]:
    """Tokens from the probabilities of their ends."""
    begin, inside = 0, 1.0
    for i, p in enumerate(probability.tolist()):
        if p < 0.0:  # a blank; before a token it is not part of one
            begin += i == begin
        elif p < 0.5:
            inside *= 1.0 - p
        else:
            after = i + 1 < len(text) and text[i + 1] == " "
            yield Piece(begin, i + 1, after or i + 1 == len(text), inside * p)
            begin, inside = i + 1, 1.0


def _sentence(
    forms: Sequence[str],
    pieces: Sequence[Piece],
    splits: Sequence[Split],
    begin: int,
    end: int,
    probability: float,
    first: bool,
) -> Sentence:
    """The tokens from `begin` to `end` of a paragraph as a sentence."""
    words: list[str] = []
    spaces: list[bool] = []
    tokens: list[Token] = []
    for t in range(begin, end):
        parts, share = splits[t]
        space = pieces[t].space_after
        tokens.append(Token(forms[t], len(words), len(words) + len(parts), space, pieces[t].probability, share))
        words += parts
        spaces += [False] * (len(parts) - 1) + [space]
    surface = Surface(tuple(tokens), probability, first)
    return Sentence(tuple(words), space_after=tuple(spaces), surface=surface)


def joined(parts: Sequence[Sentence]) -> Sentence:
    """Several sentences as one."""
    if not parts:
        raise DataError("the sentence has no words")
    if len(parts) == 1:
        return parts[0]
    tokens: list[Token] = []
    for part in parts:
        before = tokens[-1].end if tokens else 0
        held = part.surface.tokens if part.surface is not None else ()
        tokens += [token._replace(first=token.first + before, end=token.end + before) for token in held]
    words = tuple(word for part in parts for word in part.words)
    spaces = tuple(space for part in parts for space in part.space_after or ())
    return Sentence(words, space_after=spaces, surface=Surface(tuple(tokens)))


_KINDS = {"Lu": 1, "Lt": 1, "Ll": 2, "Nd": 3, "Zs": 4, "Ps": 9, "Pi": 9, "Pe": 10, "Pf": 10, "Sc": 14}
_SIGNS = {
    **dict.fromkeys("'’ʼ`´", 5),
    **dict.fromkeys("-‐‑–—", 6),
    **dict.fromkeys(".!?…。！？؟।", 7),
    **dict.fromkeys(",;:、，；：،؛", 8),
    **dict.fromkeys('"“”„', 11),
}
_OPENING, _CLOSING, _QUOTES = (frozenset(signs) for signs in ("([{（「『【", ")]}）」』】", '"“”„«»'))


@cache
def kind_of_sign(sign: str) -> int:
    """What kind of character one is: letters by case, or by their block where there is none; signs by use."""
    if sign in _SIGNS:
        return _SIGNS[sign]
    category = unicodedata.category(sign)
    if category in _KINDS:
        return _KINDS[category]
    if category[0] == "L":
        return FIRST_BLOCK + (ord(sign) >> 7) % 512
    return {"P": 12, "S": 13, "M": 15, "N": 3}.get(category[0], 0)


_PAGE = r"(?<![a-z0-9])(?:[a-z][a-z0-9+.-]{0,15}://|www\.)[!-~]*[a-z0-9/=]"
_MAILBOX = r"[a-z0-9_.+%-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+"
_ADDRESS = re.compile(f"{_PAGE}|{_MAILBOX}", re.IGNORECASE | re.ASCII)
"""Its parts have bounds, so that a long text without blanks is still read in linear time."""
_IN_ADDRESS = 600
"""The kind of all characters of what looks like an address of a page or of a letter."""


def kinds_of(text: str, addresses: bool) -> Ints:
    """The kind of each character; `addresses`: those of what looks like an address have one of their own."""
    kinds = np.array([kind_of_sign(sign) for sign in text], np.int64)
    for address in _ADDRESS.finditer(text) if addresses else ():
        kinds[address.start() : address.end()] = _IN_ADDRESS
    return kinds


@cache
def _shape(form: str) -> str:
    """The kinds of the first characters and of the last, runs cut short; a sign stands for itself."""
    kinds: list[str] = []
    for sign in form[:12]:
        kind = kind_of_sign(sign)
        mark = chr(64 + kind) if kind in (1, 2, 3) or kind > 14 else sign
        if kinds[-2:] != [mark, mark]:
            kinds.append(mark)
    return "".join(kinds) + ("" if len(form) <= 12 else form[-1])


_ALIKE = str.maketrans("：；؛﹕﹔", ":;;:;")
"""Colons and semicolons of other scripts."""


def look_of(form: str) -> int:
    """What a token looks like: its case, a number, or the code of the last character of a sign.

    >>> [look_of(form) for form in ("cat", "Cat", "CAT", "eBay", "猫", "B2", "20", ";")]
    [0, 1, 2, 3, 4, 2, 5, 59]
    """
    if form[:1].isalpha():
        if form.lower() == form.upper():
            return CASELESS
        if form == form.lower():
            return SMALL
        if form == form.upper() and len(form) > 1:
            return CAPITALS
        return CAPITAL if form[0].isupper() else MIXED
    if form[:1].isdigit():
        return NUMBER
    code = ord(form[-1].translate(_ALIKE))
    return code if code >= FIRST_SIGN else OTHER


def described(forms: Sequence[str], space: Flags, small: Codes) -> Tokens:
    """Tokens as the loops over sentences want them; `small`: codes of words that are usually written small."""
    low = codes_of(form.lower() for form in forms)
    place = np.minimum(np.searchsorted(small, low), max(len(small) - 1, 0))
    known = small[place] == low if len(small) else np.zeros(len(low), np.bool_)
    capital = np.array([form[:1].isupper() for form in forms], np.bool_)
    signs = [1 if f in _OPENING else 2 if f in _CLOSING else 3 if f in _QUOTES else 0 for f in forms]
    usual = np.where(capital, np.where(known, 1, 2), 0).astype(np.int64)
    shapes = codes_of(_shape(form) for form in forms)
    codes, small_form, outline = (each.view(np.int64) for each in (codes_of(forms), low, shapes))
    looks = np.array([look_of(form) for form in forms], np.int64)
    return Tokens(codes, small_form, outline, space, usual, np.array(signs, np.int64), looks)


class _Paragraph(NamedTuple):
    """A paragraph of a treebank: its text, its tokens with their words, and where sentences end."""

    text: str
    ends: list[int]
    """The last characters of the tokens."""
    tokens: list[tuple[str, tuple[str, ...]]]
    space: list[bool]
    stops: list[bool]


def _read(trees: Iterable[DependencyTree]) -> Iterator[_Paragraph]:
    for paragraph in paragraphs_of(trees):
        pieces: list[str] = []
        ends: list[int] = []
        tokens: list[tuple[str, tuple[str, ...]]] = []
        space: list[bool] = []
        stops: list[bool] = []
        place = 0
        for tree, held in paragraph:
            for token in held:
                form = " ".join(token.form.split())
                pieces.append(form + " " * token.space_after)
                ends.append(place + len(form) - 1)
                place += len(pieces[-1])
                tokens.append((form, tree.words[token.first : token.end] if token.multiword else (form,)))
                space.append(token.space_after)
                stops.append(False)
            stops[-1] = True
        yield _Paragraph("".join(pieces), ends, tokens, space, stops)


def learn_segmenter(trees: Treebank[DependencyTree], settings: GradientSegmenter, context: Context) -> Segmenter:
    """A segmenter from the tokens of a treebank and the blanks between them."""
    paragraphs = list(_read(trees.dependency_trees))
    forms = Counter(form for paragraph in paragraphs for form, _ in paragraph.tokens)
    often = sorted(form for form, count in forms.items() if count >= OFTEN)
    sparse = sum(sum(paragraph.space) for paragraph in paragraphs) < SPARSE * forms.total()
    words = np.unique(word_codes(*letters_of(often))) if sparse and often else np.zeros(0, np.uint64)
    usual = (form for form in often if form.islower() and forms[form] > forms[form[:1].upper() + form[1:]])
    small = np.unique(codes_of(usual))
    how = Learning(settings.passes, settings.step, BITS, settings.seed)
    passes = _Passes(how, context, [])
    joins = any(" " in form for form in forms)
    pairs, count = np.unique(_pairs(letters_of(paragraph.text for paragraph in paragraphs)[0]), return_counts=True)
    familiar = pairs[count >= FAMILIAR_FROM]
    ends = _learn_ends(paragraphs, familiar, words, joins, passes)
    stops = _learn_sentences(paragraphs, small, passes)
    splitter = learn_splitter([paragraph.tokens for paragraph in paragraphs], replace(how, bits=SPLIT_BITS))
    trace = Provenance(trace=tuple(passes.trace))
    knows = dict.fromkeys(("chained", "wide", "classes", "outlines", "gaps", "rules"), True)
    return Segmenter(ends, stops, words, small, joins, splitter, trace, **knows, familiar=familiar)


class _Passes(NamedTuple):
    """How weights are learned, and what is seen on the way."""

    how: Learning
    context: Context
    trace: list[dict[str, float]]

    def learn(
        self, what: str, count: int, moments: int, one: Callable[[Ints, float, Moving], float]
    ) -> HashedWeights:
        """Weights after all passes over `count` things with so many moments."""

        def report(done: int, loss: float) -> None:
            self.context.progress.step(f"learning {what}", done, self.how.passes, loss=loss)
            self.trace.append({"pass": float(done), "loss": loss})

        def one_pass(done: int, order: Ints, weights: Moving) -> float:
            return one(order, float(done * moments), weights)

        return averaged_weights(self.how, count, moments, one_pass, report)


def _learn_ends(
    paragraphs: Sequence[_Paragraph], familiar: Codes, words: Codes, joins: bool, passes: _Passes
) -> HashedWeights:
    text = "".join(paragraph.text for paragraph in paragraphs)
    sign = letters_of([text])[0]
    kind = np.concatenate([kinds_of(paragraph.text, True) for paragraph in paragraphs])
    ruled = _ruled([paragraph.text for paragraph in paragraphs], sign, familiar)
    start = np.concatenate([[0], np.cumsum([len(paragraph.text) for paragraph in paragraphs])])
    number = np.repeat(np.arange(len(paragraphs)), np.diff(start))
    is_end = np.zeros(len(sign), np.bool_)
    for first, paragraph in zip(start.tolist(), paragraphs, strict=False):
        is_end[first + np.array(paragraph.ends)] = True
    inner = np.append(number[1:] == number[:-1], False) & (sign != BLANK)
    place = np.flatnonzero(inner & (np.append(sign[1:] != BLANK, False) | joins))
    begin, end, token = start[:-1][number[place]], start[1:][number[place]], _token_begins(sign, is_end)[place]
    places = Places(place, begin, end, token, is_end[place])

    def one(order: Ints, moment: float, weights: Moving) -> float:
        return float(learn_ends(order, places, sign, kind, ruled, words, passes.how.step, moment, weights, BITS))

    return passes.learn("token ends", len(place), len(place), one)


def _pairs(sign: Ints) -> Codes:
    """A code of each character and the next."""
    codes: Codes = (sign << 32 | np.append(sign[1:], BLANK)).astype(np.uint64)
    return codes


def _ruled(texts: Sequence[str], sign: Ints, familiar: Codes) -> Ints:
    """What rules say of the place behind each character of some texts, which have the codes `sign`."""
    said = np.frombuffer(b"".join(map(ruled_places, texts)), np.uint8).astype(np.int64)
    pairs = _pairs(sign)
    place = np.minimum(np.searchsorted(familiar, pairs), max(len(familiar) - 1, 0))
    said[familiar[place] == pairs if len(familiar) else np.zeros(len(pairs), np.bool_)] = FAMILIAR
    return said


def _token_begins(sign: Ints, is_end: Flags) -> Ints:
    """Where the token that each character belongs to begins, given where tokens end; blanks begin none."""
    after_end = np.append(True, is_end[:-1])
    blank_before = np.append(False, (sign == BLANK)[:-1]) & np.append(False, after_end[:-1])
    begins = np.where(sign == BLANK, 0, (after_end | blank_before) * np.arange(len(sign)))
    return np.maximum.accumulate(begins)


def _learn_sentences(paragraphs: Sequence[_Paragraph], small: Codes, passes: _Passes) -> HashedWeights:
    forms = [form for paragraph in paragraphs for form, _ in paragraph.tokens]
    space = np.array([space for paragraph in paragraphs for space in paragraph.space], np.bool_)
    gold = np.array([stop for paragraph in paragraphs for stop in paragraph.stops], np.bool_)
    start = np.concatenate([[0], np.cumsum([len(paragraph.tokens) for paragraph in paragraphs])])
    tokens = described(forms, space, small)

    def one(order: Ints, moment: float, weights: Moving) -> float:
        step = SENTENCE_STEP * passes.how.step
        return float(learn_sentences(order, start, tokens, gold, step, moment, weights, BITS))

    return passes.learn("sentence ends", len(paragraphs), len(forms) - len(paragraphs), one)
