"""Segmentation: decisions against their definition, made-up languages, round trips, odd text."""

import dataclasses
from itertools import product

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.surface import raw_text, tokens_of
from latentgram.data.tokenise import ruled_places
from latentgram.numeric.hashing import bucket
from latentgram.ud.kernels.segmenting import FAMILIAR, KEYS, OUTLINES, character_keys
from latentgram.ud.kernels.sentences import GAPS, best_sentences, sentence_spans, token_keys
from latentgram.ud.segmenter import BITS, described, kinds_of

NO_SPACE = "SpaceAfter=No"


def tree(words, misc=None, extra=()):
    return lg.DependencyTree(
        tuple(words), (0,) + (1,) * (len(words) - 1), misc=tuple(misc or ()), extra_rows=tuple(extra)
    )


def spaced(rng, count):
    """Sentences of words with a final point, some with a clitic behind an apostrophe and a fused word."""
    trees = []
    for _ in range(count):
        words, misc, extra = [], [], []
        for _ in range(rng.integers(1, 6)):
            kind = rng.integers(4)
            word = "".join(rng.choice(list("bdkl")) + rng.choice(list("aeio")) for _ in range(rng.integers(1, 4)))
            if kind == 0:
                words += [word, "'s"]
                misc += [NO_SPACE, "_"]
            elif kind == 1:
                extra.append(
                    (len(words), "\t".join([f"{len(words) + 1}-{len(words) + 2}", word + "zu", *"_" * 8]))
                )
                words += [word, "zu"]
                misc += ["_", "_"]
            else:
                words.append(word)
                misc.append("_")
        if extra and extra[-1][0] == len(words) - 2:
            words.append("end")
            misc.append("_")
        misc[-1] = NO_SPACE
        words[0] = words[0] if extra and extra[0][0] == 0 else words[0].capitalize()
        trees.append(tree([*words, "."], [*misc, "_"], extra))
    return trees


@pytest.fixture(scope="module")
def segmenter():
    return lg.fit(lg.Segmenter, spaced(np.random.default_rng(0), 300), by=lg.Gradient())


def rows_of(sentence):
    tokens = sentence.surface.tokens
    return [(token.form, sentence.words[token.first : token.end], token.space_after) for token in tokens]


def test_a_made_up_language_is_cut_as_its_treebank_cuts_it(segmenter):
    trees = spaced(np.random.default_rng(1), 100)
    sentences = list(segmenter.sentences(raw_text(trees)))
    gold = [
        [(token.form, each.words[token.first : token.end], token.space_after) for token in tokens_of(each)]
        for each in trees
    ]
    found = [rows_of(sentence) for sentence in sentences]
    assert sum(each in found for each in gold) > 95
    assert [sentence.words for sentence in segmenter.sentences("Balibezu ko.")] == [("Balibe", "zu", "ko", ".")]


def test_the_text_can_be_had_back(segmenter):
    text = "Badi's kolo. Debizu, lo!  (ka)\tx\n\nBi."
    found = list(segmenter.sentences(text))
    assert "".join(sentence.text for sentence in found).replace(" ", "") == "".join(text.split())
    assert [sentence.surface.begins_paragraph for sentence in found].count(True) == 2


def test_every_cut_has_its_probability(segmenter):
    for sentence in segmenter.sentences("Badi's kolo. Debizu lo."):
        assert 0 < sentence.surface.probability <= 1
        for token in sentence.surface.tokens:
            assert 0 < token.probability <= 1
            assert 0 < token.split <= 1


