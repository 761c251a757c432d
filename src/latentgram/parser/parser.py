"""`Parser`: a model and a decoder, behind one interface for every kind of model.

What a parser does with a sentence depends on the model, and is done by a *backend*, found by the model's row in
the registry. Backends work on batches of sentences, so that what is vectorised over a batch (making trees out
of arrays) is, and keep no state but indices made from the model.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING, cast, overload

from latentgram.data.cleaning import question_of
from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.provenance import Summarised
from latentgram.data.sentence import Sentence, SentenceLike
from latentgram.data.surface import NO_SPACE
from latentgram.data.tokenise import Cutter, Tokeniser
from latentgram.data.tree import Tree
from latentgram.data.treebank import CONSTITUENCY, DEPENDENCY, Treebank
from latentgram.errors import MOST_LISTED, DataError, SettingError, UnsupportedPair, a_or_an, check_number
from latentgram.kinds.kind import PHRASES, Kind, find_kind, kinds, named
from latentgram.kinds.marginals import Marginals
from latentgram.kinds.protocols import AnyTree, Backend, Decoder, Known, Model, Naming, WordTagger
from latentgram.kinds.result import NBest, Parse, TagPosteriors
from latentgram.lpcfg.parse.pruning import Pruning
from latentgram.parallel import Engine, engine_for, map_reduce, shards
from latentgram.parser.curves import Calibrator

if TYPE_CHECKING:
    from latentgram.evaluate.attachment import AttachmentScore
    from latentgram.evaluate.bracketing import BracketingScore
    from latentgram.evaluate.score import Score

BATCH = 64
"""Sentences that are parsed together."""
MOST_SEARCHED = 16
"""How many times as many structures as asked for are searched for possible ones."""


@dataclass(frozen=True, repr=False)
class Parser(Summarised):
    """A parser: a model, a decoder and, optionally, a tagger, a tokeniser and a calibration.

    `decoder` is a decoder such as `lg.Viterbi()`, or None for the default of the model. `calibrator` maps
    posteriors to frequencies of correct answers; see `calibrate`. `tagger` tags sentences without tags, and
    `tokeniser` splits raw text into words (`sentences_of`). Every method that parses accepts constraints, as
    `Constraints` or as keywords: `parser.parse(sentence, spans=[(0, 2, "NP")])`.

    >>> import latentgram as lg
    >>> trees = lg.Treebank.of([lg.Tree("S", (lg.Tree("NN", word="Cats"), lg.Tree("VB", word="sleep")))])
    >>> parser = lg.Parser(lg.fit(lg.LPCFG, trees, by=lg.Counting()))
    >>> print(parser.parse("Dogs sleep").tree)
    (S (NN Dogs) (VB sleep))

    Constituency grammars can prune the chart; `pruning` holds the thresholds. By default, grammars with hidden
    states prune, and plain PCFGs do not.

    >>> grammar = lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Spectral(states=2))
    >>> parser = lg.Parser(grammar, pruning=lg.Pruning(threshold=1e-4))

    A sentence without a tree after `limit_seconds` gets a coarse one, which is marked.

    >>> lg.Parser(grammar, limit_seconds=1e-9).parse("the teacher sleeps .").coarse
    True
    """

    model: Model
    decoder: Decoder | None = None
    calibrator: Calibrator | None = None
    tagger: WordTagger | None = None
    tokeniser: Tokeniser | None = None
    pruning: Pruning | None = None
    limit_seconds: float | None = None

    def __post_init__(self) -> None:
        kind = self.kind
        if isinstance(self.decoder, str):
            raise SettingError(f"the decoder must be an object such as lg.Goodman(), got {self.decoder!r}")
        if self.pruning is None and self.limit_seconds is None:
            return
        if not isinstance(self.pruning, Pruning | None):
            raise SettingError(f"pruning must be a Pruning, got {a_or_an(type(self.pruning).__name__)}")
        if not kind.prunes:
            name = "a time limit" if self.pruning is None else "pruning"
            raise SettingError(f"{name} applies only to constituency grammars")
        _ = self.backend  # which knows what the values may be

    @cached_property
    def kind(self) -> Kind:
        """The row of the model in the registry."""
        kind = find_kind(self.model)
        if kind is None or not kind.parser:
            parsed = ", ".join(each.name for each in kinds().values() if each.parser)
            raise UnsupportedPair(
                f"there is no parser for {a_or_an(type(self.model).__name__)}; there are parsers for {parsed}"
            )
        return kind

    @cached_property
    def backend(self) -> Backend:
        """The engine that parses with the model."""
        made = cast("Callable[..., Backend]", named(self.kind.parser))
        return made(self.model, self.decoder, *((self.pruning, self.limit_seconds) if self.kind.prunes else ()))

    @cached_property
    def exact(self) -> Parser:
        """The same parser without pruning: p(sentence) itself, and posteriors over all trees, which may take long.

        >>> import latentgram as lg
        >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Clustering(states=2)))
        >>> bound, whole = (each.parse("the teacher sleeps .") for each in (parser, parser.exact))
        >>> bound.pruned, whole.pruned, bound.logprob <= whole.logprob
        (True, False, True)
        """
        return dataclasses.replace(self, pruning=Pruning.none()) if self.kind.prunes else self

    def __getstate__(self) -> dict[str, object]:
        """Travel to a worker without the backend's indices."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def summary(self) -> str:
        """One line on the model."""
        return self.model.summary()

    def parse(self, sentence: SentenceLike, known: Constraints | None = None, **parts: object) -> Parse:
        """Parse one sentence: text, a list of words, or (word, tag) pairs.

        Text is split into words as in the training treebank, but not into sentences; for that, use
        `sentences_of`.
        """
        words = self._sentence(sentence)
        return self.parse_batch([(words, _known(words, known, parts))])[0]

    def sentences_of(self, text: str) -> Iterator[Sentence]:
        """The sentences of raw text, split into words as in the training treebank."""
        return self.cutter.sentences(text)

    @property
    def cutter(self) -> Cutter:
        """What splits text: the tokeniser, the model's own segmenter, or the rules for English."""
        reference = self.kind.segmenter
        if self.tokeniser is None and reference:
            return cast("Callable[[Model], Cutter]", named(reference))(self.model)
        return self.tokeniser or Tokeniser()

    @property
    def own_tagger(self) -> WordTagger | None:
        """The tagger for words without tags: that of the parser, or the one inside the model."""
        reference = self.kind.own_tagger
        if self.tagger is None and reference:
            return cast("Callable[[Model], WordTagger]", named(reference))(self.model)
        return self.tagger

    def parse_batch(self, batch: Sequence[tuple[Sentence, Constraints | None]]) -> list[Parse]:
        """Parse sentences together, each with its constraints."""
        known = [_known(sentence, told, {}) for sentence, told in batch]
        sentences, sure = self._tagged([sentence for sentence, _ in batch], known)
        return self._finished(self.backend.parse(sentences, known), sure, known)

    def _tagged(
        self, sentences: Sequence[Sentence], known: Known
    ) -> tuple[list[Sentence], list[TagPosteriors | None]]:
        """Sentences with the tagger's tags where they had none, and how sure it was of them."""
        if self.tagger is None:
            return list(sentences), [None] * len(sentences)
        return self.tagger.fill(sentences, known)

    def _asked(
        self, sentence: SentenceLike, known: Constraints | None, parts: dict[str, object]
    ) -> tuple[Sentence, TagPosteriors | None, Constraints | None]:
        """One sentence with tags, the confidence of these tags, and its constraints."""
        words = self._sentence(sentence)
        told = _known(words, known, parts)
        (tagged,), (sure,) = self._tagged([words], [told])
        return tagged, sure, told

    def _listed(self, parses: list[Parse], sure: TagPosteriors | None, told: Constraints | None) -> NBest:
        """All parses of one sentence."""
        return NBest(self._finished(parses, [sure] * len(parses), [told] * len(parses)))

    def _finished(self, parses: list[Parse], sure: Sequence[TagPosteriors | None], known: Known) -> list[Parse]:
        """Parses with calibrated posteriors, those of the tags, and what is known of blanks."""
        finished = []
        for parse, confidence, told in zip(parses, sure, known, strict=True):
            parse = self._calibrated(parse if confidence is None else parse.tagged(confidence), told)
            if parse.sentence.space_after is not None and isinstance(parse.tree, DependencyTree):
                parse = dataclasses.replace(parse, tree=as_written(parse.tree, parse.sentence))
            finished.append(parse)
        return finished

    def parse_many(
        self,
        sentences: Iterable[SentenceLike],
        known: Iterable[Constraints | None] = (),
        *,
        n_jobs: int = 1,
        engine: Engine | None = None,
    ) -> Iterator[Parse]:
        """Parse sentences as a stream, in order; only a few batches are in memory.

        `known` has the constraints of the sentences; if it is shorter, the remaining sentences have none.
        """
        asked = zip(map(self._sentence, sentences), chain(known, repeat(None)), strict=False)
        for parses in (engine or engine_for(n_jobs)).map(_BatchParser(self), shards(asked, BATCH)):
            yield from parses

    def nbest(
        self, sentence: SentenceLike, count: int, known: Constraints | None = None, **parts: object
    ) -> NBest:
        """The `count` best structures, best first, or all of them if there are fewer.

        Structures of probability 0, which can be put together of parts that are possible, are left out, unless
        there are no others; where they are many, the list may be shorter than asked for.
        """
        check_number("parses", count, MOST_LISTED)
        tagged, sure, told = self._asked(sentence, known, parts)
        asked = count
        while True:
            parses = self.backend.nbest(tagged, asked, told)
            possible = [parse for parse in parses if parse.tree_logprob != -math.inf]
            if len(possible) >= count or len(parses) < asked or asked >= MOST_SEARCHED * count:
                return self._listed((possible or parses)[:count], sure, told)
            asked *= 2

    def sample(
        self, sentence: SentenceLike, count: int, seed: int = 0, known: Constraints | None = None, **parts: object
    ) -> NBest:
        """`count` independent samples from the posterior over structures."""
        check_number("samples", count, MOST_LISTED)
        tagged, sure, told = self._asked(sentence, known, parts)
        return self._listed(self.backend.sample(tagged, count, seed, told), sure, told)

    def diverse(
        self,
        sentence: SentenceLike,
        count: int,
        draws: int = 100,
        seed: int = 0,
        known: Constraints | None = None,
        **parts: object,
    ) -> NBest:
        """At most `count` distinct structures among `draws` samples, the most frequent first."""
        check_number("different structures", count, MOST_LISTED)
        drawn = self.sample(sentence, draws, seed, known, **parts)
        times = Counter(str(parse.tree) for parse in drawn)
        first = {str(parse.tree): parse for parse in reversed(drawn)}
        return NBest(first[tree] for tree, _ in times.most_common(count))

    def _calibrated(self, parse: Parse, known: Constraints | None = None) -> Parse:
        return parse if self.calibrator is None else self.calibrator.apply(parse, known)

    def score(self, tree: AnyTree) -> Parse:
        """Score a given tree: log p(sentence), log p(tree, sentence) and the posteriors of its parts."""
        return self._calibrated(self.backend.score(tree))

    def marginals(self, sentence: SentenceLike, known: Constraints | None = None, **parts: object) -> Marginals:
        """The posteriors of all spans and tags, or of all arcs, not only of those in the best tree.

        If the parser is calibrated, so are these posteriors, as in its parses; those of alternatives then need not
        sum to one.

        >>> import latentgram as lg
        >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50), by=lg.Counting()))
        >>> marginals = parser.marginals("the teacher sleeps .")
        >>> round(sum(p for word, _, p in marginals.tags if word == 0), 2)
        1.0
        """
        tagged, _, told = self._asked(sentence, known, parts)
        marginals = self.backend.marginals(tagged, told)
        return marginals if self.calibrator is None else self.calibrator.apply_to_marginals(marginals, told)

    def name_arcs(self, trees: Sequence[DependencyTree], *, gold_tags: bool = False) -> list[DependencyTree]:
        """The same trees with the relations that the model predicts for their arcs.

        >>> import latentgram as lg
        >>> trees = lg.demo_dependencies(50, seed=0)
        >>> parser = lg.Parser(lg.fit(lg.ArcFactored, trees, by=lg.MIRA(order=1, passes=2)))
        >>> parser.name_arcs(trees[:1], gold_tags=True)[0].heads == trees[0].heads
        True
        """
        backend = self.backend
        if not isinstance(backend, Naming):
            raise SettingError("only a dependency parser predicts the relations of arcs")
        sentences, _ = self._tagged([self.question(tree, gold_tags) for tree in trees], [None] * len(trees))
        names = backend.name_arcs(sentences, [tree.heads for tree in trees])
        return [tree.replace(deprels=each) for tree, each in zip(trees, names, strict=True)]

    @property
    def tags_itself(self) -> bool:
        """Whether it can parse words without tags, with a tagger or because the grammar predicts tags."""
        return self.tagger is not None or not self.kind.needs_tags

    def question(self, gold: AnyTree, gold_tags: bool) -> Sentence:
        """The words of a gold tree as input for the parser, with its tags if requested or needed."""
        return question_of(gold.sentence, tags=gold_tags or not self.tags_itself)

    def _sentence(self, sentence: SentenceLike) -> Sentence:
        """A string is text, cut into words as `sentences_of` does; anything else is words already."""
        return self.cutter.sentence(sentence) if isinstance(sentence, str) else Sentence.of(sentence)

    def refuse_other_trees(self, kind: str) -> None:
        """Raise an error if treebanks of a kind do not have trees such as those of the parser."""
        wanted = CONSTITUENCY if self.kind.reads == PHRASES else DEPENDENCY
        if kind != wanted:
            raise DataError(f"the parser makes {wanted} trees, but the treebank is {kind}")

    @overload
    def evaluate(
        self, treebank: Treebank[Tree], *, gold_tags: bool = False, n_jobs: int = 1, engine: Engine | None = None
    ) -> BracketingScore: ...
    @overload
    def evaluate(
        self,
        treebank: Treebank[DependencyTree],
        *,
        gold_tags: bool = False,
        n_jobs: int = 1,
        engine: Engine | None = None,
    ) -> AttachmentScore: ...
    def evaluate(
        self,
        treebank: Treebank[Tree] | Treebank[DependencyTree],
        *,
        gold_tags: bool = False,
        n_jobs: int = 1,
        engine: Engine | None = None,
    ) -> Score:
        """Parse the sentences of a treebank, with or without its tags, and score the result against it.

        Workers receive parts of the treebank and return scores, which are added.
        """
        self.refuse_other_trees(treebank.kind)
        parts = (part.compact() for part in treebank.shards(BATCH))
        return map_reduce(_BatchScorer(self, gold_tags), parts, engine or engine_for(n_jobs))


