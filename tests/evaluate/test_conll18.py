"""The CoNLL 2018 measures: against their definition on random segmentations, and on cases counted by hand."""

import dataclasses
import random
from itertools import combinations, pairwise

import numpy as np
import pytest

import latentgram as lg
from latentgram.data.conllu import parse_conllu
from latentgram.data.surface import raw_text, tokens_of
from latentgram.errors import DataError
from latentgram.evaluate.conll18 import CONTENT, FUNCTION, Agreement, Conll18Score, score_conll18
from latentgram.evaluate.kernels.alignment import align

FEATS = ("_", "Case=Nom", "Case=Nom|Number=Sing", "Case=Nom|Polite=Form|Own=Yes", "Own=No")
RELATIONS = ("nsubj", "nsubj:pass", "obj", "det", "case", "punct", "aux:pass")


def analysis(rng, text, cuts):
    """A random analysis of a text: sentences at some of the cuts, multiword tokens, tags, lemmas and heads."""
    bounds = [0, *sorted(rng.sample(range(1, len(text)), cuts)), len(text)]
    tokens = [text[a:b] for a, b in pairwise(bounds)]
    sentences = [[]]
    for token in tokens:
        if sentences[-1] and rng.random() < 0.25:
            sentences.append([])
        if rng.random() < 0.4:
            words = [rng.choice(["a", "b", "A", token]) for _ in range(rng.randint(2, 3))]
        else:
            words = [token]
        sentences[-1].append((token, words))
    return [sentence(rng, each) for each in sentences]


def sentence(rng, tokens):
    words, extra = [], []
    for token, parts in tokens:
        if len(parts) > 1:
            extra.append(
                (len(words), "\t".join([f"{len(words) + 1}-{len(words) + len(parts)}", token, *"________"]))
            )
        words += parts
    size = len(words)
    root = rng.randrange(size)
    heads = tuple(0 if i == root else root + 1 for i in range(size))
    return lg.DependencyTree(
        tuple(words),
        heads,
        deprels=tuple("root" if i == root else rng.choice(RELATIONS) for i in range(size)),
        upos=tuple(rng.choice("NV") for _ in words),
        xpos=tuple(rng.choice("xy") for _ in words),
        feats=tuple(rng.choice(FEATS) for _ in words),
        lemmas=tuple(rng.choice("lm_") for _ in words),
        extra_rows=tuple(extra),
    )


class Word:
    """A word as the definition sees it."""

    def __init__(self, tree, number, span, multiword):
        self.tree, self.number, self.span, self.multiword = tree, number, span, multiword
        self.form = tree.words[number].lower()
        self.upos, self.xpos, self.lemma = (getattr(tree, name)[number] for name in ("upos", "xpos", "lemmas"))
        self.feats = sorted(
            f for f in tree.feats[number].split("|") if f.startswith(("Case=", "Number=", "Polite="))
        )
        self.relation = tree.deprels[number].split(":")[0]
        self.parent, self.children = None, []


def words_of(trees):
    words, tokens, sentences, place = [], [], [], 0
    for tree in trees:
        begin, mine = place, []
        for token in tokens_of(tree):
            span = (place, place + len(token.form))
            tokens.append(span)
            mine += [Word(tree, i, span, token.multiword) for i in range(token.first, token.end)]
            place = span[1]
        for word, head in zip(mine, tree.heads, strict=True):
            word.parent = mine[head - 1] if head else None
            if word.parent:
                word.parent.children.append(word)
        words += mine
        sentences.append((begin, place))
    return words, tokens, sentences