@pytest.mark.parametrize(("classes", "rules"), [(0, False), (1, False), (OUTLINES, False), (OUTLINES, True)])
def test_a_token_ends_where_the_weights_of_its_features_say(segmenter, classes, rules):
    """σ of the summed weights, for every place, and the probability of a token as their product."""
    segmenter = dataclasses.replace(segmenter, classes=classes > 0, outlines=classes == OUTLINES, rules=rules)
    text = "Badi's ko(lo)."
    known = {divmod(int(code), 1 << 32) for code in segmenter.familiar}
    assert (ord("l"), ord("o")) in known
    ruled = [
        said if rules and pair not in known else FAMILIAR
        for said, pair in zip(
            ruled_places(text), zip(map(ord, text), map(ord, text[1:] + " "), strict=True), strict=True
        )
    ]
    assert any(ruled) == rules
    sign, kind = np.array([ord(each) for each in text], np.int64), kinds_of(text, addresses=True)
    keys = np.empty(KEYS, np.uint64)
    ends, weights, token = [], segmenter.ends.dense, 0
    for i in range(len(text)):
        if text[i] == " " or i + 1 == len(text) or text[i + 1] == " ":
            ends.append(1.0)
        else:
            size = character_keys(
                sign, kind, np.array(ruled), 0, len(text), i, token, classes, segmenter.words, keys
            )
            total = sum(float(weights[bucket(keys[k], BITS)]) for k in range(size))
            ends.append(1 / (1 + np.exp(-total)))
        token = i + 1 if ends[-1] >= 0.5 else token
    (sentence,) = segmenter.sentences(text)
    begin = 0
    for token in sentence.surface.tokens:
        begin = text.index(token.form, begin)
        end = begin + len(token.form)
        inside = np.prod([1 - p for p in ends[begin : end - 1]])
        assert token.probability == pytest.approx(inside * ends[end - 1], rel=1e-5)
        begin = end


def test_signs_that_training_has_not_seen_are_cut_off(segmenter):
    """By the wider kinds of characters, of which it has seen many."""
    assert segmenter.classes
    found = [
        token.form for each in segmenter.sentences("Debizu kolo‽ Badi kolo¡") for token in each.surface.tokens
    ]
    assert found == ["Debizu", "kolo", "‽", "Badi", "kolo", "¡"]


def test_scripts_that_training_has_not_seen_are_cut_at_their_signs_and_not_between_letters(segmenter):
    """Marks and invisible joiners stay with their letters, too."""
    words = ["Москва", "Ελλάδα", "हिन्दी", "العربية", "漢字", "می\u200cخواهم", "ภาษาไทย", "e\u0301a"]
    for word in words:
        found = [each.surface.tokens for each in segmenter.sentences(f"Debizu {word} kolo. Badi kolo.")]
        forms = [token.form for tokens in found for token in tokens]
        assert forms == ["Debizu", word, "kolo", ".", "Badi", "kolo", "."]


def test_rules_speak_where_characters_are_not_familiar_side_by_side():
    """One sentence has a bracket, and none a comma behind one: weights without rules keep them together."""
    bracketed = tree(["Bado", "(", "kolo", ")", "."], ["_", NO_SPACE, NO_SPACE, NO_SPACE, "_"])
    trees = [*spaced(np.random.default_rng(0), 300), bracketed]
    segmenter = lg.fit(lg.Segmenter, trees, by=lg.Gradient())
    right = ("Bado", "[", "ba", "]", ",", "kolo", ".")
    assert segmenter.sentence("Bado [ba], kolo.").words == right
    assert dataclasses.replace(segmenter, rules=False).sentence("Bado [ba], kolo.").words != right


def test_a_dash_before_a_blank_begins_a_sentence_and_one_at_a_word_does_not():
    rng = np.random.default_rng(0)
    trees = []
    for _ in range(200):
        some = ["".join(rng.choice(["ba", "do", "gi", "ke", "lo"], 2)) for _ in range(rng.integers(2, 5))]
        dashed = ["-", some[0]] if rng.random() < 0.5 else []
        misc = ["_"] * len(some) + [NO_SPACE] * bool(dashed) + ["_"] * bool(dashed)
        first = rng.random() < 0.5
        trees.append(tree(["-"] * first + some + dashed, ["_"] * first + misc))
    segmenter = lg.fit(lg.Segmenter, trees, by=lg.Gradient())
    found = [sentence.words for sentence in segmenter.sentences("bado gike -keba - loba dogi -gilo - bado keke")]
    assert found == [("bado", "gike", "-", "keba"), ("-", "loba", "dogi", "-", "gilo"), ("-", "bado", "keke")]