@dataclass(frozen=True)
class _BatchScorer:
    """Parses part of a treebank and scores the result; a class, so that worker processes can be sent it."""

    parser: Parser
    gold_tags: bool

    def __call__(self, part: Sequence[AnyTree]) -> Score:
        batch = [(self.parser.question(tree, self.gold_tags), None) for tree in part]
        return self.parser.backend.compare(part, self.parser.parse_batch(batch))


@dataclass(frozen=True)
class _BatchParser:
    """Parses a batch; a class, so that worker processes can be sent it."""

    parser: Parser

    def __call__(self, batch: list[tuple[Sentence, Constraints | None]]) -> list[Parse]:
        return self.parser.parse_batch(batch)


def as_written(tree: DependencyTree, sentence: Sentence) -> DependencyTree:
    """A tree with its text in a comment, rows of multiword tokens, and marks where no blank follows a token."""
    misc = list(tree.misc)
    rows = list(tree.extra_rows)
    for token in sentence.tokens:
        if token.multiword:
            rows.append(token.row)
        elif not token.space_after:
            marks = misc[token.first]
            misc[token.first] = NO_SPACE if marks == "_" else f"{marks}|{NO_SPACE}"
    begins = sentence.surface is not None and sentence.surface.begins_paragraph
    comments = (*tree.comments, *(("# newpar",) if begins else ()), f"# text = {sentence.text}")
    return tree.replace(misc=tuple(misc), extra_rows=tuple(rows), comments=comments)


