"""The parser of a `Committee`: every member parses, and a tree is chosen by the mean of their posteriors.

The members' charts are merged into one chart of treebank nodes (kernels.py), in which a node has the mean of the
members' posteriors. The decoder finds the tree with the greatest expected F1 among all trees that can be built
from these nodes. There are no posteriors of rules, since each member has its own rules. The entropy is the mean of
the members': that of the mixture is at least this, and at most log G more.

A member whose grammar cannot derive the sentence is ignored. If none can, they parse with the wider lexicon, as
each would alone; if that fails too, the first one builds a tree from parts.
Cost: the parses of all members, and the chart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latentgram.data.constraints import Constraints
from latentgram.data.forest import Forest
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.errors import NoParse, SettingError
from latentgram.kinds.result import Parse
from latentgram.lpcfg.committee.kernels import REST, span_chart
from latentgram.lpcfg.committee.model import Committee
from latentgram.lpcfg.committee.nodes import TreebankNodes, Trees, restored
from latentgram.lpcfg.crf.parse import ChartCRFBackend
from latentgram.lpcfg.decoders import Brackets, PhraseDecoder, Phrases
from latentgram.lpcfg.kernels.chart import CLOSED, PackedChart, SpanMasks
from latentgram.lpcfg.kernels.decode import Told
from latentgram.lpcfg.model import mixed
from latentgram.lpcfg.parse.backend import PhraseBackend
from latentgram.lpcfg.parse.constraints import span_masks
from latentgram.lpcfg.parse.labels import LabelTable, Nodes
from latentgram.lpcfg.parse.pruning import NO_LIMIT, Deadline, OutOfTime, Pruning
from latentgram.lpcfg.projection import Leaves

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """A member and its posteriors over a sentence."""

    backend: ChartCRFBackend
    phrases: Phrases
    symbols: Ints
    """What its symbols are in the chart of treebank nodes."""

    def node_keys(self, symbols: int) -> NDArray[np.int64]:
        """[items] cell · symbols + symbol of its items, among so many symbols of the committee."""
        chart = self.phrases.chart
        cell = np.repeat(np.arange(len(chart.cell_begin) - 1), np.diff(chart.cell_begin))
        return np.asarray(cell * symbols + self.symbols[chart.item_symbol])

    def named(self, forest: Forest) -> list[tuple[Ints, Ints]]:
        """Treebank trees by the names that their nodes have for its grammar, and the sizes of subtrees."""
        return self.backend.cascade.names.of_trees(forest, self.backend.grammar.binarisation)

    def log_shares(self, forest: Forest) -> Floats:
        """[trees] log p(tree | sentence) of treebank trees; −∞ for those that are not in its chart."""
        return np.array([self.phrases.log_share(*tree) for tree in self.named(forest)])

    def drawn(self, uniforms: Floats) -> Forest:
        """Draws from its posterior."""
        return restored(self.backend.symbols, self.backend.grammar.binarisation, *self.phrases.draws(uniforms))


@dataclass(frozen=True, kw_only=True)
class MixedPhrases(Phrases):
    """The mixture of the members' posteriors over a sentence."""

    symbols: TreebankNodes
    parts: tuple[Part, ...]
    silent: int
    """So many members have no say."""

    @property
    def searchable(self) -> bool:
        """The most probable trees of a mixture cannot be searched."""
        return False

    @cached_property
    def entropy(self) -> float:
        """The mean of the members'."""
        return float(np.mean([part.phrases.entropy for part in self.parts]))

    def _told(self, symbol: Ints, size: Ints) -> Told:
        return super()._told(symbol, size)._replace(entropy=self.entropy)

    def tree_logprobs(self, symbols: Ints, sizes: Ints) -> Floats:
        """[trees] log p(sentence) + log (1/G) Σ_g p_g(tree | sentence)."""
        return self.logprobs_of(self.symbols.restored(symbols, sizes))

    def logprobs_of(self, forest: Forest) -> Floats:
        """The same of treebank trees; those that are in no member's chart have the mean of the grammars', which is
        not in the p(sentence) of pruned charts. So all trees together have at most the p(sentence) of whole ones.
        """
        shares = np.array([part.log_shares(forest) for part in self.parts])
        known = self.posterior.logprob + mixed(shares, np.ones_like(shares))[0]
        outside = np.flatnonzero(np.isneginf(known))
        if len(outside):
            rest = forest.select(outside)
            own = np.full((len(self.parts) + self.silent, len(outside)), -math.inf)
            for number, part in enumerate(self.parts):
                own[number] = [part.phrases.own_logprob(*tree) for tree in part.named(rest)]
            known[outside] = mixed(own, np.ones_like(own))[0]
        return known

    def treebank_nodes(self, symbol: Ints, size: Ints) -> tuple[Ints, Ints]:
        """A treebank tree has one derivation."""
        return symbol, size

    def tree_logprob(self, name: Ints, size: Ints) -> float:
        """That of one tree."""
        return float(self.tree_logprobs(name[None], size[None])[0])

    def draws(self, uniforms: Floats) -> Trees:
        """Draws from the mixture: the first number of each row chooses a member, and what it leaves goes on."""
        member, rest = np.divmod(uniforms[:, 0] * len(self.parts), 1.0)
        numbers = np.column_stack((rest, uniforms[:, 1:]))
        symbols, sizes = np.empty((2, len(uniforms), 2 * uniforms.shape[1] - 1), np.int32)
        for number, part in enumerate(self.parts):
            chosen = np.flatnonzero(member == number)
            if len(chosen):
                symbols[chosen], sizes[chosen] = self.symbols.binarised(part.drawn(numbers[chosen]))
        return symbols, sizes


