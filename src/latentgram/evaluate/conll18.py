"""The measures of the CoNLL 2018 shared task: raw text to Universal Dependencies, scored as a whole.

Both sides segment the same text, so tokens, sentences and words are compared by the characters that they cover
(kernels/alignment.py says which words are the same). With `correct` items that both sides have,

    precision = correct / output    recall = correct / gold    F1 = 2 · correct / (gold + output)

Tokens, Sentences and Words count what covers the same characters, or is aligned; UPOS, XPOS, UFeats (the universal
features), AllTags (all three) and Lemmas the aligned words that agree in it; UAS those whose heads are aligned,
LAS those that also agree in the relation without its subtype. CLAS is LAS of content words; MLAS also requires
UPOS, UFeats and all function words of the word to be correct, BLEX the lemma (Zeman et al. 2018). O(words).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import ClassVar

import numpy as np

from latentgram.arrays import Flags, Ints
from latentgram.data.dependencies import ROOT, DependencyTree
from latentgram.data.surface import tokens_of
from latentgram.errors import DataError
from latentgram.evaluate.kernels.alignment import align
from latentgram.evaluate.score import Rate, Score, Sums, harmonic

Form = Callable[[str], str]
"""What of an entry of a column is compared."""

_FUNCTION = "aux cop mark det clf case cc"
_CONTENT = (
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod appos nummod acl "
    "amod conj fixed flat compound list parataxis orphan goeswith reparandum root dep"
)
_UNIVERSAL = (
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood Tense "
    "Aspect Voice Evident Polarity Person Polite"
)
FUNCTION, CONTENT = frozenset(_FUNCTION.split()), frozenset(_CONTENT.split())
"""Relations of function words, and of content words; that of punctuation is neither."""
UNIVERSAL = frozenset(_UNIVERSAL.split())
"""The features that all treebanks share."""
_OUTSIDE, _NOT_ALIGNED = -1, -2


@dataclass(frozen=True)
class Agreement(Sums):
    """How many things both sides have, of which kind.

    >>> Agreement(gold=10, output=8, correct=6, aligned=8).f1
    66.66666666666667
    """

    gold: int = 0
    output: int = 0
    correct: int = 0
    aligned: int = 0
    """Things of both sides that are the same, right or not; 0 where that has no meaning."""

    precision = Rate("correct", "output", "Of what the output has, how much is right")
    recall = Rate("correct", "gold", "Of what the gold standard has, how much is found")
    accuracy = Rate("correct", "aligned", "Of the aligned words, those that are right")

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return harmonic(self.precision, self.recall)


@dataclass(frozen=True)
class Conll18Score(Score):
    """The measures of the CoNLL 2018 shared task, each with precision, recall and F1.

    >>> gold = DependencyTree(("Cats", "sleep"), (2, 0), deprels=("nsubj", "root"), lemmas=("cat", "sleep"))
    >>> score = score_conll18([gold], [gold.replace(lemmas=("Cats", "sleep"))])
    >>> print(score)
    LAS 100.00, MLAS 100.00, BLEX 50.00, UPOS 100.00, lemmas 50.00, words 100.00, sentences 100.00
    """

    HEADLINE: ClassVar = "las"
    NAMES: ClassVar = {
        "tokens": "Tokens",
        "sentences": "Sentences",
        "words": "Words",
        "upos": "UPOS",
        "xpos": "XPOS",
        "ufeats": "UFeats",
        "alltags": "AllTags",
        "lemmas": "Lemmas",
        "uas": "UAS",
        "las": "LAS",
        "clas": "CLAS",
        "mlas": "MLAS",
        "blex": "BLEX",
    }
    """The fields and the names that the shared task gave them."""
    FIGURES: ClassVar = tuple(NAMES)

    tokens: Agreement = field(default_factory=Agreement)
    sentences: Agreement = field(default_factory=Agreement)
    words: Agreement = field(default_factory=Agreement)
    upos: Agreement = field(default_factory=Agreement)
    xpos: Agreement = field(default_factory=Agreement)
    ufeats: Agreement = field(default_factory=Agreement)
    alltags: Agreement = field(default_factory=Agreement)
    lemmas: Agreement = field(default_factory=Agreement)
    uas: Agreement = field(default_factory=Agreement)
    las: Agreement = field(default_factory=Agreement)
    clas: Agreement = field(default_factory=Agreement)
    mlas: Agreement = field(default_factory=Agreement)
    blex: Agreement = field(default_factory=Agreement)

    @property
    def headline(self) -> float:
        """F1 of heads with their relations."""
        return self.las.f1

    def to_json(self) -> dict[str, object]:
        """F1 of each measure, in percent."""
        return {each.name: getattr(self, each.name).f1 for each in fields(self)}

    def table(self) -> str:
        """A row for each measure; accuracy is that of the aligned words."""
        rows = ["Measure    Precision  Recall      F1  Accuracy"]
        for name, shown in self.NAMES.items():
            each: Agreement = getattr(self, name)
            figures = f"{each.precision:9.2f}  {each.recall:6.2f}  {each.f1:6.2f}"
            rows.append(f"{shown:9}  {figures}" + (f"  {each.accuracy:8.2f}" if each.aligned else ""))
        return "\n".join(rows)

    def __str__(self) -> str:
        shown = ("LAS", "MLAS", "BLEX", "UPOS", "lemmas", "words", "sentences")
        return ", ".join(f"{name} {getattr(self, name.lower()).f1:.2f}" for name in shown)


@dataclass(frozen=True, eq=False)
class _Segmented:
    """A treebank as the characters of its text and what covers them; words of all sentences end to end."""

    characters: str
    sentence_at: list[int]
    """Where sentences begin among the characters, and the end."""
    tokens: list[tuple[int, int]]
    start: Ints
    end: Ints
    multiword: Flags
    forms: list[str]
    """In lower case; blanks are left out of tokens, and stand in the words of multiword tokens."""
    head: Ints
    """The number of each word's head; −1 outside."""
    trees: Sequence[DependencyTree]

    @classmethod
    def of(cls, trees: Iterable[DependencyTree], side: str) -> _Segmented:
        held = tuple(trees)
        pieces: list[str] = []
        tokens: list[tuple[int, int]] = []
        sentence_at, spans, heads, forms = [0], [], [], []
        place = words = 0
        for number, tree in enumerate(held, 1):
            try:
                each = tokens_of(tree)
            except DataError as error:
                raise DataError(f"sentence {number} of the {side}: {error.message}") from None
            for token in each:
                form = without_blanks(token.form)
                pieces.append(form)
                tokens.append((place, place + len(form)))
                spans += [(place, place + len(form), token.multiword)] * (token.end - token.first)
                forms += [
                    word.lower() for word in (tree.words[token.first : token.end] if token.multiword else [form])
                ]
                place += len(form)
            heads += [_OUTSIDE if head == ROOT else words + head - 1 for head in tree.heads]
            words += len(tree)
            sentence_at.append(place)
        start, end, multiword = np.ascontiguousarray(np.array(spans, np.int64).reshape(-1, 3).T)
        head = np.array(heads, np.int64)
        return cls("".join(pieces), sentence_at, tokens, start, end, multiword.astype(np.bool_), forms, head, held)

    def column(self, name: str) -> list[str]:
        """A column of all words."""
        return [entry for tree in self.trees for entry in getattr(tree, name)]


