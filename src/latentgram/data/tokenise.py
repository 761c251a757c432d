"""From raw text to sentences of tokens: rules for any alphabet, with what a treebank teaches about its language.

A line is a paragraph, unless the text is *wrapped*: then a blank line ends a paragraph, and the lines between two
blank lines are joined. The raw texts of Universal Dependencies are wrapped at 80 characters. A text is wrapped if
nearly every line that is followed by another is *full*: the first word of the next line would not have fitted into
the width, which is that of the longest line of more than one word. Lines with one sentence each are not full,
and if they are by chance, most of them end in a full stop or the like, unlike wrapped lines. In scripts
without spaces, text is wrapped if nearly all its lines have the same length.

Only the beginning of a text is judged, and very long paragraphs are divided after a full stop, so that text of any
size can be read as a stream.

A paragraph is split at spaces; brackets, quotation marks and other signs are separated at both ends of each piece,
then clitics (`n't`, `'s`; `l'`) and, if the treebank does so, the parts around a hyphen. A full stop stays with
its word if the word is an abbreviation, a list of initials or a number; otherwise it is a token. A sentence ends
after a full stop, `!`, `?` or the like and any closing signs, unless the next word begins with a small letter.

Tokens are never changed, so the text can be restored: `space_after` says where there were spaces. The
abbreviations and clitics of a language are learned from tokenised sentences by counting (`Tokeniser.of`); without
that, the rules are those of English in the Penn Treebank. Linear in the text; repeated pieces are looked up.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, chain, islice, pairwise
from typing import Protocol

from latentgram.data.files import PathLike, expand, read_lines
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.data.tagged import TEXT_SUFFIXES
from latentgram.errors import DataError

_OPENING = "([{<«‹“„‘‚¿¡\"'`*#$£€¥§@&+=~/|–—-"
_CLOSING = ")]}>»›”’\"'`,;:!?…。！？、，؟؛।*#$£€¥%=~/|–—-"
_ENDS = re.compile(r"[.!?…。！？؟।]+$")
_CLOSERS = re.compile(r"[)\]}>»›”’\"'`]+$")
_WHOLE = re.compile(
    r"""(?: (?:https?|ftp)://\S*[^\s.,;:!?)\]}>"'»”]   # addresses of pages
        | www\.\S*[^\s.,;:!?)\]}>"'»”]
        | [\w.+-]+@[\w-]+(?:\.[\w-]+)+                  # and of people
        | [:;=8][-o^']?[)(\]\[DPp/\\|*]+                # faces
        | [([{]?-[A-Z]{3}-[)\]}]?                       # Penn names of brackets
        )""",
    re.VERBOSE,
)
_RUN = re.compile(r"\.{2,}|…|-{2,}|–+|—+|([!?=*_~#])\1+|''|``|.", re.DOTALL)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+$")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,:/]\d+)*$|[.,]\d+$")
_INNER = re.compile(r"(\.{2,}|…|[–—]|--+|[/()\[\]{}\"“”«»]|(?<=[^\W\d_]),(?=[^\W\d_])|(?<=[^\W\d])[:;?!](?=\w))")
_HYPHEN = re.compile(r"(?<=\w)(-)(?=\w)")
_POINT = "."
_LONE = re.compile(r"\s[.!?](?:\s+(?:''|[\")\]]|-R.B-))?\s*$")
_HANGING = re.compile(r"\w(?:[,;:!?)\"”]+|n['’]t|['’](?!t(?:\s|$))\w{1,2})(?:\s|$)")

ENGLISH = tuple(
    f"{word}."
    for row in (
        "mr mrs ms dr prof sen rep gen gov lt col capt sgt st jr sr inc corp co ltd bros vs etc cf al est vol pp",
        "jan feb mar apr jun jul aug sep sept oct nov dec ave blvd dept",
    )
    for word in row.split()
)
"""Abbreviations of English."""
REMEMBERED = 1 << 16
"""Pieces of which the tokens are kept to be looked up."""
FUSED = ("cannot", "gonna", "gotta", "wanna")
"""Two words written as one, the first of three letters."""
JUDGED = 500
"""Lines at the beginning of a text that tell whether it is wrapped."""
FEWEST = 4
"""Different pairs of lines that are needed for that."""
FULL, EQUAL = 0.95, 0.8
"""The least shares of full lines, and of equally long ones where there are no spaces."""
ENDING = 0.5
"""The greatest share of lines that end as sentences do."""
WIDTHS = range(40, 201)
"""The widths that text is wrapped at."""
LONG = 1000
"""A paragraph of so many lines is ended where a line ends as a sentence does."""
_FULL_STOPS = tuple(".!?…。！？؟।")
_CLOSING_QUOTES = "\"'”’»)]}」』"


class Cutter(Protocol):
    """What cuts raw text: by rules, as a `Tokeniser`, or as it has learned to."""

    def sentences(self, text: str) -> Iterator[Sentence]:
        """The sentences of a text; every line is a separate paragraph, unless the text is wrapped."""

    def sentence(self, text: str) -> Sentence:
        """A text as one sentence."""


@dataclass(frozen=True)
class Tokeniser:
    """The rules of a language.

    >>> rules = Tokeniser()
    >>> for sentence in rules.sentences("Mr. Brown doesn't care (much). It's $5.20, isn't it?"):
    ...     print(" ".join(sentence.words))
    Mr. Brown does n't care ( much ) .
    It 's $ 5.20 , is n't it ?
    """

    abbreviations: tuple[str, ...] = ENGLISH
    """Words that end in a point, in lower case."""
    endings: tuple[str, ...] = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")
    """Clitics at the end of a word, in lower case and with a plain apostrophe."""
    beginnings: tuple[str, ...] = ()
    """Clitics before a word."""
    split_hyphens: bool = False

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> Tokeniser:
        """Learn from tokenised sentences, with the rules for English as defaults.

        >>> Tokeniser.of([Sentence(("l'", "art", "de", "M.", "X"))]).beginnings
        ("l'",)
        """
        tokens: Counter[str] = Counter()
        before_point: Counter[str] = Counter()
        for sentence in sentences:
            words = [_plain(word) for word in sentence.words]
            tokens.update(words)
            before_point.update(word for word, after in pairwise(words) if after == _POINT)
        pointed = (word for word in tokens if len(word) > 1 and word.endswith(_POINT) and word[0].isalpha())
        abbreviations = {word for word in pointed if tokens[word] > before_point[word[:-1]]}
        letters = {word for word in tokens if any(map(str.isalpha, word)) and tokens[word] > 1}
        endings = {word for word in letters if word[0] == "'" or word == "n't"}
        beginnings = {word for word in tokens if word[-1] == "'" and word[:-1].isalpha() and len(word) < 7}
        hyphened = sum(count for word, count in tokens.items() if _HYPHEN.search(word))
        return cls(
            tuple(sorted(abbreviations | set(ENGLISH))),
            tuple(sorted(endings | set(cls.endings), key=lambda word: (-len(word), word))),
            tuple(sorted(beginnings, key=lambda word: (-len(word), word))),
            split_hyphens=tokens["-"] > hyphened,
        )

    def sentences(self, text: str) -> Iterator[Sentence]:
        """The sentences of a text; every line is a separate paragraph, unless the text is wrapped."""
        for _, line in unwrapped(enumerate(text.splitlines(), 1)):
            if self.is_tokenised(line):
                yield Sentence(tuple(line.split()))
                continue
            words: list[str] = []
            spaces: list[bool] = []
            pieces = line.split()
            for number, piece in enumerate(pieces):
                tokens = self._tokens(piece)
                words += tokens
                spaces += [False] * (len(tokens) - 1) + [True]
                after = pieces[number + 1] if number + 1 < len(pieces) else ""
                if self._ends(tokens) and after and not _begins_small(after):
                    yield Sentence(tuple(words), space_after=tuple(spaces))
                    words, spaces = [], []
            if words:
                yield Sentence(tuple(words), space_after=(*spaces[:-1], True))

    def sentence(self, text: str) -> Sentence:
        """A text as one sentence, even if it contains several full stops.

        >>> Tokeniser().sentence("He left. (Why?)").words
        ('He', 'left', '.', '(', 'Why', '?', ')')
        """
        match list(self.sentences(text)):
            case [single]:
                return single
            case parts:
                words = tuple(word for part in parts for word in part.words)
                spaces = (part.space_after or (True,) * len(part) for part in parts)
                return Sentence(words, space_after=tuple(space for part in spaces for space in part))

    def is_tokenised(self, line: str) -> bool:
        """Whether a line is one sentence that is already tokenised.

        It is if it ends in a point that stands alone and no sign or clitic is attached to a word.

        >>> Tokeniser().is_tokenised("He did n't ."), Tokeniser().is_tokenised("He didn't .")
        (True, False)
        """
        return _LONE.search(line) is not None and _HANGING.search(line) is None

    def _ends(self, tokens: list[str]) -> bool:
        """Whether a sentence may end behind these tokens of a piece."""
        kept = [token for token in tokens if not _CLOSERS.fullmatch(token)]
        return bool(kept) and _ENDS.fullmatch(kept[-1]) is not None

    @cached_property
    def _seen(self) -> dict[str, list[str]]:
        return {}

    def _tokens(self, piece: str) -> list[str]:
        """The tokens of a piece without blanks; together they are the piece."""
        tokens = self._seen.get(piece)
        if tokens is None:
            if len(self._seen) >= REMEMBERED:  # a text of any length has new words without end
                self._seen.clear()
            tokens = self._seen[piece] = list(self.cut(piece))
        return tokens

    def cut(self, piece: str) -> Iterator[str]:
        """The tokens of a piece without blanks."""
        whole = _WHOLE.match(piece)
        if whole is not None and whole.end() == len(piece):
            yield piece
            return
        if self._keeps_point(piece) or self._is_one_of(piece, self.endings):
            yield piece
            return
        first, last = 0, len(piece)
        while first < last and piece[first] in _OPENING and not self._is_word(piece[first:]):
            first += 1
        while last > first and not self._is_word(piece[first:last]):
            last -= 1
        yield from _runs(piece[:first])
        yield from self._parts(piece[first:last])
        yield from _runs(piece[last:])

    def _is_word(self, text: str) -> bool:
        """Whether nothing is to be taken off: at the left for a text up to the end, at the right for any."""
        if text[-1] == _POINT:
            return self._keeps_point(text)
        if self._is_one_of(text, self.endings) or self._is_one_of(text, self.beginnings) or _WHOLE.fullmatch(text):
            return True
        return text[-1] not in _CLOSING and text[0] not in _OPENING

    def _keeps_point(self, text: str) -> bool:
        if text[-1] != _POINT:
            return False
        return _INITIALS.match(text) is not None or self._is_one_of(text, self.abbreviation_set)

    def _is_one_of(self, text: str, words: Collection[str]) -> bool:
        """Whether a text is listed; none as long as a page is copied to find that out."""
        return len(text) <= self._longest and _plain(text) in words

    @cached_property
    def _longest(self) -> int:
        """Characters of the longest listed word."""
        return max(map(len, (*self.abbreviations, *self.endings, *self.beginnings)), default=0)

    @cached_property
    def abbreviation_set(self) -> frozenset[str]:
        """The abbreviations, for looking up."""
        return frozenset(self.abbreviations)

    def _parts(self, word: str) -> Iterator[str]:
        """A word without signs around it, cut at inner signs, clitics and hyphens."""
        if not word:
            return
        if _WHOLE.fullmatch(word) or _NUMBER.match(word):
            yield word
            return
        for part in filter(None, _INNER.split(word)):
            for bit in filter(None, _HYPHEN.split(part)) if self.split_hyphens else (part,):
                yield from self._clitics(bit)

    def _clitics(self, word: str) -> Iterator[str]:
        """A word and the clitics before and behind it, of which there may be any number."""
        first, last, behind = 0, len(word), list[str]()
        while True:
            more = last - first
            begins = (len(each) for each in self.beginnings if more > len(each) and _has(word, first, each))
            ends = (len(each) for each in self.endings if more > len(each) and _has(word, last - len(each), each))
            if size := next(begins, 0):
                yield word[first : first + size]
                first += size
            elif size := next(ends, 0):
                last -= size
                behind.append(word[last : last + size])
            else:
                break
        rest = word[first:last]
        yield from (rest[:3], rest[3:]) if _plain(rest) in FUSED else (rest,)
        yield from reversed(behind)


WITHIN, AT_EDGE, INSIDE, NEVER = 1, 2, 3, 4
"""What rules say of a place between two characters: that no token ends there, that one does, as signs at the edges
of words are cut off, or because of a sign inside a word; or that none can, as a mark belongs to its letter."""
_JOINERS = "\u200c\u200d\u2060"
"""Invisible characters that join the two around them."""


def ruled_places(text: str) -> bytes:
    """What rules that know no language say of the place behind each character; tokens end before blanks.

    >>> list(ruled_places("(ab)")), list(ruled_places("a/b c"))
    ([2, 1, 2, 2], [3, 3, 2, 1, 2])
    """
    return b"\1".join(map(_ruled_piece, text.split(" ")))


@lru_cache(REMEMBERED)
def _ruled_piece(piece: str) -> bytes:
    lengths = [len(token) for token in _SIGNS_ALONE.cut(piece)] if piece else []
    ends = set(accumulate(lengths))
    inside = [place for place, sign in enumerate(piece) if sign.isalnum()] or [0]
    said = bytearray()
    for end, sign in enumerate(piece, 1):
        after = piece[end : end + 1]
        if sign in _JOINERS or (after and unicodedata.category(after) in ("Mn", "Mc", "Me", "Cf")):
            said.append(NEVER)
        elif end not in ends:
            said.append(WITHIN)
        else:
            said.append(INSIDE if inside[0] < end <= inside[-1] else AT_EDGE)
    return bytes(said)


def words_of(sentence: SentenceLike) -> Sentence:
    """A sentence for a grammar or a tagger: a string is text, split by the rules for English; lists are words.

    >>> words_of("It's old.").words, words_of(["It's", "old."]).words
    (('It', "'s", 'old', '.'), ("It's", 'old.'))
    """
    return _RULES.sentence(sentence) if isinstance(sentence, str) else Sentence.of(sentence)


_RULES = Tokeniser()
_SIGNS_ALONE = Tokeniser((), (), ())


def _runs(signs: str) -> Iterator[str]:
    """Signs one by one, runs of points, dashes and the like together."""
    return (match.group() for match in _RUN.finditer(signs))


def _has(word: str, at: int, plain: str) -> bool:
    """Whether a word has a clitic at a place, written in whatever way."""
    return _plain(word[at : at + len(plain)]) == plain


def _plain(word: str) -> str:
    return word.lower().replace("’", "'")


def _begins_small(piece: str) -> bool:
    letter = next((sign for sign in piece if sign.isalnum()), "")
    return letter.islower()


def read_raw(
    paths: PathLike | Iterable[PathLike], rules: Cutter, *, bad: list[DataError] | None = None
) -> Iterator[Sentence]:
    """Stream the sentences of raw text files; `bad` is as for `read_sentences`."""
    for path in expand(paths, TEXT_SUFFIXES):
        for _, line in unwrapped(read_lines(path, bad=bad)):
            yield from rules.sentences(line)


def joint_of(lines: Iterable[str]) -> str | None:
    """What joins the lines of a wrapped text: a space, or nothing if it has no spaces; None for other texts.

    >>> text = "The quick brown fox jumps over the lazy dog and runs away into the dark wood behind the hill. " * 5
    >>> import textwrap
    >>> joint_of(textwrap.wrap(text, 60)), joint_of(text.split(". "))
    (' ', None)
    """
    held = [line.strip() for line in lines]
    followed = {(line, after) for line, after in pairwise(held) if line and after}
    if len(followed) < FEWEST or sum(_ends_sentence(line) for line, _ in followed) > ENDING * len(followed):
        return None
    width = max((len(line) for line in held if " " in line), default=0)
    full = sum(len(line) + 1 + len(after.split()[0]) > width for line, after in followed)
    if width in WIDTHS and full >= FULL * len(followed):
        return " "
    width = max(len(line) for line, _ in followed)
    equal = sum(len(line) == width for line, _ in followed)
    return "" if width in WIDTHS and equal >= EQUAL * len(followed) else None


def unwrapped(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The paragraphs of numbered lines, each with the number of its first line; lines of wrapped text are joined.

    >>> list(unwrapped([(1, "One line."), (2, "Another."), (3, ""), (4, "A third.")]))
    [(1, 'One line.'), (2, 'Another.'), (4, 'A third.')]
    """
    stream = iter(lines)
    first = list(islice(stream, JUDGED))
    joint = joint_of(line for _, line in first)
    parts: list[str] = []
    begin = 0
    for number, line in chain(first, stream):
        if part := line.strip():
            begin = begin if parts else number
            parts.append(part)
        if parts and (joint is None or not part or (len(parts) >= LONG and _ends_sentence(part))):
            yield begin, (joint or "").join(parts)
            parts = []
    if parts:
        yield begin, (joint or "").join(parts)


def _ends_sentence(line: str) -> bool:
    return line.rstrip(_CLOSING_QUOTES).endswith(_FULL_STOPS)
