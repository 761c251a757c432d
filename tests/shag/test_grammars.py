"""Head-automata grammars and their products against enumeration, and the trees they make."""

from collections import Counter

import numpy as np
import pytest
from scipy.special import logsumexp

import latentgram as lg
from latentgram.errors import DataError, SettingError
from oracles.projective import projective_trees


@pytest.fixture(scope="module")
def bank():
    return lg.demo_dependencies(300, seed=2)


@pytest.fixture(scope="module")
def factors(bank):
    return {
        "shag": lg.fit(lg.SHAG, bank, by=lg.EM(states=3, iterations=5)),
        "lex": lg.fit(lg.LexicalSHAG, bank, by=lg.Counting()),
        "plain": lg.fit(lg.LexicalSHAG, bank, by=lg.Counting(memory="none")),
        "distance": lg.fit(lg.ArcDistance, bank, by=lg.Counting()),
    }


@pytest.fixture(scope="module")
def short(bank):
    return next(tree for tree in bank if 5 <= len(tree) <= 6)


def grammars(factors):
    shag, lex, plain, distance = factors.values()
    return [shag, lex, plain, shag * lex, shag * lex**0.7 * distance**0.5, lex * distance, shag * plain * lex**0.5]


def test_a_sentence_is_the_sum_of_its_trees(factors, short):
    for grammar in grammars(factors):
        logs, heads = [], []
        for tree in projective_trees(len(short)):
            heads.append(tree)
            logs.append(grammar.tree_logprob(short.replace(heads=tuple(head + 1 for head in tree))))
        assert grammar.logprob(short.sentence) == pytest.approx(logsumexp(logs), abs=1e-8)
        posteriors = grammar.posteriors(short.sentence)
        assert posteriors.logprob == pytest.approx(logsumexp(logs), abs=1e-8)
        weights = np.exp(np.array(logs) - logsumexp(logs))
        expected = np.zeros((len(short) + 1, len(short)))
        for tree, weight in zip(heads, weights, strict=True):
            expected[list(tree), range(len(short))] += weight
        np.testing.assert_allclose(posteriors.arcs, expected[:-1], atol=1e-9)
        np.testing.assert_allclose(posteriors.roots, expected[-1], atol=1e-9)


def test_scores_multiply_in_a_product(factors, bank):
    shag, lex, _, distance = factors.values()
    for tree in bank[:20]:
        parts = [grammar.tree_logprob(tree) for grammar in (shag, lex, distance)]
        whole = (shag * lex**0.7 * distance**0.5).tree_logprob(tree)
        assert whole == pytest.approx(parts[0] + 0.7 * parts[1] + 0.5 * parts[2])


def test_lexical_probabilities_sum_to_one(factors, bank):
    """Over all tags and words, and STOP, whatever the head, the direction and the state."""
    lex = factors["lex"]
    n_tags, n_words = len(lex.symbols.alphabet), len(lex.vocabulary)
    from latentgram.numeric.search import find
    from latentgram.shag.kernels.lexical_backoff import lexical_probability

    by_tag = np.array([lex._word_given_tag(np.full(n_words, t), np.arange(n_words)) for t in range(n_tags)])
    np.testing.assert_allclose(by_tag.sum(1), 1.0, atol=1e-12)
    for key in lex.fine_tags.context[:8]:
        word, rest = divmod(int(key), 8)
        direction, state = divmod(rest, 4)
        if word == n_words:
            continue
        tag = int(np.argmax(by_tag[:, word]))
        coarse = find(lex.coarse_tags.context, 0, len(lex.coarse_tags.context), (tag * 2 + direction) * 4 + state)
        fine = find(lex.fine_tags.context, 0, len(lex.fine_tags.context), int(key))
        total = 0.0
        for t in range(n_tags + 1):
            for w in [-1] if t == n_tags else range(n_words):
                base = 1.0 if t == n_tags else by_tag[t, w]
                tag_base = lex.tag_base[direction, state, t]
                total += lexical_probability(lex._tables, fine, coarse, tag_base, base, t, w)
        assert total == pytest.approx(1.0, abs=1e-9)


