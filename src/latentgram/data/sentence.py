"""`Sentence`: the input of a parser or tagger, words and tags; and words in the Penn notation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from latentgram.data.surface import Surface, Token, text_of
from latentgram.errors import DataError

# What ends a token when brackets are read: other blanks of Unicode may stand inside a word.
_BLANK = re.compile(r"[ \t\n\v\f\r]")
_UNSAFE = re.compile(r"[() \t\n\v\f\r]")
_NAMES = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_ESCAPES = str.maketrans(_NAMES)
_BRACKETS = {name: bracket for bracket, name in _NAMES.items()}


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words with optional fine tags (XPOS, Penn), coarse tags (UPOS) and morphological features.

    >>> Sentence.of("The cat sleeps").words
    ('The', 'cat', 'sleeps')
    >>> Sentence.of([("The", "DT"), ("cat", "NN")]).tags
    ('DT', 'NN')
    """

    words: tuple[str, ...]
    xpos: tuple[str, ...] | None = None
    upos: tuple[str, ...] | None = None
    space_after: tuple[bool, ...] | None = None
    """Whether a blank stood behind each word; None if that is not known."""
    feats: tuple[str, ...] | None = None
    """The morphological features of each word as in CoNLL-U, `Case=Nom|Number=Sing`, `_` for none."""
    surface: Surface | None = None
    """Its tokens, where these are not simply its words."""

    def __post_init__(self) -> None:
        if not self.words:
            raise DataError("the sentence has no words")
        if not all(self.words):
            raise DataError(f"word {self.words.index('') + 1} of the sentence is empty")
        for name, tags in (("xpos tags", self.xpos), ("upos tags", self.upos), ("feats", self.feats)):
            if tags is not None and len(tags) != len(self.words):
                raise DataError(f"the sentence has {len(self.words)} words but {len(tags)} {name}")
        if self.space_after is not None and len(self.space_after) != len(self.words):
            raise DataError(
                f"the sentence has {len(self.words)} words but {len(self.space_after)} values of space_after"
            )

    @classmethod
    def of(cls, words: SentenceLike) -> Sentence:
        """A sentence from a string split at spaces, a list of words, or a list of (word, tag) pairs."""
        if isinstance(words, Sentence):
            return words
        if isinstance(words, str):
            return cls(tuple(words.split()))
        if not isinstance(words, Iterable):
            raise DataError(
                f"a sentence is a string, a list of words, or a list of (word, tag) pairs, not {words!r}"
            )
        items = list(words)
        if items and all(isinstance(item, str) for item in items):
            return cls(tuple(str(item) for item in items))
        if all(isinstance(item, tuple) and len(item) == 2 for item in items):
            return cls(tuple(item[0] for item in items), tuple(item[1] for item in items))
        other = next((item for item in items if not isinstance(item, str | tuple)), None)
        hint = f": {other!r} is not a string: write it as {str(other)!r}" if other is not None else ""
        raise DataError(f"a sentence is a string, a list of words, or a list of (word, tag) pairs{hint}")

    @property
    def tags(self) -> tuple[str, ...] | None:
        """The finest available tags."""
        return self.xpos if self.xpos is not None else self.upos

    @property
    def sentence(self) -> Sentence:
        """The sentence itself, so that sentences and trees have the same attribute."""
        return self

    def without_tags(self) -> Sentence:
        """The words alone, without features too."""
        return Sentence(self.words, space_after=self.space_after, surface=self.surface)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens as written: words, or multiword tokens."""
        if self.surface is not None:
            return self.surface.tokens
        spaces = self.space_after or (True,) * len(self.words)
        pairs = zip(self.words, spaces, strict=True)
        return tuple(Token(word, i, i + 1, space) for i, (word, space) in enumerate(pairs))

    @property
    def text(self) -> str:
        """The sentence as written: with its original spaces if they are known, else with spaces between all words.

        >>> Sentence(("Hi", "!"), space_after=(False, True)).text
        'Hi!'
        """
        return text_of(self.tokens)

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """Where each word begins and ends in `text`; words of a multiword token all where it does."""
        places, begin = [], 0
        for token in self.tokens:
            places += [(begin, begin + len(token.form))] * (token.end - token.first)
            begin += len(token.form) + token.space_after
        return tuple(places)

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)


def symbols_of(string: Iterable[str]) -> Iterable[str]:
    """The symbols of a string: text is split at spaces, anything else taken as it comes.

    >>> symbols_of("the house"), symbols_of(("the", "house"))
    (['the', 'house'], ('the', 'house'))
    """
    return string.split() if isinstance(string, str) else string


def bracket_safe(token: str) -> str:
    """A word or label as it may stand between brackets: no brackets, no blanks.

    >>> bracket_safe("("), bracket_safe("New York") == "New\\u00a0York"
    ('-LRB-', True)
    """
    if _UNSAFE.search(token) is None:
        return token
    return _BLANK.sub("\u00a0", token.replace("(", "-LRB-").replace(")", "-RRB-"))


def escape(word: str) -> str:
    """A word as Penn writes it: a bracket by its name.

    >>> escape("("), escape("["), escape("a(b)")
    ('-LRB-', '-LSB-', 'a-LRB-b-RRB-')
    """
    return word.translate(_ESCAPES)


def unescape(word: str) -> str:
    r"""A word as people write it: `-LRB-` is a bracket again, and `\/` and `\*` lose their backslash.

    >>> unescape("-LRB-"), unescape("1\\/2"), unescape("Anti-Ro-LRB-SSA-RRB-")
    ('(', '1/2', 'Anti-Ro(SSA)')
    """
    if "-" in word:
        for name, bracket in _BRACKETS.items():
            word = word.replace(name, bracket)
    return word.replace("\\/", "/").replace("\\*", "*")


SentenceLike = Sentence | str | list[str] | tuple[str, ...] | list[tuple[str, str]]
"""What `Sentence.of` accepts."""