def _known(sentence: Sentence, known: Constraints | None, parts: dict[str, object]) -> Constraints | None:
    """The constraints of a sentence, given whole or in parts; None if there are none."""
    if parts and known is not None:
        raise SettingError("give constraints either as a Constraints or as single arguments, not both")
    names = [field.name for field in dataclasses.fields(Constraints)] if parts else []
    unknown = sorted(set(parts) - set(names))
    if unknown:
        raise SettingError(f"there is no constraint {unknown[0]!r}; known: {', '.join(names)}")
    known = Constraints.read(parts) if parts else known
    if not known:
        return None
    known.fit(len(sentence))
    return known


def accuracy_on(
    treebank: Treebank[Tree] | Treebank[DependencyTree],
    *,
    gold_tags: bool = False,
    decoder: Decoder | None = None,
    figure: str = "headline",
) -> Callable[[Model], float]:
    """A function that scores a model by the headline figure (F1, UAS, accuracy) of its parses of a treebank.

    Use it as the argument `dev_score` of `fit`; `figure` names another figure of the score, such as "las".

    >>> import latentgram as lg
    >>> rate = accuracy_on(lg.demo_treebank(10, seed=1))
    >>> 0 < rate(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting())) <= 100
    True
    """

    def rate(model: Model) -> float:
        return float(getattr(Parser(model, decoder).evaluate(treebank, gold_tags=gold_tags), figure))

    return rate
