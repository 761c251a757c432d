"""What all backends for dependency trees share: posteriors of arcs, constraints on arcs, and parses made of heads.

**Constraints.** What is known of a sentence says which heads its words may have. That a span is a constituent says
that one of its words, nobody knows which, has its head outside, and the others inside. That it is none says that
two or more have: let i and j be the first two of them, then the words before j other than i have their heads
inside, and those after j are free. For each choice of the one word, or of the two, it is a matter of allowed arcs,
and the choices exclude each other; so the trees that obey are split into a few *cases*, each with its own mask,
and sums and maxima over trees are those over the cases: w for a constituent of w words, w (w − 1) / 2 for none.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from latentgram.arrays import Flags, Floats, Ints
from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.errors import DataError, NoParse, SettingError
from latentgram.evaluate.attachment import AttachmentScore, score_attachment
from latentgram.kinds.decoders import MBR, Viterbi
from latentgram.kinds.marginals import Marginals, arc_marginals
from latentgram.kinds.protocols import AnyTree, Decoder, Known
from latentgram.kinds.result import Parse
from latentgram.shag.grammar import ArcPosteriors, as_logprob

Heads = Ints
"""The heads of a tree, numbered from 0, −1 being the root's."""

MOST_CASES = 500


class ArcMask(NamedTuple):
    """Which arcs (head, modifier) and which root words are allowed."""

    arcs: Flags
    roots: Flags


class _Choice(NamedTuple):
    """Words of a span that have their heads outside of it, and words that have them inside."""

    span: range
    outward: tuple[int, ...]
    inward: tuple[int, ...]


class NamedArcs(NamedTuple):
    """The relations of a tree's arcs, and the probability of each given its head; empty if there is none."""

    names: tuple[str, ...]
    confidence: Floats


class Sum(NamedTuple):
    """The sum over all trees of a case: posteriors of arcs and roots, log |Z| and the sign of Z."""

    arcs: Floats
    roots: Floats
    log_total: float
    sign: float


def with_tags(known: Constraints, sentence: Sentence) -> Sentence:
    """A sentence with the required tags in place of its own; its tags must not be forbidden."""
    tags = list(sentence.tags or ("_",) * len(sentence))
    for word, tag in known.tags:
        if sentence.upos is None or sentence.upos[word] != tag:
            tags[word] = tag
    for word, tag in known.forbidden_tags:
        if tags[word] == tag:
            raise NoParse(f"the word {sentence.words[word]!r} is tagged {tag}, which is forbidden")
    if not known.tags:
        return sentence
    if sentence.xpos is None and sentence.upos is not None:
        return dataclasses.replace(sentence, upos=tuple(tags))
    return dataclasses.replace(sentence, xpos=tuple(tags))


def arc_masks(known: Constraints, length: int) -> list[ArcMask]:
    """The cases into which constraints split the trees of a sentence; all its words are a constituent anyhow.

    >>> [len(arc_masks(Constraints.of(spans=[(0, end)]), 5)) for end in (2, 4, 5)]
    [2, 4, 1]
    """
    labelled = [span for span in (*known.spans, *known.forbidden_spans) if span[2] is not None]
    if labelled:
        raise DataError(
            f"constituents of a dependency tree have no labels such as {labelled[0][2]}: leave the label out"
        )
    arcs, roots = ~np.eye(length, dtype=bool), np.ones(length, bool)
    for word, head in known.heads:
        arcs[np.arange(length) != head - 1, word - 1] = False
        roots[word - 1] = head == 0
        if head == 0:
            roots[np.arange(length) != word - 1] = False
    for word, head in known.forbidden_heads:
        if head == 0:
            roots[word - 1] = False
        else:
            arcs[head - 1, word - 1] = False
    choices = [_as_constituent(range(first, end)) for first, end, _ in known.spans if 1 < end - first < length]
    choices += [_as_none(range(first, end)) for first, end, _ in known.forbidden_spans]
    if math.prod(map(len, choices)) > MOST_CASES:
        raise DataError(f"these spans can be combined in more than {MOST_CASES} ways; give fewer or shorter ones")
    masks = []
    for chosen in product(*choices):
        case = ArcMask(arcs.copy(), roots.copy())
        for choice in chosen:
            inside, outward, inward = (np.isin(np.arange(length), words) for words in choice)
            case.arcs[np.ix_(~inside, inward)] = False
            case.roots[inward] = False
            case.arcs[np.ix_(inside, outward)] = False
        if (case.arcs.any(0) | case.roots).all():
            masks.append(case)
    return masks


def _as_constituent(span: range) -> list[_Choice]:
    """The ways in which words are a constituent: which of them has its head outside."""
    return [_Choice(span, (top,), tuple(word for word in span if word != top)) for top in span]


def _as_none(span: range) -> list[_Choice]:
    """The ways in which words are no constituent: which are the first two that have their heads outside."""
    return [
        _Choice(span, (first, second), tuple(word for word in span if word < second and word != first))
        for first, second in combinations(span, 2)
    ]