def test_a_token_is_kept_together_by_its_outline():
    """A bracket that closes far from the one that opened it belongs to the token if that one does."""
    rng = np.random.default_rng(1)

    def some(syllables):
        return "".join(rng.choice(["ba", "do", "gi", "ke", "lo"], syllables))

    def tree(words, joined):
        misc = tuple("SpaceAfter=No" if number in joined else "_" for number in range(len(words)))
        return lg.DependencyTree(words, (0, *(1,) * (len(words) - 1)), misc=misc)

    trees = []
    for _ in range(40):
        trees.append(tree((f"{some(rng.integers(1, 6))}({some(rng.integers(3, 7))})", "."), (0,)))
        trees.append(tree((some(2), "(", some(rng.integers(3, 7)), ")", "."), (1, 2, 3)))
    segmenter = lg.fit(lg.Segmenter, trees, by=lg.Gradient())
    assert segmenter.outlines
    (sentence,) = segmenter.sentences("ZUMUVU(FUFUFUFUFU) zu (wuvuwuvu).")
    assert sentence.words == ("ZUMUVU(FUFUFUFUFU)", "zu", "(", "wuvuwuvu", ")", ".")


def all_cuts(length):
    """Every way to cut tokens into sentences, as pairs of their first token and the one behind them."""
    for inner in product((False, True), repeat=length - 1):
        ends = [*(t + 1 for t, cut in enumerate(inner) if cut), length]
        yield list(zip([0, *ends], ends, strict=False))


@pytest.mark.parametrize("wide", [GAPS, 1, 0])
@pytest.mark.parametrize("text", ["Badi kolo . di ; Ko", "Ba ( di . ko ) . Lo : bi", "da ; di ; Do ; du"])
def test_sentences_are_those_of_the_greatest_expected_f1_over_all_cuts(text, wide):
    """Weights at random: p of every sentence against the sum over all cuts, and the best of these by F1."""
    forms = text.split()
    tokens = described(forms, np.ones(len(forms), np.bool_), np.zeros(0, np.uint64))
    weights = np.random.default_rng(len(text)).normal(0, 0.25, 1 << 12).astype(np.float32)
    keys, shares = np.empty(KEYS, np.uint64), {}
    for first, end in {span for cuts in all_cuts(len(forms)) for span in cuts}:
        opened, quoted, share = 0, 0, 1.0
        for t in range(first, end):
            opened += {"(": 1, ")": -1 if opened else 0}.get(forms[t], 0)
            if t + 1 < len(forms):
                size = token_keys(tokens, 0, len(forms), first, t, opened, quoted, wide, keys)
                p = 1 / (1 + np.exp(-sum(float(weights[bucket(keys[k], 12)]) for k in range(size))))
                share *= p if t + 1 == end else 1 - p
        shares[first, end] = share
    cuts = [(cut, np.prod([shares[span] for span in cut])) for cut in all_cuts(len(forms))]
    assert sum(p for _, p in cuts) == pytest.approx(1)
    exact = {span: sum(p for cut, p in cuts if span in cut) for span in shares}
    begins, ends, found, expected = sentence_spans(tokens, wide, weights, 12)
    listed = dict(zip(zip(begins.tolist(), ends.tolist(), strict=True), found.tolist(), strict=True))
    for span, p in exact.items():
        assert listed.get(span, 0.0) == pytest.approx(p, abs=0.03)
    assert expected == pytest.approx(sum(exact.values()), abs=0.1)

    def f1(cut):
        return 2 * sum(listed.get(span, -1.0) for span in cut) / (expected + len(cut))

    chosen = best_sentences(begins, ends, found, expected).tolist()
    assert f1([(begins[n], ends[n]) for n in chosen]) == pytest.approx(max(f1(cut) for cut, _ in cuts))