class CommitteeBackend(PhraseBackend):
    """Parses with a `Committee`."""

    def __init__(
        self,
        model: Committee,
        decoder: PhraseDecoder | None = None,
        pruning: Pruning | None = None,
        limit_seconds: float | None = None,
    ) -> None:
        super().__init__(model.layers[0].grammar, decoder or Brackets(), pruning, limit_seconds)
        if not isinstance(self.decoder, Brackets):
            raise SettingError(
                "a committee has posteriors of treebank nodes but not of rules: its decoder must be Brackets, "
                f"got {type(self.decoder).__name__}"
            )
        share = None if limit_seconds is None else limit_seconds / len(model.layers)
        self.members = [ChartCRFBackend(crf, None, pruning, share) for crf in model.layers]
        self.cascade = self.members[0].cascade

    @cached_property
    def _nodes(self) -> TreebankNodes:
        return TreebankNodes.of([member.grammar for member in self.members])

    @cached_property
    def _of_member(self) -> list[Ints]:
        """What the symbols of each member are among those of the committee."""
        return [self._nodes.of_grammar(member.grammar) for member in self.members]

    @cached_property
    def table(self) -> LabelTable:
        """The labels of treebank nodes."""
        return self._nodes.table

    def _analyse(
        self, sentence: Sentence, known: Constraints | None = None, *, limited: bool = True
    ) -> tuple[Leaves, Phrases | None]:
        every: list[Leaves] = []
        parts: list[Part] = []
        failures: list[NoParse | OutOfTime] = []
        for member, symbols in zip(self.members, self._of_member, strict=True):
            try:
                leaves, phrases = member._analyse(sentence, known, limited=limited)
            except (NoParse, OutOfTime) as failure:
                failures.append(failure)
                continue
            every.append(leaves)
            if phrases is not None:
                parts.append(Part(member, phrases, symbols))
        if not parts and failures:
            raise failures[0]
        if not parts:
            return every[0], None
        deriving = [part for part in parts if not part.phrases.widened]
        asked, widened = deriving or parts, not deriving
        masks = span_masks(known, len(sentence), self.table, self.grammar.binarisation.root) if known else None
        chart, item = self._pooled(asked, masks)
        first, each = asked[0].phrases, [part.phrases.posterior for part in asked]
        log, sign = self._mixed(asked)
        posterior = first.posterior._replace(
            chart=chart,
            item=item,
            edge=np.zeros(int(chart.edge_begin[-1])),
            logprob=log,
            tensors=None,
            negative=sign < 0.0,
            coarse=any(posterior.coarse for posterior in each) or any(isinstance(f, OutOfTime) for f in failures),
            tightened=any(posterior.tightened for posterior in each),
        )
        return first.leaves, MixedPhrases(
            self.cascade,
            self.table,
            first.leaves,
            posterior,
            masks,
            widened=widened,
            symbols=self._nodes,
            parts=tuple(asked),
            silent=len(self.members) - len(asked),
        )

    def _mixed(self, parts: Sequence[Part]) -> tuple[float, float]:
        """log |p(sentence)| and its sign under all grammars below; those of members without a part give it 0."""
        said = {id(part.backend): part.phrases.posterior for part in parts}
        logs: list[float] = []
        signs: list[float] = []
        for member in self.members:
            posterior, grammars = said.get(id(member)), len(member.cascade.finest)
            logs += [-math.inf if posterior is None else posterior.logprob] * grammars
            signs += [-1.0 if posterior is not None and posterior.negative else 1.0] * grammars
        log, sign = mixed(logs, signs)
        return float(log), float(sign)

    def _pooled(self, parts: Sequence[Part], masks: SpanMasks | None) -> tuple[PackedChart, Floats]:
        """The chart of all nodes in the charts of the members, and the mean of their posteriors."""
        symbols, cells = len(self.table.symbols), len(parts[0].phrases.chart.cell_begin) - 1
        keys = np.concatenate([part.node_keys(symbols) for part in parts])
        chain = keys % symbols != REST
        weight = np.concatenate([np.abs(part.phrases.item) for part in parts])
        nodes, place = np.unique(keys[chain], return_inverse=True)
        mean = np.bincount(place, weight[chain], len(nodes)) / len(parts)
        may_rest = np.ones(cells, np.bool_)
        if masks is not None:
            may_rest = (masks.of_cell != CLOSED) & masks.allowed[masks.of_cell, REST]
        begin = np.searchsorted(nodes, np.arange(cells + 1) * symbols)
        chart, source = span_chart(parts[0].phrases.chart.length, begin, nodes % symbols, may_rest)
        return chart, np.where(source < 0, 0.0, np.minimum(mean, 1.0)[source])

    def _parses(self, sentence: Sentence, phrases: Phrases, trees: Iterable[tuple[Ints, Ints]]) -> list[Parse]:
        rows = list(trees)
        if not isinstance(phrases, MixedPhrases) or not rows:
            return super()._parses(sentence, phrases, rows)
        logs = phrases.tree_logprobs(*(np.array(column) for column in zip(*rows, strict=True)))
        decoded = [phrases.decoded(*row, log) for row, log in zip(rows, logs.tolist(), strict=True)]
        return self._assemble([sentence] * len(rows), decoded)

    def _tree_logprob(self, leaves: Leaves, phrases: Phrases | None, tree: Tree) -> float:
        if isinstance(phrases, MixedPhrases):
            return float(phrases.logprobs_of(Forest.of([tree]))[0])
        sentence = Sentence(tree.words, tree.tags)
        logs = [member._tree_logprob(member.cascade.leaves.of(sentence), None, tree) for member in self.members]
        return float(mixed(logs, np.ones(len(logs)))[0])

    def _fragment(self, leaves: Leaves, deadline: Deadline = NO_LIMIT) -> Nodes:
        return self.members[0]._fragment(leaves, deadline)

    def _join(self, parts: list[Nodes]) -> Nodes:
        """The first member's tree, of the symbols of the committee."""
        joined = self.members[0]._join(parts)
        return joined._replace(symbol=self._of_member[0][joined.symbol])