def measured(gold, output):
    """gold, output and correct counts of each measure, from the sentences that define it."""
    (right, right_tokens, right_sentences), (guess, tokens, sentences) = words_of(gold), words_of(output)
    spans = [np.array([w.span[side] for w in words]) for words in (right, guess) for side in (0, 1)]
    multiword = [np.array([w.multiword for w in words]) for words in (right, guess)]
    names = sorted({w.form for w in (*right, *guess)})
    forms = [np.array([names.index(w.form) for w in words]) for words in (right, guess)]
    found = align(spans[0], spans[1], multiword[0], forms[0], spans[2], spans[3], multiword[1], forms[1])
    pairs = {guess[s]: right[g] for s, g in enumerate(found.tolist()) if g >= 0}

    def count(agree, counted=lambda word: True):
        same = sum(1 for s, g in pairs.items() if counted(g) and agree(g, s))
        return sum(map(counted, right)), sum(map(counted, guess)), same

    def head(g, s):
        return g.parent is None if s.parent is None else pairs.get(s.parent) is g.parent and g.parent is not None

    def arc(g, s):
        return head(g, s) and g.relation == s.relation

    def lemma(g, s):
        return g.lemma in ("_", s.lemma)

    def morphology(g, s):
        mine = [(c, c.relation, c.upos, c.feats) for c in g.children if c.relation in FUNCTION]
        other = [(pairs.get(c), c.relation, c.upos, c.feats) for c in s.children if c.relation in FUNCTION]
        return (g.upos, g.feats, mine) == (s.upos, s.feats, other)

    def content(word):
        return word.relation in CONTENT

    return {
        "tokens": (len(right_tokens), len(tokens), len(set(right_tokens) & set(tokens))),
        "sentences": (len(right_sentences), len(sentences), len(set(right_sentences) & set(sentences))),
        "words": count(lambda g, s: True),
        "upos": count(lambda g, s: g.upos == s.upos),
        "xpos": count(lambda g, s: g.xpos == s.xpos),
        "ufeats": count(lambda g, s: g.feats == s.feats),
        "alltags": count(lambda g, s: (g.upos, g.xpos, g.feats) == (s.upos, s.xpos, s.feats)),
        "lemmas": count(lemma),
        "uas": count(head),
        "las": count(arc),
        "clas": count(arc, content),
        "mlas": count(lambda g, s: arc(g, s) and morphology(g, s), content),
        "blex": count(lambda g, s: arc(g, s) and lemma(g, s), content),
    }


