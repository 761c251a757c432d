"""How the model files of this folder were written: by latentgram 0.1.0, before its modules were reorganised.

They stand for the files that people have, so they are not to be written again: with a later version this script
writes files of that version, which prove nothing about old ones. It is kept to say what is in the files, and to
add files of a kind that is new, by name:

    python tests/store/old_files/write_files.py FOLDER [NAME…]

writes the files (all, or those named) and their part of `expected.json` to a folder. All of them are learned from
the generated demo treebank, from short sentences with few different tags, which keeps them small.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import latentgram as lg

TAGS = {"DT", "NN", "NNS", "VBD", "VBZ", "IN", ".", "JJ", "NNP", "RB"}
LONGEST = 9
FORMS = 3
"""Different words of a tag; others are replaced by one of them."""


@cache
def pairs(size: int, seed: int = 0, longest: int = LONGEST) -> tuple[list[lg.Tree], list[lg.DependencyTree]]:
    """The first short demo sentences with few tags and few words, as phrases and as arcs."""
    drawn = zip(lg.demo_treebank(1500, seed=seed), lg.demo_dependencies(1500, seed=seed), strict=True)
    kept = [pair for pair in drawn if len(pair[0].words) <= longest and set(pair[0].tags) <= TAGS][:size]
    forms: dict[str, list[str]] = {tag: [] for tag in TAGS}

    def simple(word: str, tag: str) -> str:
        known = forms[tag]
        if word not in known and len(known) < FORMS:
            known.append(word)
        return word if word in known else known[sum(map(ord, word)) % FORMS]

    def simpler(tree: lg.Tree) -> lg.Tree:
        if tree.word is not None:
            return lg.Tree(tree.label, word=simple(tree.word, tree.label))
        return lg.Tree(tree.label, tuple(map(simpler, tree.children)))

    trees = [simpler(tree) for tree, _ in kept]
    return trees, [arcs.replace(words=tree.words) for tree, (_, arcs) in zip(trees, kept, strict=True)]


def phrases(size: int = 25, seed: int = 0) -> Any:
    """A treebank of phrases."""
    return lg.Treebank.of(pairs(size, seed)[0])


def arcs(size: int = 25, seed: int = 0) -> Any:
    """A treebank of arcs."""
    return lg.Treebank.of(pairs(size, seed)[1])


def few_arcs(size: int = 5, longest: int = 7, relations: tuple[str, ...] = ("root",)) -> Any:
    """A treebank of few arcs with few relations; others become `dep`."""
    return lg.Treebank.of(
        tree.replace(deprels=tuple(name if name in relations else "dep" for name in tree.deprels))
        for tree in pairs(size, 0, longest)[1]
    )


def words(size: int = 40) -> lg.Text:
    """The words of short sentences."""
    return lg.Text.of(phrases(size).sentences())


def tagged(size: int = 40) -> Any:
    """Short sentences with their tags."""
    return phrases(size).sentences()


def parser(model: type, data: Any, by: Any, **options: Any) -> lg.Parser:
    """A parser with a model learned from data."""
    return lg.Parser(lg.fit(model, data, by=by), **options)


def dictionary(least: int = 2) -> lg.TagDictionary:
    """The tags of words that come often enough."""
    return lg.TagDictionary.of(tagged(), at_least=least)


def ngrams(**options: Any) -> lg.NGramCounts:
    """Counts of trigrams."""
    return lg.NGramCounts.of(words(), order=3, **options)


def tagger() -> lg.Tagger:
    """A small tagger."""
    return lg.fit(lg.Tagger, arcs(6), by=lg.Perceptron(passes=2, frequent=9))


def with_tagger() -> lg.Parser:
    """A parser that takes raw text."""
    tokeniser = lg.Tokeniser.of(arcs().sentences())
    return parser(lg.SHAG, arcs(), lg.Counting(symbols="upos"), tagger=tagger(), tokeniser=tokeniser)


def first_order() -> lg.ArcFactored:
    """A small parser of the first order."""
    return lg.fit(lg.ArcFactored, few_arcs(), by=lg.MIRA(order=1, passes=2, bits=10, folds=2))


def product_with_arcs() -> lg.Parser:
    """A grammar times the scores of arcs."""
    shag = lg.fit(lg.SHAG, arcs(), by=lg.Spectral(symbols="upos", states=2))
    return lg.Parser(shag * lg.ArcWeights(first_order()) ** 2)


def reranker_by_hand() -> lg.Reranker:
    """A reranker with a rater of each kind that can be stored, and weights that nobody learned."""
    learned = lg.fit(lg.Reranker, few_arcs(2, longest=4), by=lg.Perceptron(raters="templates,lexical", **LISTS))
    trees = tuple(
        lg.fit(lg.LatentTree, arcs(), by=lg.EM(symbols="upos", states=2, valency=1, iterations=3, seed=seed))
        for seed in range(2)
    )
    scorers = (
        lg.fit(lg.SHAG, arcs(), by=lg.Counting(symbols="upos")),
        trees,
        lg.fit(lg.TopDown, arcs(8), by=lg.Gradient(symbols="upos", passes=1, least=12)),
    )
    names = ("base", "shag", "latent-tree", "top-down modifiers", "top-down ends")
    weights = learned.weights[:1].repeat(len(names))
    changed: dict[str, Any] = {"names": names, "weights": weights, "scorers": scorers, "count": 6}
    return dataclasses.replace(learned, **changed)


def fast_tagger() -> lg.NGramTagger:
    """Tags remembered by n-grams."""
    hmm = lg.fit(lg.HMM, tagged(), by=lg.Counting())
    return lg.remember_tags(hmm, lg.fit(lg.BackoffNGram, ngrams(), by=lg.Counting()))


LATENT: dict[str, Any] = {"states": 2, "rare": 2}
HEADS: dict[str, Any] = {"symbols": "upos", "states": 2}
LISTS: dict[str, Any] = {"order": 1, "passes": 1, "folds": 2, "count": 4}

FILES: dict[str, Callable[[], Any]] = {
    # Grammars of phrases.
    "lpcfg_counting": lambda: parser(lg.LPCFG, phrases(60), lg.Counting(rare=2)),
    "lpcfg_spectral": lambda: parser(lg.LPCFG, phrases(), lg.Spectral(**LATENT)),
    "lpcfg_em": lambda: parser(lg.LPCFG, phrases(), lg.EM(iterations=3, **LATENT)),
    "lpcfg_clustering": lambda: parser(lg.LPCFG, phrases(), lg.Clustering(iterations=2, **LATENT)),
    "lpcfg_bare": lambda: lg.fit(lg.LPCFG, phrases(60), by=lg.Counting(horizontal=1, rare=2)),
    "lpcfg_heads": lambda: parser(
        lg.LPCFG, phrases(60), lg.Counting(direction="head", horizontal=1, vertical=2, rare=1)
    ),
    "lpcfg_heads_latent": lambda: parser(lg.LPCFG, phrases(), lg.Clustering(direction="head", **LATENT)),
    "ensemble_combining": lambda: parser(lg.Ensemble, phrases(), lg.Combining(members=2, iterations=1, **LATENT)),
    "chart_crf_gradient": lambda: parser(
        lg.ChartCRF, phrases(), lg.Gradient(folds=2, passes=2, step=0.1, bits=12, tagger_up_to=0, **LATENT)
    ),
    # Parsers with more than a model.
    "parser_calibrated": lambda: lg.calibrate(
        parser(lg.LPCFG, phrases(60), lg.Counting(rare=2)), phrases(30, seed=1)
    ),
    "parser_calibrated_arcs": lambda: lg.calibrate(
        parser(lg.SHAG, arcs(), lg.Counting(symbols="upos")), arcs(30, seed=1)
    ),
    "parser_brackets": lambda: parser(
        lg.LPCFG,
        phrases(),
        lg.EM(iterations=2, **LATENT),
        decoder=lg.Brackets("recall", labelled=False),
        pruning=lg.Pruning(threshold=1e-4, small_states=2, precision="float64"),
    ),
    "parser_goodman": lambda: parser(
        lg.LPCFG, phrases(), lg.Clustering(iterations=1, **LATENT), decoder=lg.Goodman(intermediate=0.5)
    ),
    "parser_max_rule": lambda: parser(lg.LPCFG, phrases(), lg.Spectral(**LATENT), decoder=lg.MaxRule()),
    "parser_viterbi": lambda: parser(lg.LPCFG, phrases(60), lg.Counting(rare=2), decoder=lg.Viterbi()),
    "parser_mbr": lambda: parser(
        lg.SHAG, arcs(12), lg.Counting(symbols="upos", memory="none"), decoder=lg.MBR("sum", 1e-4)
    ),
    "parser_with_tagger": with_tagger,
    # Head automata.
    "shag_counting": lambda: parser(lg.SHAG, arcs(), lg.Counting()),
    "shag_spectral": lambda: parser(lg.SHAG, arcs(), lg.Spectral(**HEADS)),
    "shag_em": lambda: parser(lg.SHAG, arcs(), lg.EM(iterations=3, **HEADS)),
    "shag_clustering": lambda: parser(lg.SHAG, arcs(), lg.Clustering(**HEADS)),
    "shag_words": lambda: parser(lg.SHAG, arcs(102), lg.Counting(symbols="words")),
    "shag_bare": lambda: lg.fit(lg.SHAG, arcs(12), by=lg.Spectral(symbols="xpos", states=2)),
    "lexical_shag_counting": lambda: parser(lg.LexicalSHAG, arcs(8), lg.Counting(), decoder=lg.Viterbi()),
    "product_shag_spectral": lambda: parser(lg.ProductSHAG, arcs(6), lg.Spectral(**HEADS)),
    "product_shag_em": lambda: parser(lg.ProductSHAG, arcs(), lg.EM(iterations=3, lexical=0.0, **HEADS)),
    "product_shag_clustering": lambda: parser(lg.ProductSHAG, arcs(), lg.Clustering(lexical=0.0, **HEADS)),
    "product_shag_arcs": product_with_arcs,
    "arc_distance_counting": lambda: lg.fit(lg.ArcDistance, arcs(), by=lg.Counting()),
    # Scores of arcs.
    "arc_factored_mira": lambda: parser(
        lg.ArcFactored,
        few_arcs(relations=("root", "det", "punct")),
        lg.MIRA(order=2, passes=2, bits=10, folds=2),
    ),
    "arc_factored_mbr": lambda: lg.Parser(first_order(), decoder=lg.MBR()),
    "reranker_perceptron": lambda: parser(
        lg.Reranker,
        few_arcs(2, longest=4),
        lg.Perceptron(raters="templates,lexical", **LISTS),
    ),
    "reranker_by_hand": reranker_by_hand,
    # Models of given trees, words and tags.
    "latent_tree_em": lambda: lg.fit(
        lg.LatentTree, arcs(), by=lg.EM(symbols="upos", states=2, iterations=5, valency=1)
    ),
    "latent_tree_spectral": lambda: lg.fit(lg.LatentTree, arcs(), by=lg.Spectral(states=3, valency=1)),
    "top_down_gradient": lambda: lg.fit(lg.TopDown, arcs(10), by=lg.Gradient(symbols="upos", passes=2, least=6)),
    "tagger_perceptron": tagger,
    "word_vectors_spectral": lambda: lg.fit(lg.WordVectors, words(), by=lg.Spectral(states=4, least=0.0)),
    # Sequences.
    "backoff_ngram_counting": lambda: lg.fit(lg.BackoffNGram, ngrams(), by=lg.Counting()),
    "backoff_ngram_failure": lambda: lg.fit(lg.BackoffNGram, ngrams(cutoff=2), by=lg.Counting(reading="failure")),
    "backoff_ngram_epsilon": lambda: lg.fit(lg.BackoffNGram, ngrams(cutoff=2), by=lg.Counting(reading="epsilon")),
    "backoff_ngram_classes": lambda: lg.fit(
        lg.BackoffNGram, ngrams(cutoff=2, dictionary=dictionary()), by=lg.Counting()
    ),
    "hmm_counting": lambda: lg.fit(
        lg.HMM, tagged(), by=lg.Counting(order=3, transition_prior=0.1, emission_prior=0.01)
    ),
    "hmm_em": lambda: lg.fit(lg.HMM, words(), by=lg.EM(states=3, iterations=5)),
    "hmm_em_dictionary": lambda: lg.fit(lg.HMM, words(), by=lg.EM(dictionary=dictionary(1), iterations=3)),
    "hmm_variational": lambda: lg.fit(lg.HMM, ngrams(), by=lg.Variational(states=3, iterations=3)),
    "operator_automaton_em": lambda: lg.fit(lg.OperatorAutomaton, words(), by=lg.EM(states=2, iterations=3)),
    "operator_automaton_counting": lambda: lg.fit(lg.OperatorAutomaton, tagged(3), by=lg.Counting()),
    "operator_automaton_spectral": lambda: lg.fit(lg.OperatorAutomaton, words(), by=lg.Spectral(states=3)),
    "operator_automaton_clustering": lambda: lg.fit(lg.OperatorAutomaton, words(), by=lg.Clustering(states=3)),
    "ngram_tagger": fast_tagger,
    "ngram_counts": ngrams,
    "ngram_counts_classes": lambda: ngrams(cutoff=2, dictionary=dictionary()),
    # Data and rules.
    "tag_dictionary": dictionary,
    "text": lambda: words(20),
    "tokeniser": lambda: lg.Tokeniser.of(tagged()),
    "binarisation": lambda: lg.fit(lg.LPCFG, phrases(), by=lg.Counting(direction="head", rare=1)).binarisation,
    "rare_words": lambda: lg.fit(lg.LPCFG, phrases(), by=lg.Counting(rare=1)).rare_words,
    "alphabet": lambda: lg.Alphabet.of(TAGS),
}
"""What each file holds."""


def main() -> None:
    """Write files and what they say."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from test_old_files import answers, classes_in

    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(FILES)
    table = folder / "expected.json"
    expected = json.loads(table.read_text("utf-8")) if table.exists() else {}
    for name in names:
        path = folder / f"{name}.lg"
        lg.save(FILES[name](), path)
        value = lg.load(path)
        expected[path.name] = {
            "kind": type(value).__name__,
            "classes": sorted(classes_in(value)),
            "answers": answers(value),
        }
        print(f"{path.name} {path.stat().st_size:,}", flush=True)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(expected[name])}" for name in sorted(expected))
    table.write_text(f"{{\n{rows}\n}}\n", "utf-8")


if __name__ == "__main__":
    main()