def without_blanks(form: str) -> str:
    """The characters of a form that count: all but spaces, which some treebanks have inside of words."""
    return "".join(sign for sign in form if unicodedata.category(sign) != "Zs")


def score_conll18(gold: Iterable[DependencyTree], output: Iterable[DependencyTree]) -> Conll18Score:
    """The CoNLL 2018 measures of the analysis of a text; gold and output may have different words and sentences.

    >>> gold = [DependencyTree(("It", "'s", "fun"), (3, 3, 0), deprels=("nsubj", "cop", "root"))]
    >>> output = [DependencyTree(("It's", "fun"), (2, 0), deprels=("nsubj", "root"))]
    >>> score = score_conll18(gold, output)
    >>> score.words.correct, round(score.words.f1, 2)
    (1, 40.0)
    """
    right, guess = _Segmented.of(gold, "gold standard"), _Segmented.of(output, "output")
    _check_text(right, guess)
    forms = _numbered(right.forms, guess.forms)
    spans = (right.start, right.end, right.multiword, forms[0], guess.start, guess.end, guess.multiword, forms[1])
    return _Comparison(right, guess, align(*spans)).score()


def _check_text(gold: _Segmented, output: _Segmented) -> None:
    if gold.characters == output.characters:
        return
    pairs = enumerate(zip(gold.characters, output.characters, strict=False))
    shorter = min(len(gold.characters), len(output.characters))
    place = next((i for i, (left, right) in pairs if left != right), shorter)
    sentence = int(np.searchsorted(output.sentence_at, place, side="right"))
    left, right = (repr(side.characters[place : place + 20]) for side in (gold, output))
    raise DataError(
        f"the text of the output differs from the gold standard: its sentence {sentence} "
        f"continues with {right} instead of {left}"
    )


def _plain(entry: str) -> str:
    return entry


def _relation(entry: str) -> str:
    return entry.partition(":")[0]


def _universal(entry: str) -> str:
    return "|".join(sorted(each for each in entry.split("|") if each.partition("=")[0] in UNIVERSAL))