def test_a_long_paragraph_whose_sentences_are_doubtful_is_cut_without_gaps():
    """No sentence is left without one before it, whatever is left out as negligible."""
    forms = list("abcd.:AB(2") * 300
    tokens = described(forms, np.ones(len(forms), np.bool_), np.zeros(0, np.uint64))
    for mean in (-0.3, -0.1, 0.0, 0.1):
        weights = np.random.default_rng(0).normal(mean, 0.2, 1 << 12).astype(np.float32)
        spans = sentence_spans(tokens, GAPS, weights, 12)
        chosen = best_sentences(*spans)
        begins, ends = spans[0][chosen].tolist(), spans[1][chosen].tolist()
        assert [0, *ends] == [*begins, len(forms)]


def test_words_without_blanks_between_them_are_found():
    rng = np.random.default_rng(0)
    words = ["猫", "睡觉", "我们", "看见", "老师", "大学", "在", "喜欢"]
    drawn = [[*rng.choice(words, rng.integers(2, 7)).tolist(), "。"] for _ in range(200)]
    trees = [tree(each, [NO_SPACE] * len(each)) for each in drawn]
    segmenter = lg.fit(lg.Segmenter, trees[:150], by=lg.Gradient())
    found = [sentence.words for sentence in segmenter.sentences(raw_text(trees[150:]))]
    assert len(segmenter.words)
    assert sum(each.words in found for each in trees[150:]) > 45


def test_where_a_token_began_tells_where_it_ends():
    """Every token has two letters, and many are written without a blank between them."""
    rng = np.random.default_rng(0)
    drawn = [["".join(rng.choice(list("abcdef"), 2)) for _ in range(rng.integers(1, 12))] for _ in range(250)]
    trees = [tree(each, [*[NO_SPACE] * (len(each) - 1), "_"]) for each in drawn]
    segmenter = lg.fit(lg.Segmenter, trees[:200], by=lg.Gradient())
    assert sum(segmenter.sentence(raw_text([each])).words == each.words for each in trees[200:]) > 45


def test_what_looks_like_an_address_is_not_cut_as_other_text_is():
    rng = np.random.default_rng(0)
    name = lambda: "".join(rng.choice(list("abdeiklo"), 4))  # noqa: E731
    compounds = [tree([name(), "-", name(), "."], [NO_SPACE] * 3 + ["_"]) for _ in range(40)]
    pages = [tree([f"http://{name()}-{name()}.{name()}/{name()}", "."], ["_", "_"]) for _ in range(20)]
    letters = [tree([f"{name()}.{name()}@{name()}-{name()}.org", "."], ["_", "_"]) for _ in range(20)]
    segmenter = lg.fit(lg.Segmenter, compounds + pages + letters, by=lg.Gradient())
    for address in (f"https://obal.edik/{'bela-kido-' * 9}lako", f"{'dola-bike-' * 5}lako@elia-koda.org"):
        assert segmenter.sentence(f"lako-bide {address} .").words == ("lako", "-", "bide", address, ".")


def test_an_address_ends_where_other_letters_begin():
    """Also in a text without blanks."""
    text = "见http://a-b.cn/d?e=f。写给ba.ko@di.org吧,www.x.org!"
    plain, kinds = kinds_of(text, addresses=False), kinds_of(text, addresses=True)
    marked = "".join(sign if a != b else " " for sign, a, b in zip(text, plain, kinds, strict=True)).split()
    assert marked == ["http://a-b.cn/d?e=f", "ba.ko@di.org", "www.x.org"]


def test_tokens_may_hold_blanks():
    numbers = [tree(["Il", "a", f"{n} 000", "ans", "."], ["_"] * 3 + [NO_SPACE, "_"]) for n in range(10, 60)]
    segmenter = lg.fit(lg.Segmenter, numbers, by=lg.Gradient())
    assert segmenter.joins
    assert next(segmenter.sentences("Il a 77 000 ans.")).words == ("Il", "a", "77 000", "ans", ".")