@pytest.mark.parametrize("seed", range(40))
def test_every_measure_is_what_its_definition_counts(seed):
    rng = random.Random(seed)
    text = "".join(rng.choice("ab") for _ in range(rng.randint(4, 16)))
    gold, output = (analysis(rng, text, rng.randint(1, len(text) // 2)) for _ in range(2))
    score = score_conll18(gold, output)
    counts = {name: dataclasses.astuple(getattr(score, name))[:3] for name in Conll18Score.NAMES}
    assert counts == measured(gold, output)


def longest_common(left, right):
    return max(
        size
        for size in range(min(len(left), len(right)) + 1)
        if any(
            [left[i] for i in a] == [right[j] for j in b]
            for a in combinations(range(len(left)), size)
            for b in combinations(range(len(right)), size)
        )
    )


@pytest.mark.parametrize("seed", range(30))
def test_words_of_a_multiword_token_are_aligned_by_a_longest_common_subsequence(seed):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, 3, rng.integers(1, 6)), rng.integers(0, 3, rng.integers(1, 6))
    spans = [(np.zeros(len(w), np.int64), np.full(len(w), 9), np.ones(len(w), np.bool_), w) for w in (left, right)]
    found = align(*spans[0], *spans[1])
    places = [(g, s) for s, g in enumerate(found.tolist()) if g >= 0]
    assert len(places) == longest_common(left.tolist(), right.tolist())
    assert all(left[g] == right[s] for g, s in places)
    assert places == sorted(places)
    assert len({g for g, _ in places}) == len(places)


def test_only_the_stretch_without_crossings_is_compared_by_forms():
    """A multiword token that crosses the end of another one draws its words in; words beyond are not touched."""
    starts, ends = np.array([0, 0, 2, 5]), np.array([2, 2, 5, 7])
    gold = starts, ends, np.array([True, True, False, False]), np.array([0, 1, 2, 3])
    output = np.array([0, 1, 1, 5]), np.array([1, 5, 5, 7]), np.array([False, True, True, False])
    assert align(*gold, *output, np.array([0, 1, 2, 3])).tolist() == [0, 1, 2, 3]
    assert align(*gold, *output, np.array([0, 3, 3, 1])).tolist() == [0, -1, -1, 3]


FRENCH = """# text = Il parle du chat.
1\tIl\til\tPRON\t_\tNumber=Sing\t2\tnsubj\t_\t_
2\tparle\tparler\tVERB\t_\tMood=Ind\t0\troot\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\tDefinite=Def\t5\tdet\t_\t_
5\tchat\tchat\tNOUN\t_\tNumber=Sing|Own=1\t2\tobl:arg\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

"""


def test_a_case_counted_by_hand():
    """The output leaves `du` whole and calls it an adposition of `chat`."""
    (gold,) = parse_conllu(FRENCH)
    output = gold.replace(
        words=("Il", "parle", "du", "chat", "."),
        heads=(2, 0, 4, 2, 2),
        deprels=("nsubj", "root", "case", "obl", "punct"),
        upos=("PRON", "VERB", "ADP", "NOUN", "PUNCT"),
        xpos=(),
        feats=("Number=Sing", "Mood=Ind", "_", "Number=Sing|Own=2", "_"),
        lemmas=("il", "parler", "de", "chat", "."),
        misc=("_", "_", "_", "SpaceAfter=No", "_"),
        extra_rows=(),
        deps=(),
    )
    score = score_conll18([gold], [output])
    assert score.tokens == Agreement(5, 5, 5)
    assert score.words == Agreement(6, 5, 4, 4), "du is one word here, two there: neither is found"
    assert (score.las.correct, score.lemmas.correct, score.ufeats.correct) == (4, 4, 4)
    assert score.clas == Agreement(3, 3, 3, 3)
    assert score.mlas == Agreement(3, 3, 2, 3), "chat lacks its function words"
    assert score.blex == Agreement(3, 3, 3, 3)
    assert round(score.las.f1, 2) == 72.73


def test_an_analysis_against_itself_is_right_throughout():
    trees = parse_conllu(FRENCH)
    assert set(score_conll18(trees, trees).to_json().values()) == {100.0}


def test_scores_add():
    trees = parse_conllu(FRENCH)
    other = [trees[0].replace(lemmas=("x",) * 6)]
    both = score_conll18(trees, trees) + score_conll18(trees, other)
    assert both.lemmas == Agreement(12, 12, 6, 12)
    assert both.headline == 100.0


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("\tchat\tchat", "\tchien\tchat", "sentence 1 continues with 'ien.' instead of 'at.'"),
        ("\t.\t.\tP", "\t..\t.\tP", "continues with '.' instead of ''"),
    ],
)
def test_another_text_is_refused(old, new, fault):
    with pytest.raises(DataError, match="differs from the gold standard") as caught:
        score_conll18(parse_conllu(FRENCH), parse_conllu(FRENCH.replace(old, new)))
    assert fault in str(caught.value)


@pytest.mark.parametrize("row", ["3-9", "4-5", "3-1"])
def test_a_range_that_does_not_fit_is_refused(row):
    trees = parse_conllu(FRENCH.replace("3-4\t", f"{row}\t"))
    with pytest.raises(DataError, match=r"sentence 1 of the output: the multiword token .* (does|is) not"):
        score_conll18(parse_conllu(FRENCH), trees)


def test_blanks_inside_of_words_do_not_count():
    gold, output = (lg.DependencyTree((number,), (0,), deprels=("root",)) for number in ("20\u00a0000", "20000"))
    assert score_conll18([gold], [output]).words.correct == 1


def test_text_of_a_treebank_is_that_of_its_tokens():
    trees = parse_conllu(FRENCH)
    assert raw_text(trees * 2) == "Il parle du chat. Il parle du chat.\n"
    assert raw_text([trees[0], trees[0].replace(comments=("# newdoc id = x",))]).count("\n\n") == 1