def _encoded(gold: _Segmented, output: _Segmented, name: str, form: Form) -> tuple[Ints, Ints]:
    """A column of both sides as numbers that are equal where the entries are."""
    columns = gold.column(name), output.column(name)
    made = {entry: form(entry) for entry in {*columns[0], *columns[1]}}
    return _numbered(*([made[entry] for entry in column] for column in columns))


def _numbered(gold: list[str], output: list[str]) -> tuple[Ints, Ints]:
    """Two lists as numbers that are equal where the entries are."""
    numbers = {entry: number for number, entry in enumerate(dict.fromkeys((*gold, *output)))}
    left, right = (np.array([numbers[entry] for entry in side], np.int64) for side in (gold, output))
    return left, right


class _Comparison:
    """Two sides and which output word is which gold word."""

    def __init__(self, gold: _Segmented, output: _Segmented, matched: Ints) -> None:
        self.gold, self.output, self.matched = gold, output, matched
        self.of_output = np.flatnonzero(matched >= 0)
        self.of_gold = matched[self.of_output]

    def score(self) -> Conll18Score:
        """All measures."""
        upos, xpos, lemma = (self._same(name, _plain) for name in ("upos", "xpos", "lemmas"))
        relation, feats = self._same("deprels", _relation), self._same("feats", _universal)
        unknown = np.array([entry == "_" for entry in self.gold.column("lemmas")], np.bool_)
        lemma |= unknown[self.of_gold]  # where there is no gold lemma any will do
        heads = self._same_heads()
        arcs = heads & relation
        content = self._are("deprels", CONTENT)
        functions = self._same_functions(relation & upos & feats)
        return Conll18Score(
            self._spans(set(self.gold.tokens), set(self.output.tokens)),
            self._spans(set(pairwise(self.gold.sentence_at)), set(pairwise(self.output.sentence_at))),
            self._agreement(np.ones(len(self.of_gold), np.bool_)),
            self._agreement(upos),
            self._agreement(xpos),
            self._agreement(feats),
            self._agreement(upos & xpos & feats),
            self._agreement(lemma),
            self._agreement(heads),
            self._agreement(arcs),
            self._agreement(arcs, content),
            self._agreement(arcs & upos & feats & functions, content),
            self._agreement(arcs & lemma, content),
        )

    def _spans(self, gold: set[tuple[int, int]], output: set[tuple[int, int]]) -> Agreement:
        return Agreement(len(gold), len(output), len(gold & output))

    def _agreement(self, agree: Flags, among: tuple[Flags, Flags] | None = None) -> Agreement:
        """How many aligned words agree, of all words or of those among some on each side."""
        if among is None:
            sizes = len(self.gold.start), len(self.output.start)
            return Agreement(*sizes, int(agree.sum()), len(agree))
        counted = among[0][self.of_gold]
        sizes = int(among[0].sum()), int(among[1].sum())
        return Agreement(*sizes, int((agree & counted).sum()), int(counted.sum()))

    def _same(self, name: str, form: Form) -> Flags:
        """For each pair of aligned words, whether they agree in a column."""
        left, right = _encoded(self.gold, self.output, name, form)
        same: Flags = left[self.of_gold] == right[self.of_output]
        return same

    def _are(self, name: str, which: frozenset[str]) -> tuple[Flags, Flags]:
        """For each word of both sides, whether its relation is one of some."""
        gold, output = (
            np.array([_relation(entry) in which for entry in side.column(name)], np.bool_)
            for side in (self.gold, self.output)
        )
        return gold, output

    def _same_heads(self) -> Flags:
        """For each pair of aligned words, whether their heads are aligned, or both are outside."""
        in_gold = np.append(np.where(self.matched >= 0, self.matched, _NOT_ALIGNED), _OUTSIDE)  # [−1] is outside
        same: Flags = self.gold.head[self.of_gold] == in_gold[self.output.head[self.of_output]]
        return same

    def _same_functions(self, alike: Flags) -> Flags:
        """For each pair of aligned words, whether they have the same function words.

        They do if each side has as many as there are pairs of aligned function words of both that are `alike`.
        """
        gold, output = self._are("deprels", FUNCTION)
        shared = alike & self._same_heads() & gold[self.of_gold] & output[self.of_output]
        counts = (
            _children(self.gold.head[gold], len(self.gold.head))[self.of_gold],
            _children(self.output.head[output], len(self.output.head))[self.of_output],
            _children(self.gold.head[self.of_gold[shared]], len(self.gold.head))[self.of_gold],
        )
        same: Flags = (counts[0] == counts[1]) & (counts[0] == counts[2])
        return same


def _children(heads: Ints, size: int) -> Ints:
    """How often each word is a head."""
    return np.bincount(heads[heads >= 0], minlength=size)