def test_which_words_a_token_has_may_depend_on_its_neighbours():
    """`des` is `de` + `les` behind `loin`, one word behind `voit`."""
    row = "2-3\tdes\t" + "\t".join("_" * 8)
    trees = [tree(["loin", "de", "les", "chats"], None, [(1, row)]), tree(["voit", "des", "chats"])] * 40
    segmenter = lg.fit(lg.Segmenter, trees, by=lg.Gradient())
    assert segmenter.sentence("loin des chiens").words == ("loin", "de", "les", "chiens")
    assert segmenter.sentence("voit des chiens").words == ("voit", "des", "chiens")


def test_the_endings_of_its_neighbours_tell_which_words_a_token_has():
    """`des` is `de` + `les` behind words in -ant, which are new each time, one word behind words in -oit."""
    rng = np.random.default_rng(0)
    new = lambda ending: "".join(rng.choice(list("bdklmn"), 4)) + ending  # noqa: E731
    row = "2-3\tdes\t" + "\t".join("_" * 8)
    fused = [tree([new("ant"), "de", "les", new("s")], None, [(1, row)]) for _ in range(40)]
    segmenter = lg.fit(
        lg.Segmenter, fused + [tree([new("oit"), "des", new("s")]) for _ in range(40)], by=lg.Gradient()
    )
    assert segmenter.sentence("kikant des baks").words == ("kikant", "de", "les", "baks")
    assert segmenter.sentence("kikoit des baks").words == ("kikoit", "des", "baks")


ODD = ["", " \n\t\n", "a", ".", "\x00\x07", "\U0001f642\u200d", "ba " * 500, "x" * 3000, "\u2028a\u00a0b"]


@pytest.mark.parametrize("text", ODD)
def test_odd_text_is_cut_without_a_fault(segmenter, text):
    tokens = [token for sentence in segmenter.sentences(text) for token in sentence.surface.tokens]
    assert "".join("".join(token.form.split()) for token in tokens) == "".join(text.split())


def test_a_text_without_words_is_not_a_sentence(segmenter):
    with pytest.raises(lg.DataError, match="no words"):
        segmenter.sentence("  ")
    assert len(segmenter.sentence("Ba. Di. Ko").surface.tokens) == 5


def test_a_segmenter_comes_back_from_a_file(segmenter, tmp_path):
    for precision in ("full", "compact"):
        lg.save(segmenter, tmp_path / "s.lg", precision)
        again = lg.load(tmp_path / "s.lg")
        assert list(again.sentences("Badi's kolo. Dazu lo.")) == list(segmenter.sentences("Badi's kolo. Dazu lo."))


def test_broken_ranges_are_refused():
    row = "1-3\tab\t" + "\t".join("_" * 8)
    with pytest.raises(lg.DataError, match="1-3 does not fit"):
        lg.fit(lg.Segmenter, [tree(["a", "b"], None, [(0, row)])], by=lg.Gradient())


def clitics(rng, count):
    """Words written from right to left; some are one token with a conjunction or an article before them."""
    trees = []
    for _ in range(count):
        words, extra = [], []
        for _ in range(rng.integers(2, 6)):
            stem = "".join(rng.choice(list("كتبسلمدرق"), rng.integers(3, 5)))
            parts = [clitic for clitic in ("و", "ال") if rng.random() < 0.4] + [stem]
            if len(parts) > 1:
                first = len(words) + 1
                extra.append(
                    (len(words), "\t".join([f"{first}-{len(words) + len(parts)}", "".join(parts), *"_" * 8]))
                )
            words += parts
        trees.append(tree([*words, "نعم", rng.choice([".", "؟"])], ["_"] * len(words) + [NO_SPACE, "_"], extra))
    return trees


def test_clitics_of_a_script_that_runs_from_right_to_left():
    rng = np.random.default_rng(0)
    segmenter = lg.fit(lg.Segmenter, clitics(rng, 200), by=lg.Gradient())
    new = clitics(rng, 50)
    found = [sentence.words for sentence in segmenter.sentences(raw_text(new))]
    assert sum(each.words in found for each in new) > 45
