"""A few more trees for a grammar at once, without learning it again.

The counts of rules, lexical entries and roots add (statistics/counts.py), and a grammar keeps them. With n the
old counts and n′ those with the new trees, the tensor of a rule follows its relative frequency,

    t′(a→b c) = t(a→b c) · (n′(a→b c)/n′(a)) / (n(a→b c)/n(a)),

and so do q and π; a rule never seen before has the tensor that back-off gives to a rule without moments of its own
(004 §3.2), n′(a→b c)/n′(a) · mean_inside(a) ⊗ mean_outside(b) ⊗ mean_outside(c).

For a plain PCFG this is the very grammar that counting all trees with the same vocabulary gives. For a latent one
the one-state part is, and what the hidden states mean stays as it was until the grammar is learned again. Words
that were unknown count as they do in learning: as their signatures, or by name where the grammar knows rare words
by name (new_words.py). Cost: one pass over the tensors.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from latentgram.data.alphabet import Alphabet
from latentgram.data.binarisation import Symbol
from latentgram.data.forest import Forest
from latentgram.data.tree import Tree
from latentgram.lpcfg.ensemble import Ensemble
from latentgram.lpcfg.layout import layout, rule_layout
from latentgram.lpcfg.model import LPCFG
from latentgram.lpcfg.statistics.counts import GrammarCounts
from latentgram.lpcfg.statistics.derivations import Derivations
from latentgram.lpcfg.update_words import LentEntries, forms_of_new_words

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def _updated(grammar: LPCFG, trees: Iterable[Tree] | Forest) -> LPCFG:
    """The grammar with the counts of more trees."""
    forest = trees if isinstance(trees, Forest) else Forest.of(list(trees))
    if not len(forest):
        return grammar
    grammar = _distinct(grammar)
    binary = grammar.binarisation.binarise(forest)
    forms = forms_of_new_words(grammar, binary)
    known = Alphabet.of((*grammar.rare_words.known, *forms)) if forms else grammar.rare_words.known
    rare_words = dataclasses.replace(grammar.rare_words, known=known)
    counted = GrammarCounts.of(Derivations.of(_marked(rare_words.apply(binary), grammar)))
    lent = LentEntries.of(grammar, counted, forms)
    old = _counts(grammar)
    new = old + (counted + lent.counts)
    place = _places(old, new)
    states = np.ones(len(new.interminals) + len(new.preterminals), np.int32)
    states[place] = grammar.states
    inside, outside = (
        _spread(part, grammar.root_offset, place, states) for part in (grammar.mean_inside, grammar.mean_outside)
    )
    rules = _Table(new.rules, _found(place[old.rules], new.rules), _shares(old, "rule"), _shares(new, "rule"))
    entries = _Table(
        new.lexicon,
        _found(_entry_rows(old, new, place), new.lexicon[:, ::-1]),
        _shares(old, "lexicon"),
        _shares(new, "lexicon"),
    )
    roots = _roots(grammar, old, new, place, states, outside)
    offset = layout(states)
    trace = ({"absorbed": float(len(forest))},)
    return dataclasses.replace(
        grammar,
        interminals=new.interminals,
        preterminals=new.preterminals,
        words=new.words,
        states=states,
        rules=new.rules,
        rule_offset=rule_layout(new.rules, states),
        rule_tensor=rules.grown(
            grammar.rule_tensor,
            grammar.rule_offset,
            lambda row: np.einsum(
                "i,j,k->ijk",
                _piece(inside, offset, row[0]),
                _piece(outside, offset, row[1]),
                _piece(outside, offset, row[2]),
            ),
        ),
        lexicon=new.lexicon,
        lexicon_offset=layout(states[new.lexicon[:, 0]]),
        lexicon_vector=entries.grown(
            grammar.lexicon_vector,
            grammar.lexicon_offset,
            lambda row: lent.mean.get(
                (new.preterminals[row[0] - len(new.interminals)], new.words[row[1]]),
                _piece(inside, offset, row[0]),
            ),
        ),
        root_offset=offset,
        root_vector=roots,
        mean_inside=inside,
        mean_outside=outside,
        rule_count=new.rule_count,
        lexicon_count=new.lexicon_count,
        root_count=new.root_count,
        rare_words=rare_words,
        provenance=dataclasses.replace(grammar.provenance, trace=(*grammar.provenance.trace, *trace)),
    )


def update(model: LPCFG | Ensemble, trees: Iterable[Tree] | Forest) -> LPCFG | Ensemble:
    """The grammar, or all grammars of an ensemble, with the counts of more trees.

    >>> import latentgram as lg
    >>> bank = lg.demo_treebank(60, seed=0)
    >>> grammar = lg.fit(lg.LPCFG, bank[:50], by=lg.Counting())
    >>> grown = update(grammar, bank[50:])
    >>> int(grammar.root_count.sum()), int(grown.root_count.sum())
    (50, 60)
    """
    if isinstance(model, LPCFG):
        return _updated(model, trees)
    forest = trees if isinstance(trees, Forest) else Forest.of(list(trees))
    return dataclasses.replace(model, grammars=tuple(_updated(grammar, forest) for grammar in model.grammars))


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


def _places(old: GrammarCounts, new: GrammarCounts) -> NDArray[np.int32]:
    """The new numbers of the old symbols; their order stays, since alphabets are sorted."""
    return np.concatenate(
        (
            new.interminals.encode(old.interminals),
            new.preterminals.encode(old.preterminals) + np.int32(len(new.interminals)),
        )
    )


def _entry_rows(old: GrammarCounts, new: GrammarCounts, place: NDArray[np.int32]) -> NDArray[np.int32]:
    """The old entries as rows of word and symbol in new numbers."""
    return np.column_stack((new.words.encode(old.words)[old.lexicon[:, 1]], place[old.lexicon[:, 0]]))


def _found(rows: NDArray[np.int32], among: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of the sorted rows of a table were in the old one."""
    everything = np.concatenate((among, rows)).astype(np.int64)
    key = np.zeros(len(everything), np.int64)
    for column in everything.T:
        key = key * (int(everything.max(initial=0)) + 1) + column
    return np.isin(key[: len(among)], key[len(among) :])


