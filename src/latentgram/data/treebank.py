"""`Treebank`: many trees or sentences of one kind, read from files, selected, divided and counted.

A constituency treebank contains a `Forest` (12 bytes per node) and builds a `Tree` on demand; a dependency
treebank contains `DependencyTree`s and, on demand, their heads as flat arrays; a tagged one `Sentence`s. Selecting
and dividing keep the order of the files, so that parts can be compared with them. A `TreebankStream` is a treebank
that is never in memory as a whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, TypedDict, TypeVar, Unpack, cast, overload

import numpy as np

from latentgram.arrays import Integers, Ints
from latentgram.data import brackets, formats
from latentgram.data.cleaning import Cleaning, clean
from latentgram.data.conllu import to_conllu, write_conllu
from latentgram.data.dependencies import DependencyArrays, DependencyTree, Lifting, projectivise
from latentgram.data.files import STANDARD, PathLike
from latentgram.data.forest import Forest
from latentgram.data.formats import TreeOrSentence
from latentgram.data.sentence import Sentence
from latentgram.data.tagged import to_tagged, write_sentences
from latentgram.data.tokenise import Cutter, read_raw
from latentgram.data.tree import Tree
from latentgram.errors import DataError, SettingError

Item = TypeVar("Item", bound=TreeOrSentence, covariant=True)
Paths = PathLike | Iterable[PathLike]

SHARD = 4096
"""Items of a part that is worked on at a time."""
CONSTITUENCY, DEPENDENCY, TAGGED = "constituency", "dependency", "tagged"
_KIND_OF_ITEM: dict[type, str] = {Tree: CONSTITUENCY, DependencyTree: DEPENDENCY, Sentence: TAGGED}
_KIND_OF_FORMAT = {formats.CONLLU: DEPENDENCY, formats.TAGGED: TAGGED, formats.TEXT: TAGGED}


@dataclass(frozen=True)
class Lengths:
    """How long the sentences of a treebank are; it prints itself.

    >>> print(Lengths.of(np.array([3, 5, 10, 50])))
    4 sentences, 68 words, 3 to 50 words per sentence (mean 17.0, median 7.5), 3 of up to 40 words
    """

    sentences: int
    words: int
    shortest: int
    longest: int
    mean: float
    median: float
    up_to_40: int

    @classmethod
    def of(cls, lengths: Ints) -> Lengths:
        """Summarise the numbers of words."""
        if not len(lengths):
            return cls(0, 0, 0, 0, 0.0, 0.0, 0)
        return cls(
            len(lengths),
            int(lengths.sum()),
            int(lengths.min()),
            int(lengths.max()),
            float(lengths.mean()),
            float(np.median(lengths)),
            int((lengths <= 40).sum()),
        )

    def __str__(self) -> str:
        return (
            f"{self.sentences} sentences, {self.words} words, "
            f"{self.shortest} to {self.longest} words per sentence "
            f"(mean {self.mean:.1f}, median {self.median:.1f}), {self.up_to_40} of up to 40 words"
        )


class Reading(TypedDict, total=False):
    """How sentences are read."""

    bad: list[DataError] | None
    tag_column: int
    tokeniser: Cutter | None


@dataclass(frozen=True, eq=False, repr=False)
class Treebank(Sequence[Item], Generic[Item]):
    """Trees or sentences of one kind (constituency, dependency or tagged).

    `skipped` are the errors of those left out on reading.

    >>> bank = Treebank.of([Tree("S", (Tree("NN", word=w), Tree("VB", word="go"))) for w in "abcd"])
    >>> bank, str(bank[1]), len(bank[1:])
    (Treebank(4 constituency trees, 8 words), '(S (NN b) (VB go))', 3)
    >>> train, test = bank.split((3, 1), seed=0)
    >>> len(train), len(test)
    (3, 1)
    """

    items: Forest | tuple[Item, ...]
    kind: str
    skipped: tuple[DataError, ...] = ()

    @classmethod
    def of(cls, items: Iterable[Item] | Forest) -> Treebank[Item]:
        """A treebank of trees or sentences that are all of one kind, or of a forest."""
        if isinstance(items, Forest):
            return cls(items, CONSTITUENCY)
        held = tuple(items)
        if not held:
            raise DataError("there are no trees or sentences to make a treebank from")
        kinds = {_KIND_OF_ITEM.get(type(item), type(item).__name__) for item in held}
        if len(kinds) != 1 or not kinds <= {*_KIND_OF_ITEM.values()}:
            raise DataError(
                f"a treebank contains trees or sentences of one kind, not {' and '.join(sorted(kinds))}"
            )
        kind = kinds.pop()
        return cls(Forest.of(cast(tuple[Tree, ...], held)) if kind == CONSTITUENCY else held, kind)

    @overload
    @classmethod
    def read(cls, paths: Paths, format: Literal["brackets"], *, skip_bad: bool = ...) -> Treebank[Tree]: ...
    @overload
    @classmethod
    def read(
        cls, paths: Paths, format: Literal["conllu"], *, skip_bad: bool = ...
    ) -> Treebank[DependencyTree]: ...
    @overload
    @classmethod
    def read(
        cls, paths: Paths, format: str | None = None, *, skip_bad: bool = ..., tag_column: int = ...
    ) -> Treebank[Any]: ...
    @classmethod
    def read(
        cls, paths: Paths, format: str | None = None, *, skip_bad: bool = False, tag_column: int = 1
    ) -> Treebank[TreeOrSentence]:
        """Read files or folders; the format (brackets, conllu, tagged, text) is guessed from name or content.

        With `skip_bad`, malformed sentences are left out and their errors are kept in `skipped`; otherwise the
        first one raises.
        `tag_column` is for tagged text.
        """
        files, kind = formats.find_files(paths, format)
        bad: list[DataError] | None = [] if skip_bad else None
        if kind == formats.BRACKETS:
            return Treebank(brackets.read_brackets(files, bad=bad), CONSTITUENCY, tuple(bad or ()))
        items = tuple(formats.stream_items(files, kind, bad, tag_column))
        return Treebank(items, _KIND_OF_FORMAT[kind], tuple(bad or ()))

    @classmethod
    def stream(
        cls, paths: Paths, format: str | None = None, *, bad: list[DataError] | None = None, tag_column: int = 1
    ) -> Iterator[TreeOrSentence]:
        """Stream trees or sentences, for files that do not fit into memory.

        Malformed ones raise an error; if there is a list `bad`, they are left out and their errors appended to it.
        """
        files, kind = formats.find_files(paths, format)
        return formats.stream_items(files, kind, bad, tag_column)

    @staticmethod
    def stream_sentences(
        paths: Paths, format: str | None = None, **reading: Unpack[Reading]
    ) -> Iterator[Sentence]:
        """Stream sentences with their tags, as input for a parser: the heads in CoNLL-U are ignored.

        Text has one sentence per line, split at spaces, or is split by a `tokeniser`; `bad` and
        `tag_column` are as for `stream`.
        """
        return (item.sentence for _, item in Treebank.stream_unparsed(paths, format, **reading))

    @staticmethod
    def stream_unparsed(
        paths: Paths, format: str | None = None, **reading: Unpack[Reading]
    ) -> Iterator[tuple[str, TreeOrSentence]]:
        """The items behind `stream_sentences`, each with the name of its file."""
        files, kind = formats.find_files(paths, format)
        bad, tokeniser = reading.get("bad"), reading.get("tokeniser")
        if kind == formats.TEXT and tokeniser is not None:
            return ((file, item) for file in files for item in read_raw([file], tokeniser, bad=bad))
        column = reading.get("tag_column", 1)
        return (
            (file, item) for file in files for item in formats.stream_items([file], kind, bad, column, heads=False)
        )

    def clean(self) -> tuple[Treebank[Tree], Cleaning]:
        """The constituency trees without empty elements, function tags and indices, and how many were removed.

        >>> tree = Tree("NP-SBJ", (Tree("NN", word="cats"), Tree("-NONE-", word="*T*-1")))
        >>> print(Treebank.of([tree]).clean()[0][0])
        (NP (NN cats))
        """
        forest, cleaning = clean(self.forest)
        return Treebank(forest, CONSTITUENCY, self.skipped), cleaning

    def write(self, path: PathLike) -> None:
        """Write brackets, CoNLL-U or tagged text, compressed if the file name says so; atomic."""
        if isinstance(self.items, Forest):
            brackets.write_brackets(self.items, path)
        elif self.kind == DEPENDENCY:
            write_conllu(path, self.dependency_trees)
        else:
            write_sentences(path, cast(tuple[Sentence, ...], self.items))

    @property
    def forest(self) -> Forest:
        """The constituency trees as flat arrays."""
        if not isinstance(self.items, Forest):
            raise DataError(f"a constituency treebank is needed, this one is {self.kind}")
        return self.items

    @property
    def dependency_trees(self) -> tuple[DependencyTree, ...]:
        """The dependency trees."""
        if self.kind != DEPENDENCY:
            raise DataError(f"a dependency treebank is needed, this one is {self.kind}")
        return cast(tuple[DependencyTree, ...], self.items)

    @cached_property
    def arrays(self) -> DependencyArrays:
        """The heads of the dependency trees as flat arrays."""
        return DependencyArrays.of(self.dependency_trees)

    def projectivise(self) -> tuple[Treebank[DependencyTree], Lifting]:
        """The dependency trees made projective, and how much that changed."""
        if self.arrays.projective.all():
            words = len(self.arrays.heads)
            return cast(Treebank[DependencyTree], self), Lifting(sentences=len(self), words=words)
        trees, report = projectivise(self.dependency_trees)
        return Treebank(tuple(trees), DEPENDENCY, self.skipped), report

    def sentences(self) -> list[Sentence]:
        """The words and tags without the trees."""
        return self.items.sentences() if isinstance(self.items, Forest) else [item.sentence for item in self]

    @cached_property
    def lengths(self) -> Ints:
        """The number of words of each sentence."""
        if isinstance(self.items, Forest):
            return self.items.lengths
        return np.array([len(item) for item in self.items], np.int64)

    @property
    def summary(self) -> Lengths:
        """Sentences, words and lengths."""
        return Lengths.of(self.lengths)

    @cached_property
    def digest(self) -> str:
        """A hash of the content: equal for equal trees in equal order, on every machine."""
        if isinstance(self.items, Forest):
            return self.items.digest
        content = hashlib.sha256()
        for item in self:
            content.update(content_of(item))
        return content.hexdigest()

    def select(self, numbers: Iterable[int] | Integers) -> Treebank[Item]:
        """The items with these numbers, in this order."""
        if isinstance(self.items, Forest):
            return Treebank(self.items.select(numbers), self.kind)
        return Treebank(tuple(self.items[number] for number in numbers), self.kind)

    def where(self, predicate: Callable[[Item], bool]) -> Treebank[Item]:
        """The items for which the predicate holds."""
        return self.select([number for number, item in enumerate(self) if predicate(item)])

    def up_to(self, words: int) -> Treebank[Item]:
        """The items with at most this many words."""
        return self.select(np.flatnonzero(self.lengths <= words))

    def sample(self, size: int, seed: int) -> Treebank[Item]:
        """A sample of items without replacement, in the order of the treebank."""
        if not 0 <= size <= len(self):
            raise SettingError(f"{size} items cannot be sampled from a treebank of {len(self)}")
        return self.select(np.sort(np.random.default_rng(seed).permutation(len(self))[:size]))

    def split(
        self, ratios: Sequence[float] = (0.8, 0.1, 0.1), seed: int | None = None
    ) -> tuple[Treebank[Item], ...]:
        """Split into parts in these ratios (train, dev, test): at random with a seed, in order without.

        Every item is in exactly one part.
        """
        shares = np.asarray(ratios, float)
        if not len(shares) or not np.isfinite(shares).all() or (shares <= 0).any():
            raise SettingError(f"the ratios of a split must be positive numbers, not {tuple(ratios)}")
        bounds = np.round(np.cumsum(shares) / shares.sum() * len(self)).astype(np.int64)
        order = np.arange(len(self)) if seed is None else np.random.default_rng(seed).permutation(len(self))
        return tuple(self.select(np.sort(part)) for part in np.split(order, bounds[:-1]))

    def shards(self, size: int = SHARD) -> Iterator[Treebank[Item]]:
        """Consecutive parts of this many items; the last may be smaller."""
        return (self[first : first + size] for first in range(0, len(self), size))

    def compact(self) -> Treebank[Item]:
        """The same trees without unused symbols, so that a part of a treebank is small when it is sent."""
        return Treebank(self.items.compact(), self.kind) if isinstance(self.items, Forest) else self

    def __add__(self, other: Treebank[Item]) -> Treebank[Item]:
        if self.kind != other.kind:
            raise DataError(f"a {self.kind} and a {other.kind} treebank cannot be joined")
        skipped = self.skipped + other.skipped
        if isinstance(self.items, Forest) or isinstance(other.items, Forest):
            return Treebank(Forest.concatenate([self.forest, other.forest]), self.kind, skipped)
        return Treebank(self.items + other.items, self.kind, skipped)

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, number: int) -> Item: ...
    @overload
    def __getitem__(self, number: slice) -> Treebank[Item]: ...
    def __getitem__(self, number: int | slice) -> Item | Treebank[Item]:
        if isinstance(number, slice):
            return self.select(range(len(self))[number])
        return cast(Item, self.items[number])

    def __iter__(self) -> Iterator[Item]:
        return cast(Iterator[Item], iter(self.items))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Treebank) and self.kind == other.kind and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        noun = "sentences" if self.kind == TAGGED else "trees"
        return f"Treebank({len(self)} {self.kind} {noun}, {int(self.lengths.sum())} words)"


AnyTreebank = Treebank[TreeOrSentence]
"""A treebank of any kind; one of a known kind can stand for it."""


class TreebankStream:
    """The trees of files or folders, which stay on disk and are read in parts in every pass of a learner.

    A learner that sums over sentences processes one part after the other and keeps only numbers, so that one part
    is in memory at a time. `Treebank` has the same method `shards`, so learners accept both.

    `len` and `digest` are known after the first pass; before that, they cost an additional pass.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "big.conllu")
    >>> import latentgram as lg
    >>> lg.demo_dependencies(30, seed=0).write(path)
    >>> stream = TreebankStream(path)
    >>> [len(part) for part in stream.shards(12)], len(stream)
    ([12, 12, 6], 30)
    >>> lg.fit(lg.SHAG, stream, by=lg.Counting()).provenance.data_size
    30
    """

    def __init__(self, paths: Paths, format: str | None = None) -> None:
        self._files, self._format = formats.find_files(paths, format)
        if STANDARD in self._files:
            raise DataError("standard input can be read only once: a stream of trees needs files")
        self._known: tuple[int, str] | None = None

    def shards(self, size: int = SHARD) -> Iterator[AnyTreebank]:
        """All trees in parts of this size, read again from disk."""
        content, number, held = hashlib.sha256(), 0, []
        for item in Treebank.stream(self._files, self._format):
            content.update(content_of(item))
            number += 1
            held.append(item)
            if len(held) == size:
                yield Treebank.of(held)
                held = []
        if held:
            yield Treebank.of(held)
        self._known = number, content.hexdigest()

    def _gone_through(self) -> tuple[int, str]:
        if self._known is None:
            for _ in self.shards():
                pass
        assert self._known is not None
        return self._known

    @property
    def kind(self) -> str:
        """The kind of the first tree."""
        return next((part.kind for part in self.shards(1)), "")

    def __len__(self) -> int:
        return self._gone_through()[0]

    @property
    def digest(self) -> str:
        """A name of the content; for dependency trees that of the `Treebank` with the same trees."""
        return self._gone_through()[1]

    def __repr__(self) -> str:
        return f"TreebankStream({len(self._files)} files, {self._format})"


def content_of(item: TreeOrSentence) -> bytes:
    """An item as it goes into a digest."""
    if isinstance(item, Sentence):
        written = to_tagged(item)
    else:
        written = to_conllu(item) if isinstance(item, DependencyTree) else f"{item}\n"
    return written.encode("utf-8", "surrogatepass")
