"""Absorbing trees: for a PCFG it is counting them with the rest, for a latent grammar its one-state part is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import latentgram as lg
from latentgram.lpcfg.counting import pcfg_of
from latentgram.lpcfg.statistics import Derivations, GrammarCounts
from latentgram.lpcfg.update import update

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
    grown = update(update(grammar, list(bank[80:100])), list(bank[100:]))
    binary = grammar.rare_words.apply(grammar.binarisation.binarise(bank.forest))
    counted = pcfg_of(
        GrammarCounts.of(Derivations.of(binary)), grammar.rare_words, grammar.binarisation, grammar.pull
    )
    assert grown.interminals == counted.interminals
    assert grown.preterminals == counted.preterminals
    for name, value in arrays(counted).items():
        np.testing.assert_allclose(getattr(grown, name), value, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("learner", [lg.Counting(), lg.Spectral(states=3), lg.Clustering(states=2, iterations=1)])
def test_new_labels_words_and_rules_can_be_parsed_at_once(bank: lg.Treebank, learner: object) -> None:
    grammar = lg.fit(lg.LPCFG, bank[:80], by=learner)
    grown = update(grammar, [NEW] * 20)
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
    grown = update(lg.fit(lg.LPCFG, bank[:80], by=lg.Clustering(states=2, iterations=1)), [NEW])
    total = np.zeros(int(grown.root_offset[-1]))
    for row, begin, end in zip(grown.rules, grown.rule_offset[:-1], grown.rule_offset[1:], strict=True):
        tensor = grown.rule_tensor[begin:end].reshape(grown.states[row])
        total[grown.root_offset[row[0]] : grown.root_offset[row[0] + 1]] += tensor.sum((1, 2))
    inner = total[: grown.root_offset[len(grown.interminals)]]
    inner += np.repeat(grown.unseen, grown.states)[: len(inner)]
    np.testing.assert_allclose(inner, 1.0, atol=1e-12)
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
    for name, value in arrays(update(grammar, [NEW])).items():
        np.testing.assert_array_equal(getattr(update(twice, [NEW]), name), value)


def test_nothing_changes_without_trees_and_ensembles_grow_together(bank: lg.Treebank) -> None:
    grammar = lg.fit(lg.LPCFG, bank[:80], by=lg.Counting())
    assert update(grammar, []) is grammar
    both = update(lg.Ensemble((grammar, grammar)), [NEW])
    assert [int(part.root_count.sum()) for part in both.grammars] == [81, 81]


def test_a_new_word_is_known_by_name_after_one_tree(bank: lg.Treebank) -> None:
    """Its form was never seen with the tag, and the parser was certain of another one."""
    data = bank[:80]
    grammar = lg.fit(lg.LPCFG, data, by=lg.Spectral(states=3))
    tree = lg.parse_tree(str(data[3]).replace(f" {data[3].words[1]})", " Zyx)", 1))
    place, tag = tree.words.index("Zyx"), next(node.label for node in tree.nodes() if node.word == "Zyx")

    def tags(model: lg.LPCFG) -> dict[str, float]:
        found = lg.Parser(model).marginals(lg.Sentence(tree.words)).tags
        return {label: p for word, label, p in found if word == place}

    before, after = tags(grammar), tags(update(grammar, [tree]))
    again = tags(lg.fit(lg.LPCFG, lg.Treebank.of([*data, tree]), by=lg.Spectral(states=3)))
    assert tag not in before
    assert max(before.values()) > 0.99
    assert max(after, key=after.__getitem__) == tag
    assert after[tag] == pytest.approx(again[tag], abs=0.15)
    assert update(update(grammar, [tree]), [tree]).rare_words.known == update(grammar, [tree]).rare_words.known


def test_counts_of_a_new_word_are_its_own_and_those_its_form_lends(bank: lg.Treebank) -> None:
    grammar = lg.fit(lg.LPCFG, bank[:80], by=lg.Clustering(states=2, iterations=1))
    grown = update(grammar, [NEW])
    form = grammar.rare_words.symbol("Zyx", first=True)

    def counts(model: lg.LPCFG, word: str) -> dict[str, float]:
        rows = model.lexicon[:, 1] == model.words.index(word)
        names = [model.preterminals[symbol - len(model.interminals)] for symbol in model.lexicon[rows, 0]]
        return dict(zip(names, model.lexicon_count[rows].tolist(), strict=True))

    lent, found = counts(grammar, form), counts(grown, "Zyx")
    total = sum(lent.values())
    # One observation of its own and one in the shares of the form, of which half is left.
    expected = {name: count / total / 2 for name, count in lent.items()}
    assert found == pytest.approx({**expected, "NP+XX": 0.5})
    assert counts(grown, form).keys() == {*lent, "NP+XX"}