def together(cases: Sequence[Sum]) -> tuple[Sum, Floats]:
    """The sum over the trees of all cases, and the share of each case in it."""
    if len(cases) == 1:
        return cases[0], np.ones(1)
    greatest = max(case.log_total for case in cases)
    if greatest == -math.inf:
        return cases[0], np.full(len(cases), 1.0 / len(cases))
    sizes = np.array([case.sign * math.exp(case.log_total - greatest) for case in cases])
    total = float(sizes.sum())
    shares = sizes / total
    arcs = sum(share * case.arcs for share, case in zip(shares, cases, strict=True))
    roots = sum(share * case.roots for share, case in zip(shares, cases, strict=True))
    log_total = greatest + math.log(abs(total)) if total else -math.inf
    return Sum(np.asarray(arcs), np.asarray(roots), log_total, float(np.sign(total))), shares


@dataclass(frozen=True, eq=False)
class Analysis(ABC):
    """What a model knows of one sentence, under constraints on its trees or without."""

    CONDITIONAL: ClassVar[bool] = False
    """Whether the model has only p(tree | sentence)."""

    sentence: Sentence
    known: Constraints | None
    log_scale: float
    """The logarithm of a factor that is left out of the weights of all trees."""

    @abstractmethod
    def sums(self) -> list[Sum]:
        """The sums over the trees of each case."""

    @abstractmethod
    def tree_logprob(self, heads: Heads) -> float:
        """The logarithm of the probability of a projective tree."""

    def share(self, heads: Heads) -> float:
        """p(tree | sentence) of a projective tree where one of both has no logarithm, else nan."""
        return math.nan

    @abstractmethod
    def draw(self, case: int, uniforms: Floats) -> Sequence[Heads]:
        """Trees of a case drawn from the posterior, one for each row of uniform numbers."""

    @cached_property
    def masks(self) -> list[ArcMask]:
        """The masks of the cases; none without constraints."""
        masks = arc_masks(self.known, len(self.sentence)) if self.known else []
        if self.known and not masks:
            raise self.no_parse
        return masks

    @property
    def no_parse(self) -> NoParse:
        """What is raised where no tree obeys the constraints."""
        return NoParse(f"no projective tree satisfies: {self.known}")

    @cached_property
    def _together(self) -> tuple[Sum, Floats]:
        total, shares = together(self.sums())
        if self.known and total.log_total == -math.inf:
            raise self.no_parse
        return total, shares

    @property
    def total(self) -> Sum:
        """The sum over all trees."""
        return self._together[0]

    @property
    def shares(self) -> Floats:
        """How much of the weight of all trees each case has; nothing where estimates are negative."""
        shares = np.maximum(self._together[1], 0.0)
        return np.asarray(shares / shares.sum())

    @cached_property
    def posteriors(self) -> ArcPosteriors:
        """The posteriors of all arcs."""
        total = self.total
        return ArcPosteriors(total.arcs, total.roots, as_logprob(total.log_total, total.sign, self.log_scale))

    @property
    def entropy(self) -> float:
        """Of the posterior over trees, or an upper bound of it."""
        return self.posteriors.entropy

    def parsed(
        self,
        tree: DependencyTree,
        heads: Heads,
        tree_logprob: float,
        *,
        fallback: bool = False,
        relation_confidence: Floats | None = None,
    ) -> Parse:
        """A tree with its probabilities."""
        confidence = np.minimum(np.maximum(self.posteriors.of_heads(heads), 0.0), 1.0)
        # Weighing a tree again is for the few that need it: negative numbers have no logarithm.
        unlogged = math.isnan(tree_logprob + self.posteriors.logprob) and tree_logprob != -math.inf
        return Parse(
            self.sentence,
            tree,
            math.nan if self.CONDITIONAL else self.posteriors.logprob,
            tree_logprob,
            confidence,
            np.full(len(heads), np.nan),
            fallback=fallback,
            entropy=self.entropy,
            expected=float(confidence.sum()) / len(heads),
            conditional=self.CONDITIONAL,
            relation_confidence=np.zeros(0) if relation_confidence is None else relation_confidence,
            share=self.share(heads) if unlogged else math.nan,
        )


Analysed = TypeVar("Analysed", bound=Analysis)


