"""What a model, a parser's backend, a decoder, a scorer of trees and an inspection must provide.

These are the contracts between a family and everything above it: the registry (kind.py) says which kind has
which of them, and nothing else is required of a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, runtime_checkable

from latentgram.arrays import Floats, Ints
from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.files import PathLike
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.data.tree import Tree
from latentgram.kinds.marginals import Marginals
from latentgram.kinds.reading import Reading
from latentgram.kinds.result import Parse, TagPosteriors
from latentgram.kinds.tagging import Tagging
from latentgram.parallel import Engine

if TYPE_CHECKING:
    from latentgram.evaluate.score import Score
    from latentgram.kinds.looks import Look, Request, Shown, SymbolFacts

AnyTree = Tree | DependencyTree
Known = Sequence[Constraints | None]
"""What is known of each of some sentences."""
Item = TypeVar("Item", contravariant=True)


@runtime_checkable
class Summarising(Protocol):
    """What says in one line what it is."""

    def summary(self) -> str:
        """One line about its size."""


@runtime_checkable
class Model(Summarising, Protocol):
    """A frozen bag of arrays that says how it was learned."""

    @property
    def provenance(self) -> Provenance:
        """How it was learned."""


@runtime_checkable
class WordTagger(Model, Protocol):
    """What gives words their tags, for parsers that need some."""

    @property
    def xpos(self) -> Iterable[str]:
        """The fine tags."""

    @property
    def upos(self) -> Iterable[str]:
        """The universal tags."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The names of the tags, the fine ones where there are any."""

    def fill(
        self, sentences: Sequence[Sentence], known: Known
    ) -> tuple[list[Sentence], list[TagPosteriors | None]]:
        """Sentences with tags where they had none, and the confidence of these tags."""


@runtime_checkable
class SentenceTagger(Model, Protocol):
    """A model that tags sentences by itself: what the commands ask of a kind whose row has `tagger`."""

    @property
    def tags(self) -> Iterable[str]:
        """The names of the tags."""

    def tag(self, sentence: SentenceLike, decoder: str = ..., known: Constraints | None = None) -> Tagging:
        """The tags of a sentence: each the most probable (`posterior`), or all together (`viterbi`)."""

    def tag_all(self, sentences: Iterable[SentenceLike], decoder: str = ...) -> Iterator[Tagging]:
        """The same of many sentences, lazily."""

    def nbest(self, sentence: SentenceLike, k: int, known: Constraints | None = None) -> list[Tagging]:
        """The k best sequences of tags, best first, or all of them if there are fewer."""

    def sample_tags(
        self, sentence: SentenceLike, samples: int, seed: int = 0, known: Constraints | None = None
    ) -> list[Tagging]:
        """Independent draws from p(tags | words)."""


@runtime_checkable
class Renaming(SentenceTagger, Protocol):
    """A tagger whose tags can be given other names."""

    def renamed(self, names: dict[str, str], /) -> Renaming:
        """The same tagger with other names for its tags; several tags may have the same name."""


@runtime_checkable
class Exportable(Protocol):
    """A model that other programs can read."""

    def to_openfst(self, path: PathLike, /) -> None:
        """Write it in OpenFst's text format."""


@runtime_checkable
class Digested(Protocol):
    """Data that can be told from other data."""

    @property
    def digest(self) -> str:
        """A checksum of all of it."""


@runtime_checkable
class Decoder(Protocol):
    """What turns posteriors into a structure: a frozen dataclass; which of them it takes, a backend says."""

    def __hash__(self) -> int:
        """Decoders are values."""


class Backend(Protocol):
    """What a kind of model that parses must be able to do."""

    def parse(self, sentences: Sequence[Sentence], known: Known | None = None) -> list[Parse]:
        """The best structure of each sentence, of those that obey what is known of it.

        Without constraints it never fails on a sentence; where nothing obeys them it raises `NoParse`.
        """

    def nbest(self, sentence: Sentence, count: int, known: Constraints | None = None) -> list[Parse]:
        """The best structures, best first."""

    def sample(self, sentence: Sentence, count: int, seed: int, known: Constraints | None = None) -> list[Parse]:
        """Independent draws from the posterior."""

    def score(self, tree: AnyTree) -> Parse:
        """A given structure with its probabilities."""

    def marginals(self, sentence: Sentence, known: Constraints | None = None) -> Marginals:
        """The posteriors of everything that may be in a structure."""

    def compare(self, gold: Sequence[AnyTree], parses: Sequence[Parse]) -> Score:
        """The score of parses against a treebank."""

    @property
    def tags(self) -> frozenset[str]:
        """The tags that it knows; words given with others are counted by the command line."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of phrases, or the names of relations, that it can give."""


@runtime_checkable
class Explaining(Protocol):
    """A backend that can say why a tree has the probability 0."""

    def impossible_part(self, tree: AnyTree, /) -> int | None:
        """The node in preorder, or the word, from 0, without which it might have one; None if that is not known.

        It is asked of trees of probability 0 only.
        """


@runtime_checkable
class Naming(Protocol):
    """A backend for dependency trees that can name the arcs of given ones."""

    def name_arcs(self, sentences: Sequence[Sentence], heads: Sequence[Sequence[int]]) -> list[tuple[str, ...]]:
        """The relations of all words, given their heads as a `DependencyTree` has them."""


@runtime_checkable
class Weighing(Protocol):
    """A backend for dependency trees that knows how probable each relation of an arc is."""

    def relation_posteriors(self, sentence: Sentence, heads: Sequence[int]) -> list[dict[str, float]]:
        """p(relation | head) of the probable relations of each word, given the heads of all."""


class Scorer(Model, Protocol[Item]):
    """A model that gives sentences, or trees, a probability and does not parse."""

    def logprob(self, item: Item, /) -> float:
        """log p of a sentence or a tree."""


@runtime_checkable
class Distribution(Protocol):
    """A model of sentences, or of trees with their words, that knows whether it is a distribution."""

    @property
    def is_distribution(self) -> bool:
        """Whether the probabilities of all there is sum to at most one."""


class Reader(Protocol):
    """What says of sentences, word by word, how much each word surprises."""

    @property
    def exact(self) -> bool:
        """Whether probabilities are exact, and not lower bounds."""

    def read(self, sentence: Sentence) -> Reading:
        """All that is said of a sentence."""

    def read_many(self, sentences: Iterable[Sentence], *, engine: Engine | None = None) -> Iterator[Reading]:
        """The same of sentences one after the other, in their order."""


@runtime_checkable
class Sampler(Protocol):
    """A model of sentences from which they can be drawn."""

    def sample(self, number: int, seed: int = 0, /) -> Iterable[Sentence | tuple[str, ...]]:
        """So many sentences."""


@runtime_checkable
class Rater(Protocol):
    """Rates the trees of an n-best list."""

    RATINGS: ClassVar[tuple[str, ...]]
    """The names of its ratings; none for a single one, which has the name of the rater."""

    def rate(self, sentence: Sentence, heads: Ints) -> Floats:
        """[k, ratings] log-probabilities of k trees given by their heads [k, N], from 1, 0 for the root."""


class Inspection(Protocol):
    """What there is to see inside a model: for `latentgram show` and the page."""

    def symbols(self) -> list[SymbolFacts]:
        """The symbols, the most frequent first."""

    def look(self, symbol: str, direction: str, clusters: int) -> Look:
        """The hidden states of a symbol, or of a head and direction."""

    def show(self, request: Request) -> Shown:
        """An answer in text, or as SVG where that is asked for."""