def test_trees_are_drawn_from_the_grammar(bank):
    shag = lg.fit(lg.SHAG, bank, by=lg.Counting())
    trees = [shag.generate(seed) for seed in range(400)]
    assert all(tree.is_projective for tree in trees)
    assert same_tree(shag.generate(7), trees[7])
    roots = Counter(tree.words[tree.root - 1] for tree in trees)
    for symbol, share in zip(shag.symbols.alphabet, shag.root, strict=True):
        assert abs(roots[symbol] / 400 - share) < 4.5 * np.sqrt(share / 400) + 0.01
    again = lg.fit(lg.SHAG, lg.Treebank.of(trees), by=lg.Counting())
    assert again["VBZ", lg.RIGHT].stop[0] == pytest.approx(shag["VBZ", lg.RIGHT].stop[0], abs=0.1)


def same_tree(one, other):
    return (one.words, one.heads) == (other.words, other.heads)


def test_unknown_tags_become_known_ones(factors):
    sentence = lg.Sentence(("Zyx", "barks"), xpos=("NEW", "VBZ"), upos=("NOUN", "VERB"))
    assert np.isfinite(factors["shag"].logprob(sentence))


def test_a_grammar_of_tags_says_that_it_needs_tags(factors):
    with pytest.raises(DataError, match="needs UPOS or XPOS tags"):
        factors["shag"].logprob("no tags here")


def test_products_have_limits(factors):
    shag, lex, _, _ = factors.values()
    with pytest.raises(SettingError, match="at most one factor"):
        shag * shag
    with pytest.raises(SettingError, match="only deterministic"):
        shag**0.5 * lex
    with pytest.raises(SettingError, match="cannot be a factor"):
        shag * lg.Alphabet(())


def test_a_deterministic_automaton_is_its_own_approximation():
    """Nouns: adjectives any number of times, then at most one determiner."""
    step = np.zeros((2, 2, 2))
    step[0, 0, 0], step[1, 1, 0] = 0.3, 0.5
    truth = lg.OperatorAutomaton(lg.Alphabet(("adj", "det")), np.array([1.0, 0.0]), np.array([0.2, 1.0]), step)
    dfa = truth.to_dfa(clusters=2)
    for string in ([], ["adj"], ["det"], ["adj", "adj", "det"]):
        assert dfa.probability(string) == pytest.approx(truth.probability(string), rel=1e-2)
    assert dfa.probability(["det", "adj"]) == 0
    assert dfa.states == 3


def test_deterministic_automaton_of_sequences_seen():
    """By hand: a and b lead to nearby vectors, from which x leads far apart."""
    step = np.zeros((3, 2, 2))
    step[0, :, 0], step[1, :, 0] = [1.0, 0.05], [1.0, -0.05]
    step[2] = np.diag([0.01, 1.0])
    automaton = lg.OperatorAutomaton(lg.Alphabet(("a", "b", "x")), np.array([1.0, 0.0]), np.ones(2), step)
    seen = 4 * ["a x"] + 3 * ["a"] + ["b x", "b"] + 1 * ["new"]
    # Clusters {a, b}, {a x}, {b x}: x leads from the first to both others, which are merged however rare one is.
    dfa = automaton.to_dfa(clusters=3, sequences=seen)
    assert dfa.states == 3
    np.testing.assert_array_equal(dfa.target, [[1, 1, -1], [-1, -1, 2], [-1, -1, -1]])
    np.testing.assert_allclose(dfa.visits, [1.0, 0.9, 0.5])
    np.testing.assert_allclose(dfa.step[1], [0, 0, 5 / 9])
    np.testing.assert_allclose(dfa.stop, [0, 4 / 9, 1])
    assert dfa.examples == (("nothing",), ("a", "b"), ("a x", "b x"))
    # With a tolerance the rarer target follows the majority and its own state is left unmerged.
    assert automaton.to_dfa(clusters=3, sequences=seen, tolerance=0.3).states == 4
    with pytest.raises(lg.LatentgramError, match="no modifier sequences"):
        automaton.to_dfa(sequences=[])


@pytest.mark.parametrize("exponent", [-1, float("inf"), float("nan")])
def test_powers_are_finite_and_not_negative(exponent):
    distance = lg.fit(lg.ArcDistance, lg.demo_dependencies(5, seed=0), by=lg.Counting())
    with pytest.raises(lg.LatentgramError, match="the power of a factor must be"):
        distance**exponent