class AttachmentBackend(ABC, Generic[Analysed]):
    """Parses words with tags into heads."""

    DRAWS: ClassVar[int]
    """Uniform numbers that a draw takes per word."""

    def __init__(self, decoder: Decoder | None, default: MBR | Viterbi) -> None:
        chosen = default if decoder is None else decoder
        if not isinstance(chosen, MBR | Viterbi):
            raise SettingError(f"dependency trees are decoded by MBR or Viterbi, not {type(decoder).__name__}")
        self.decoder = chosen

    @property
    def projective(self) -> bool:
        """Whether all its trees are projective."""
        return True

    @abstractmethod
    def _analysis(self, sentence: Sentence, known: Constraints | None = None) -> Analysed:
        """The analysis of a sentence under what is known of it."""

    def _analyses(self, sentences: Sequence[Sentence], known: Known) -> Iterable[Analysed]:
        """The analyses of many."""
        return map(self._analysis, sentences, known)

    @abstractmethod
    def _best(self, analysis: Analysed, count: int) -> list[Heads]:
        """The best trees, best first."""

    @abstractmethod
    def _relations(self, trees: Sequence[tuple[Analysed, Heads]]) -> Iterable[NamedArcs]:
        """The relations of trees."""

    def _decoded(self, analysis: Analysed) -> Heads:
        """The tree that the decoder chooses."""
        return self._best(analysis, 1)[0]

    def parse(self, sentences: Sequence[Sentence], known: Known | None = None) -> list[Parse]:
        """The best tree of each sentence, of those that obey what is known."""
        analyses = self._analyses(sentences, known or [None] * len(sentences))
        return self._parses([(analysis, self._decoded(analysis)) for analysis in analyses])

    def nbest(self, sentence: Sentence, count: int, known: Constraints | None = None) -> list[Parse]:
        """The best trees, best first."""
        analysis = self._analysis(sentence, known)
        return self._parses([(analysis, heads) for heads in self._best(analysis, count)])

    def sample(self, sentence: Sentence, count: int, seed: int, known: Constraints | None = None) -> list[Parse]:
        """Trees drawn from the posterior given the sentence."""
        analysis = self._analysis(sentence, known)
        random = np.random.default_rng(seed)
        uniforms = random.random((count, self.DRAWS * len(sentence)))
        case_of = random.choice(len(analysis.shares), count, p=analysis.shares)
        drawn: dict[int, Heads] = {}
        for case in np.unique(case_of):
            rows = np.flatnonzero(case_of == case)
            drawn.update(zip(rows.tolist(), analysis.draw(int(case), uniforms[rows]), strict=True))
        return self._parses([(analysis, drawn[row]) for row in range(count)])

    def score(self, tree: AnyTree) -> Parse:
        """A given tree with its probabilities; one that is not projective, or uses a pruned arc, has 0."""
        if not isinstance(tree, DependencyTree):
            raise DataError("a dependency parser scores only dependency trees")
        analysis, heads = self._analysis(tree.sentence), np.array(tree.heads, np.int64) - 1
        possible = tree.is_projective or not self.projective
        return analysis.parsed(tree, heads, analysis.tree_logprob(heads) if possible else -math.inf)

    def name_arcs(self, sentences: Sequence[Sentence], heads: Sequence[Sequence[int]]) -> list[tuple[str, ...]]:
        """The relations of all words, given their heads."""
        places = [np.array(each, np.int64) - 1 for each in heads]
        trees = list(zip(map(self._analysis, sentences), places, strict=True))
        return [relations.names for relations in self._relations(trees)]

    def impossible_part(self, tree: AnyTree) -> int | None:
        """Of the words whose arcs cross others, the one whose arc has the least posterior."""
        if not isinstance(tree, DependencyTree) or tree.is_projective:
            return None
        word, head = np.arange(1, len(tree) + 1), np.array(tree.heads, np.int64)
        low, high = np.minimum(word, head), np.maximum(word, head)
        starts_inside = (low[:, None] < low) & (low < high[:, None])
        crossing = starts_inside & (high > high[:, None])
        crossed = crossing.any(0) | crossing.any(1)
        return int(np.argmin(np.where(crossed, self.score(tree).confidence, np.inf)))

    def _parses(self, trees: Sequence[tuple[Analysed, Heads]]) -> list[Parse]:
        """The parses of trees given by their heads; their relations are asked for together."""
        parses = []
        for (analysis, heads), relations in zip(trees, self._relations(trees), strict=True):
            sentence = analysis.sentence
            tree = DependencyTree(
                sentence.words,
                heads=tuple((heads + 1).tolist()),
                deprels=relations.names,
                upos=sentence.upos or (),
                xpos=sentence.xpos or (),
                feats=sentence.feats or (),
            )
            fallback = analysis.total.log_total == -math.inf
            logprob, sure = analysis.tree_logprob(heads), relations.confidence
            parses.append(analysis.parsed(tree, heads, logprob, fallback=fallback, relation_confidence=sure))
        return parses

    def marginals(self, sentence: Sentence, known: Constraints | None = None) -> Marginals:
        """The posteriors of all arcs."""
        posteriors = self._analysis(sentence, known).posteriors
        return arc_marginals(posteriors.arcs, posteriors.roots)

    def compare(self, gold: Sequence[AnyTree], parses: Sequence[Parse]) -> AttachmentScore:
        """Attachment, words tagged as punctuation left out."""
        right = [tree for tree in gold if isinstance(tree, DependencyTree)]
        trees = [parse.tree for parse in parses if isinstance(parse.tree, DependencyTree)]
        return score_attachment(right, trees, punctuation="upos", fallback=[parse.fallback for parse in parses])
