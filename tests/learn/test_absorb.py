"""Absorbing trees: for a PCFG it is counting them with the rest, for a latent grammar its one-state part is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import latentgram as lg
from latentgram.learn.absorb import absorb, absorb_into
from latentgram.learn.counting_lpcfg import pcfg_of
from latentgram.stats.derivations import Derivations
from latentgram.stats.grammar_counts import GrammarCounts

NEW = lg.parse_tree(
    "(TOP (FRAG (S (NP (XX Zyx)) (NEWVP (VBZ sleeps) (NP (DT the) (DT the) (NN dog)))) (NN (VBZ is) (DT no))))"
)


@pytest.fixture(scope="module")
def bank() -> lg.Treebank:
    return lg.demo_treebank(120, seed=3)


def arrays(grammar: lg.LPCFG) -> dict[str, np.ndarray]:
    return {name: value for name, value in vars(grammar).items() if isinstance(value, np.ndarray)}


def test_pcfg_grows_into_the_one_counted_from_all(bank: lg.Treebank) -> None:
    grammar = lg.fit(lg.LPCFG, bank[:80], by=lg.Counting())
    grown = absorb(absorb(grammar, list(bank[80:100])), list(bank[100:]))
    binary = grammar.rare_words.apply(grammar.binarisation.binarise(bank.forest))
    counted = pcfg_of(GrammarCounts.of(Derivations.of(binary)), grammar.rare_words, grammar.binarisation)
    assert grown.interminals == counted.interminals
    assert grown.preterminals == counted.preterminals
    for name, value in arrays(counted).items():
        np.testing.assert_allclose(getattr(grown, name), value, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("learner", [lg.Counting(), lg.Spectral(states=3), lg.Clustering(states=2, iterations=1)])
def test_new_labels_words_and_rules_can_be_parsed_at_once(bank: lg.Treebank, learner: object) -> None:
    grammar = lg.fit(lg.LPCFG, bank[:80], by=learner)
    grown = absorb(grammar, [NEW] * 20)
    assert grown.rule_offset[-1] == len(grown.rule_tensor)
    assert grown.lexicon_offset[-1] == len(grown.lexicon_vector)
    assert grown.root_offset[-1] == len(grown.root_vector) == len(grown.mean_inside) == len(grown.mean_outside)
    assert grown.root_count.sum() == 100
    assert "FRAG" in grown.interminals
    before = lg.Parser(grammar).parse(NEW.words)
    after = lg.Parser(grown).parse(NEW.words)
    assert before.tree != NEW
    assert after.tree == NEW
    # What was not touched keeps its numbers up to the share of its symbol.
    old = lg.Parser(grammar).parse(bank[0].words)
    assert lg.Parser(grown).parse(bank[0].words).logprob == pytest.approx(old.logprob, abs=8)


def test_probabilities_still_sum_to_one(bank: lg.Treebank) -> None:
    grown = absorb(lg.fit(lg.LPCFG, bank[:80], by=lg.Clustering(states=2, iterations=1)), [NEW])
    total = np.zeros(int(grown.root_offset[-1]))
    for row, begin, end in zip(grown.rules, grown.rule_offset[:-1], grown.rule_offset[1:], strict=True):
        tensor = grown.rule_tensor[begin:end].reshape(grown.states[row])
        total[grown.root_offset[row[0]] : grown.root_offset[row[0] + 1]] += tensor.sum((1, 2))
    inner = total[: grown.root_offset[len(grown.interminals)]]
    weight = grown.mean_outside[: len(inner)]
    by_symbol = np.add.reduceat(inner * weight, grown.root_offset[: len(grown.interminals)])
    shares = np.add.reduceat(weight, grown.root_offset[: len(grown.interminals)])
    np.testing.assert_allclose(by_symbol / shares, 1.0, atol=0.05)
    assert grown.root_vector.sum() == pytest.approx(1.0)


def test_a_form_that_is_written_as_a_tag_is(bank: lg.Treebank) -> None:
    grammar = lg.fit(lg.LPCFG, bank[:80], by=lg.Spectral(states=2))
    row, (begin, end) = 5, grammar.lexicon_offset[5:7]
    later = grammar.lexicon_offset[row:] + end - begin
    twice = dataclasses.replace(
        grammar,
        lexicon=np.insert(grammar.lexicon, row, grammar.lexicon[row], 0),
        lexicon_count=np.insert(grammar.lexicon_count, row, 7.0),
        lexicon_offset=np.concatenate((grammar.lexicon_offset[: row + 1], later)),
        lexicon_vector=np.insert(grammar.lexicon_vector, begin, np.zeros(end - begin)),
    )
    for name, value in arrays(absorb(grammar, [NEW])).items():
        np.testing.assert_array_equal(getattr(absorb(twice, [NEW]), name), value)


def test_nothing_changes_without_trees_and_ensembles_grow_together(bank: lg.Treebank) -> None:
    grammar = lg.fit(lg.LPCFG, bank[:80], by=lg.Counting())
    assert absorb(grammar, []) is grammar
    both = absorb_into(lg.Ensemble((grammar, grammar)), [NEW])
    assert [int(part.root_count.sum()) for part in both.grammars] == [81, 81]