def _shares(counts: GrammarCounts, table: str) -> Floats:
    """The relative frequency of every rule or entry of its symbol."""
    number: Floats = getattr(counts, f"{table}_count")
    symbol = (counts.rules if table == "rule" else counts.lexicon)[:, 0]
    return np.asarray(number / counts.symbol_count[symbol], np.float64)


def _spread(flat: Floats, offset: Ints, place: NDArray[np.int32], states: NDArray[np.int32]) -> Floats:
    """Vectors of the old symbols at their new places, and ones for new symbols."""
    target = layout(states)
    result = np.ones(int(target[-1]))
    within = np.arange(offset[-1]) - np.repeat(offset[:-1], np.diff(offset))
    result[np.repeat(target[place], np.diff(offset)) + within] = flat
    return result


def _piece(flat: Floats, offset: Ints, symbol: int) -> Floats:
    return flat[offset[symbol] : offset[symbol + 1]]


def _roots(
    grammar: LPCFG,
    old: GrammarCounts,
    new: GrammarCounts,
    place: NDArray[np.int32],
    states: NDArray[np.int32],
    outside: Floats,
) -> Floats:
    """π by relative frequency; a symbol never seen at the root has its mean outside vector."""
    before = np.zeros(len(states))
    before[place] = old.root_count / old.root_count.sum()
    share = new.root_count / new.root_count.sum()
    vector = _spread(grammar.root_vector, grammar.root_offset, place, states)
    ratio = np.repeat(np.divide(share, before, out=np.zeros_like(share), where=before > 0), states)
    grown = np.where(np.repeat(before > 0, states), vector * ratio, outside * np.repeat(share, states))
    return np.asarray(grown, np.float64)


@dataclasses.dataclass(frozen=True)
class _Table:
    """Rules or entries: the new `rows`, which of them are old, and relative frequencies before and after."""

    rows: NDArray[np.int32]
    known: NDArray[np.bool_]
    before: Floats
    after: Floats

    def grown(self, flat: Floats, offset: Ints, fresh: Callable[[NDArray[np.int32]], Floats]) -> Floats:
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
