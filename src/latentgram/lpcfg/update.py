"""Updating a grammar with a few more trees, without learning it again.

The counts of rules, lexical entries and roots can be added (statistics.py), and a grammar stores them. With n the
old counts and n′ those with the new trees, the tensor of a rule follows its relative frequency,

    t′(a→b c) = t(a→b c) · (n′(a→b c)/n′(a)) / (n(a→b c)/n(a)),

and so do q and π; a rule never seen before has the tensor that back-off gives to a rule without moments of its own
(Cohen et al. 2013, §3.2), n′(a→b c)/n′(a) · mean_inside(a) ⊗ mean_outside(b) ⊗ mean_outside(c).

For a plain PCFG this is exactly the grammar that counting all trees with the same vocabulary gives. For a latent
one this holds for the one-state part, and the hidden states keep their meaning until the grammar is retrained.
Words that were unknown are counted as in learning: as their signatures, or as themselves if the grammar has
entries for rare words (update_words.py). Cost: one pass over the tensors.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

import numpy as np

from latentgram.arrays import Flags, Floats, Ints, Ints32
from latentgram.data.alphabet import Alphabet
from latentgram.data.binarisation import Symbol
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree
from latentgram.lpcfg.kernels.moments import Rules, divide_by_parent, state_totals
from latentgram.lpcfg.model import LPCFG, Ensemble, Layout, layout
from latentgram.lpcfg.projection import discounted, undiscounted
from latentgram.lpcfg.statistics import Derivations, GrammarCounts
from latentgram.lpcfg.update_words import LentEntries, forms_of_new_words


def update(model: LPCFG | Ensemble, trees: Iterable[Tree] | Forest) -> LPCFG | Ensemble:
    """The grammar, or all grammars of an ensemble, with the counts of more trees.

    >>> import latentgram as lg
    >>> bank = lg.demo_treebank(60, seed=0)
    >>> grammar = lg.fit(lg.LPCFG, bank[:50], by=lg.Counting())
    >>> grown = update(grammar, bank[50:])
    >>> int(grammar.root_count.sum()), int(grown.root_count.sum())
    (50, 60)
    """
    forest = trees if isinstance(trees, Forest) else Forest.of(list(trees))
    if isinstance(model, LPCFG):
        return _updated(model, forest)
    return dataclasses.replace(model, grammars=tuple(_updated(grammar, forest) for grammar in model.grammars))


def _updated(grammar: LPCFG, forest: Forest) -> LPCFG:
    """The grammar with the counts of more trees."""
    if not len(forest):
        return grammar
    distribution = grammar.unseen.size > 0
    grammar = undiscounted(_distinct(grammar))
    binary = grammar.binarisation.binarise(forest)
    forms = forms_of_new_words(grammar, binary)
    known = Alphabet.of((*grammar.rare_words.known, *forms)) if forms else grammar.rare_words.known
    rare_words = dataclasses.replace(grammar.rare_words, known=known)
    counted = GrammarCounts.of(Derivations.of(_marked(rare_words.apply(binary), grammar)))
    lent = LentEntries.of(grammar, counted, forms)
    old = _counts(grammar)
    new = old + (counted + lent.counts)
    number = old.numbers_in(new.interminals, new.preterminals)
    states = np.ones(len(new.root_count), np.int32)
    states[number] = grammar.states
    places = Layout.of(new.rules, new.lexicon, states)
    offset = places.symbols

    def spread(values: Floats) -> Floats:
        """Vectors of the old symbols at their new places, and ones for new symbols."""
        sizes = np.diff(grammar.root_offset)
        result = np.ones(int(offset[-1]))
        within = np.arange(len(values)) - np.repeat(grammar.root_offset[:-1], sizes)
        result[np.repeat(offset[number], sizes) + within] = values
        return result

    inside, outside = spread(grammar.mean_inside), spread(grammar.mean_outside)

    def tensor(rule: Ints32) -> Floats:
        """That of a new rule."""
        (a, b, c), ends = rule, offset[rule + 1]
        parts = inside[offset[a] : ends[0]], outside[offset[b] : ends[1]], outside[offset[c] : ends[2]]
        return np.asarray(np.einsum("i,j,k->ijk", *parts), np.float64)

    def vector(entry: Ints32) -> Floats:
        """That of a new entry."""
        name = new.preterminals[entry[0] - len(new.interminals)], new.words[entry[1]]
        return lent.mean.get(name, inside[offset[entry[0]] : offset[entry[0] + 1]])

    rules = _Table(new.rules, _among(number[old.rules], new.rules), old.rule_share, new.rule_share)
    words = new.words.encode(old.words)[old.lexicon[:, 1]]
    entry_known = _among(np.column_stack((words, number[old.lexicon[:, 0]])), new.lexicon[:, ::-1])
    entries = _Table(new.lexicon, entry_known, old.lexicon_share, new.lexicon_share)
    trace = (*grammar.provenance.trace, {"absorbed": float(len(forest))})
    same_numbers = (new.words, new.preterminals) == (grammar.words, grammar.preterminals)
    grown = dataclasses.replace(
        grammar.whole,
        interminals=new.interminals,
        preterminals=new.preterminals,
        words=new.words,
        states=states,
        rules=new.rules,
        rule_offset=places.rules,
        rule_tensor=rules.grown(grammar.double_tensor, grammar.rule_offset, tensor),
        lexicon=new.lexicon,
        lexicon_offset=places.lexicon,
        lexicon_vector=entries.grown(grammar.lexicon_vector, grammar.lexicon_offset, vector),
        root_offset=offset,
        root_vector=_roots(old.root_count, new.root_count, number, states, spread(grammar.root_vector), outside),
        mean_inside=inside,
        mean_outside=outside,
        rule_count=new.rule_count,
        lexicon_count=new.lexicon_count,
        root_count=new.root_count,
        rare_words=rare_words,
        # Words and tags are known to it by their numbers.
        closing_weight=grammar.closing_weight[: same_numbers * len(grammar.closing_weight)],
        provenance=dataclasses.replace(grammar.provenance, trace=trace),
    )
    return discounted(_normalised(grown)) if distribution else grown


def _normalised(grammar: LPCFG) -> LPCFG:
    """A grammar of probabilities whose rules, or words, sum to one in every state: relative frequencies of symbols
    say nothing of single states."""
    if not grammar.nonnegative:
        return grammar
    rules, most = Rules(grammar.rules, grammar.states, grammar.rule_offset), int(grammar.states.max())
    tensor, vector = grammar.rule_tensor.copy(), grammar.lexicon_vector
    divide_by_parent(rules, tensor, state_totals(rules, tensor, len(grammar.states), most))
    total = np.bincount(grammar.lexicon_places, vector, int(grammar.root_offset[-1]))[grammar.lexicon_places]
    return dataclasses.replace(
        grammar, rule_tensor=tensor, lexicon_vector=vector / np.where(total > 0, total, 1.0)
    )


def _distinct(grammar: LPCFG) -> LPCFG:
    """Without the first of two entries of one word and symbol: a form may be written as the symbol of a tag is."""
    same = (grammar.lexicon[1:] == grammar.lexicon[:-1]).all(1)
    if not same.any():
        return grammar
    kept = np.append(~same, True)
    sizes = np.diff(grammar.lexicon_offset)
    return dataclasses.replace(
        grammar,
        lexicon=grammar.lexicon[kept],
        lexicon_count=grammar.lexicon_count[kept],
        lexicon_offset=layout(sizes[kept]),
        lexicon_vector=grammar.lexicon_vector[np.repeat(kept, sizes)],
    )


def _counts(grammar: LPCFG) -> GrammarCounts:
    """The counts that a grammar keeps."""
    return GrammarCounts(
        grammar.interminals,
        grammar.preterminals,
        grammar.words,
        grammar.rules,
        grammar.rule_count,
        grammar.lexicon,
        grammar.lexicon_count,
        grammar.root_count,
    )


def _marked(binary: Forest, grammar: LPCFG) -> Forest:
    """Leaves named as in the grammar, which marks a label over words if it has it over phrases as well."""
    names = list(binary.labels)
    marked = [str(Symbol.read(name)._replace(over_word=True)) for name in names]
    known = grammar.preterminals
    leaf = [
        other if other in known or (name not in known and name in grammar.interminals) else name
        for name, other in zip(names, marked, strict=True)
    ]
    labels = Alphabet.of((*names, *leaf))
    number = np.where(binary.is_tag, labels.encode(leaf)[binary.label], labels.encode(names)[binary.label])
    return dataclasses.replace(binary, labels=labels, label=number.astype(np.int32)).compact()


def _among(old: Ints32, rows: Ints32) -> Flags:
    """Which of the sorted rows of a table were in the old one."""
    everything = np.concatenate((rows, old)).astype(np.int64)
    key = np.zeros(len(everything), np.int64)
    for column in everything.T:
        key = key * (int(everything.max(initial=0)) + 1) + column
    return np.isin(key[: len(rows)], key[len(rows) :])


def _roots(old: Floats, new: Floats, number: Ints32, states: Ints32, vector: Floats, outside: Floats) -> Floats:
    """π by relative frequency; a symbol never seen at the root has its mean outside vector.

    `old` and `new` are the counts of roots, `vector` and `outside` old vectors at their new places.
    """
    before = np.zeros(len(states))
    before[number] = old / old.sum()
    after = new / new.sum()
    ratio = np.repeat(np.divide(after, before, out=np.zeros_like(after), where=before > 0), states)
    grown = np.where(np.repeat(before > 0, states), vector * ratio, outside * np.repeat(after, states))
    return np.asarray(grown, np.float64)


@dataclasses.dataclass(frozen=True)
class _Table:
    """Rules or entries: the new `rows`, which of them are old, and relative frequencies before and after."""

    rows: Ints32
    known: Flags
    before: Floats
    after: Floats

    def grown(self, flat: Floats, offset: Ints, fresh: Callable[[Ints32], Floats]) -> Floats:
        """The pieces of the old rows rescaled, with those of new rows put in between."""
        after = self.after[self.known]
        ratio = np.divide(after, self.before, out=np.ones_like(after), where=self.before > 0)
        scaled: Floats = flat * np.repeat(ratio, np.diff(offset))
        new = np.flatnonzero(~self.known)
        if not len(new):
            return scaled
        pieces = [self.after[row] * np.ravel(fresh(self.rows[row])) for row in new]
        at = offset[np.cumsum(self.known)[new]]
        return np.insert(scaled, np.repeat(at, [len(piece) for piece in pieces]), np.concatenate(pieces))
