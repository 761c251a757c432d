"""The choice of scripts: probabilities against their definition, learning on words of a known rule."""

import numpy as np
import pytest

import latentgram as lg
from latentgram.numeric.hashing import bucket, mixed
from latentgram.ud.chooser import Items, codes_of
from latentgram.ud.kernels.choosing import KEYS, feature_keys
from latentgram.ud.lemmatiser import items_of
from latentgram.ud.scripts import applied


def plural(stem):
    """A made-up language: plurals in -en behind a vowel, else in -s; both are taken off."""
    return stem + ("en" if stem[-1] in "aiou" else "s")


def made_trees(rng, count):
    stems = [
        "".join(rng.choice(list("bdgklmn")) + rng.choice(list("aiou")) for _ in range(3)) for _ in range(count)
    ]
    stems = [stem + rng.choice(["", "k", "t"]) for stem in stems]
    return [
        lg.DependencyTree(
            (plural(stem), stem, "went"),
            (2, 0, 2),
            upos=("NOUN", "NOUN", "VERB"),
            feats=("Number=Plur", "Number=Sing", "_"),
            lemmas=(stem, stem, "go"),
        )
        for stem in stems
    ]


@pytest.fixture(scope="module")
def lemmatiser():
    return lg.fit(lg.Lemmatiser, made_trees(np.random.default_rng(0), 300), by=lg.Gradient())


def test_a_rule_of_endings_is_learned(lemmatiser):
    right = total = 0
    for tree in made_trees(np.random.default_rng(1), 100):
        lemmas, probability = lemmatiser.lemmas(tree.sentence)
        right += sum(a == b for a, b in zip(lemmas, tree.lemmas, strict=True))
        total += len(tree)
        assert ((probability > 0) & (probability <= 1)).all()
    assert right / total > 0.98


def test_words_that_follow_no_rule_are_remembered(lemmatiser):
    assert lemmatiser.lemmas(lg.Sentence(("went",), upos=("VERB",)))[0] == ("go",)


def test_probabilities_of_lemmas_sum_to_one_and_the_best_is_taken(lemmatiser):
    sentence = lg.Sentence(("bugos", "x", "Gada"), upos=("NOUN", "NOUN", "NOUN"), feats=("Number=Plur", "_", "_"))
    lemmas, probability = lemmatiser.lemmas(sentence)
    for lemma, p, shares in zip(lemmas, probability, lemmatiser.probabilities(sentence), strict=True):
        assert sum(shares.values()) == pytest.approx(1)
        assert max(shares, key=shares.get) == lemma
        assert shares[lemma] == pytest.approx(p)


def mix(key, value):
    return np.uint64(mixed(np.uint64(key), value))


def test_probabilities_are_the_softmax_of_the_weights_that_the_features_name(lemmatiser):
    """By the definition, word by word, with a script's own features found by hand."""
    sentence = lg.Sentence(("bugon",), upos=("NOUN",), feats=("Number=Plur",))
    chooser, items = lemmatiser.chooser, items_of([sentence])
    chosen, probability = chooser.choose(items)
    many = int((chosen[0] >= 0).sum())
    assert many > 1
    keys = np.empty(KEYS, np.uint64)
    tag, coarse = items.words.tag[0], items.words.coarse[0]
    around = items.words.around[0]
    size = feature_keys(items.forms.codes[0], tag, coarse, items.words.shape[0], around, True, keys)
    scores = []
    for script in chosen[0, :many].tolist():
        result = [ord(sign) for sign in applied(chooser.scripts[script], "bugon")]
        code = np.uint64(1)
        for letter in result:
            code = mix(code, letter)
        place = np.searchsorted(chooser.result, mix(code, coarse))
        seen = place < len(chooser.result) and chooser.result[place] == mix(code, coarse)
        others = int(chooser.times[place]) if seen else 0
        pairs = [mix(key, script + 1000) for key in keys[:size]]
        pairs += [
            mix(mix(np.uint64(80), min(others, 3)), coarse),
            mix(mix(np.uint64(81), min(len(result), 6)), coarse),
        ]
        ending = np.uint64(3)
        for k in range(1, 4):
            ending = mix(ending, result[-k] if k <= len(result) else 0)
            pairs.append(mix(mix(np.uint64(82), ending), coarse))
        scores.append(sum(float(chooser.weights.dense[bucket(np.uint64(pair), chooser.bits)]) for pair in pairs))
    expected = np.exp(np.array(scores) - max(scores))
    np.testing.assert_allclose(probability[0, :many], expected / expected.sum(), rtol=1e-6)


@pytest.mark.parametrize("word", ["", "a", "\u0301", "\x07", "🙂" * 3, "x" * 500])
def test_any_word_has_a_lemma(lemmatiser, word):
    word = word or "_"
    lemmas, probability = lemmatiser.lemmas(lg.Sentence((word,), upos=("NOUN",)))
    assert lemmas[0]
    assert 0 < probability[0] <= 1


def test_a_lemmatiser_comes_back_from_a_file(lemmatiser, tmp_path):
    sentence = made_trees(np.random.default_rng(2), 1)[0].sentence
    for precision in ("full", "compact"):
        lg.save(lemmatiser, tmp_path / "l.lg", precision)
        again = lg.load(tmp_path / "l.lg")
        assert again.lemmas(sentence)[0] == lemmatiser.lemmas(sentence)[0]


def test_a_word_without_a_lemma_teaches_nothing():
    """Half of the sentences have lemmas; a word that is an underscore has itself."""
    trees = made_trees(np.random.default_rng(0), 60)
    bare = [tree.replace(lemmas=()) for tree in trees]
    sign = lg.DependencyTree(("_",), (0,), upos=("PUNCT",), lemmas=("_",))
    lemmatiser = lg.fit(lg.Lemmatiser, [*trees, *bare, sign], by=lg.Gradient())
    for tree in bare:
        assert "_" not in {lemma for each in lemmatiser.probabilities(tree.sentence) for lemma in each}
    assert lemmatiser.lemmas(sign.sentence)[0] == ("_",)


def test_trees_without_lemmas_are_refused():
    with pytest.raises(lg.DataError, match="no lemmas"):
        lg.fit(lg.Lemmatiser, [lg.DependencyTree(("a",), (0,))], by=lg.Gradient())


def test_codes_of_forms_tell_endings_apart():
    items = Items.of(["walked", "talked", "walk"], *(codes_of(["", "", ""]),) * 2, ())
    codes = items.forms.codes
    assert codes[0, 0] != codes[1, 0]
    assert (codes[0, 1:7] == codes[1, 1:7]).all(), "endings of up to five letters, the empty one first"
    assert codes[0, 7] != codes[1, 7]
    assert (codes[2, 6:10] == 0).all(), "walk has no ending of five letters"
