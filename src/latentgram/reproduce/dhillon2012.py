"""Table 1 of Dhillon, Rodu, Collins, Foster and Ungar (2012) on any dependency treebanks.

A base parser of the first and of the second order, and rerankers of its n best trees: by its score and the paper's
two templates, and with log-probabilities of generative models besides. Words that are not punctuation count. Lists
for learning are jackknifed. Every choice was made on development parts; the test part is scored only when asked
for. Outputs of several treebanks are compared together by the paired bootstrap.

Literal: the lists (n = 50, three-fold jackknifing), the two templates, the averaged perceptron (rows named so),
Algorithm 1 (rows "as printed"; p̂ that is no probability has a floor of ours, and none in those of log |p̂|),
tags by ten-way jackknifing with `tags` = 10, sentences without punctuation with `printed`, which also leaves out
all rows that the paper has not. Ours: features and decoder of the base parser; its learner, MIRA with one rival
(k-best with `best`, and in a row of its own); the reranker by margins, and the score of the base parser in all
rerankers but those of "templates alone"; features brought to a common spread; U from the treebank, and from raw
text with `vectors`; all rows with other models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from latentgram.arcs.mira import learn_arcs
from latentgram.arcs.nbest import NBestList, nbest_lists
from latentgram.arcs.reranker import BASE
from latentgram.arcs.reranking import (
    RatedLists,
    Ways,
    jackknifed_lists,
    learn_generative,
    train_reranker,
)
from latentgram.arcs.settings import MIRAArcs, MIRAReranker
from latentgram.arrays import Ints
from latentgram.data.dependencies import DependencyTree
from latentgram.data.treebank import Treebank
from latentgram.evaluate.attachment import Punctuation, attachment_rows, counted_words
from latentgram.evaluate.compare import Comparison, attachment_uas, paired_bootstrap
from latentgram.kinds.kind import Context
from latentgram.kinds.learners import Spectral
from latentgram.kinds.word_space import ClusterSpace
from latentgram.parallel import engine_for
from latentgram.progress import Progress, Silent
from latentgram.reproduce.experiment import Results, read_dependencies, read_part, table, timed
from latentgram.tagger.learning import jackknifed, learn_tagger
from latentgram.tagger.model import Tagger
from latentgram.tagger.settings import GradientTagger
from latentgram.view.plots import line_plot

Rows = Ints

LATENT = ("shag-spectral", "shag-words", "shag-words-random", "lexical", "latent-tree", "latent-tree-words")
SYSTEMS: dict[str, tuple[str, ...]] = {
    "base features": (),
    "+ log p̂ as printed": ("latent-tree-printed",),
    "+ log p̂ corrected": ("latent-tree-tags",),
    "+ log p̂ corrected, valency": ("latent-tree-spectral",),
    "+ log p by EM, valency": ("latent-tree",),
    "+ log P of a SHAG, spectral": ("shag-spectral",),
    "+ log P of a SHAG, EM": ("shag",),
    "+ latent and lexical": LATENT,
    "+ log P, top down": ("top-down",),
    "+ all generative": (*LATENT, "top-down"),
}
"""The rerankers: the generative models of each; all have the base score and the templates."""
RIVALS = 5
KBEST = f"base, {RIVALS}-best MIRA"
"""The base parser learned with so many rivals of each sentence, without reranking."""
ALONE = "templates alone"
"""How rerankers that do not see the score of the base parser are named."""
PERCEPTRON: dict[str, tuple[str, ...]] = {
    f"{ALONE}, perceptron": (),
    f"{ALONE} + log p̂ as printed, perceptron": ("latent-tree-printed",),
    "base features, perceptron": (),
    "+ log p̂ as printed, perceptron": ("latent-tree-printed",),
    f"{ALONE} + log |p̂| as printed, perceptron": ("latent-tree-absolute",),
    "+ log |p̂| as printed, perceptron": ("latent-tree-absolute",),
}
"""Rerankers by the averaged perceptron, as in the paper; which does not say whether they see the base score."""
PRINTED_WORDS: dict[str, tuple[str, ...]] = {
    f"{ALONE} + log p̂ of words as printed, perceptron": ("latent-tree-printed-words",),
    "+ log p̂ of words as printed, perceptron": ("latent-tree-printed-words",),
    f"{ALONE} + log |p̂| of words as printed, perceptron": ("latent-tree-absolute-words",),
    "+ log |p̂| of words as printed, perceptron": ("latent-tree-absolute-words",),
}
WORDS: dict[str, tuple[str, ...]] = {
    **PRINTED_WORDS,
    "+ log p̂ of words, corrected": ("latent-tree-corrected-words",),
    "+ log p̂ corrected, valency, U of words": ("latent-tree-vectors",),
}
"""Rerankers with word vectors from raw text, where there are some."""
PAPER = {
    1: {"base": (90.8, 37.2), "base features": (91.3, 37.5), "+ log p̂ as printed": (91.7, 37.8)},
    2: {"base": (91.8, 40.6), "base features": (92.4, 41.0), "+ log p̂ as printed": (92.7, 41.3)},
}
"""Table 1 as printed: accuracy and complete on section 23 of the Penn Treebank."""
PUNCTUATION: dict[str, Punctuation] = {"wsj-sample": "ptb"}
"""Which words are left out, where it is not those with the tag PUNCT."""
SIZES = (1, 2, 5, 10, 20, 50)


@dataclass(frozen=True)
class Order:
    """What one treebank gave in one order: by part and system the rows of `attachment_rows`."""

    treebank: str
    order: int
    rows: dict[str, dict[str, Rows]]
    oracle: dict[str, dict[int, Rows]]
    """By part and length of the lists."""
    weights: dict[str, dict[str, float]]
    seconds: dict[str, float]


@dataclass(frozen=True)
class Setup:
    """How the experiment is run."""

    count: int
    """The length of the lists."""
    folds: int
    """Parts for the jackknifing of the lists."""
    best: int = 1
    """Rivals of a sentence in the base parser's MIRA."""
    tags: int = 0
    """Parts for the jackknifing of the tags of the training part; 0 for gold tags everywhere."""
    vectors: ClusterSpace | None = None
    """Vectors of words from raw text."""
    printed: bool = False
    """Whether sentences lose their punctuation, and there are no rows but the paper's."""

    @property
    def systems(self) -> dict[str, tuple[str, ...]]:
        """The rerankers, by name."""
        words = {} if self.vectors is None else PRINTED_WORDS if self.printed else WORDS
        return {**({} if self.printed else SYSTEMS), **PERCEPTRON, **words}

    @property
    def best_system(self) -> str:
        """The one that is compared over all treebanks: the last of SYSTEMS, or of the paper's rows."""
        return list(self.systems)[-1] if self.printed else "+ all generative"

    @property
    def ways(self) -> Ways:
        """How models with word vectors are learned."""
        if self.vectors is None:
            return {}
        words = Spectral(symbols="forms", valency=0, vectors=self.vectors)
        return {
            "latent-tree-printed-words": ("LatentTree", replace(words, form="printed")),
            "latent-tree-absolute-words": ("LatentTree", replace(words, form="printed", absolute=True)),
            "latent-tree-corrected-words": ("LatentTree", words),
            "latent-tree-vectors": ("LatentTree", Spectral(vectors=self.vectors)),
        }

    def reranker(self, name: str) -> MIRAReranker:
        """The learner of a reranker."""
        return MIRAReranker(count=self.count, rule="perceptron" if name.endswith("perceptron") else "margin")


def reproduce(
    folders: Sequence[Path],
    orders: Sequence[int],
    setup: Setup,
    test: bool,
    progress: Progress,
    *,
    n_jobs: int = 1,
) -> Results:
    """Run everything; workers share the treebanks and orders."""
    parts = ("dev", "test") if test else ("dev",)
    pairs = list(product(folders, orders))
    inner = progress if n_jobs == 1 else Silent()
    runs = []
    for each in engine_for(n_jobs).map(lambda pair: run(*pair, setup, parts, inner), pairs):
        runs.append(each)
        progress.step("treebanks and orders", len(runs), len(pairs))
    figures: dict[str, object] = {
        "setup": {name: getattr(setup, name) for name in ("count", "folds", "best", "tags", "printed")},
        "paper": {str(order): printed for order, printed in PAPER.items()},
        "runs": [_as_json(each) for each in runs],
        "together": {
            part: {str(order): together(runs, part, order, setup.best_system).to_json() for order in orders}
            for part in parts
        },
    }
    plots = {
        f"oracle-{part}.svg": line_plot(
            {
                f"{each.treebank}, order {each.order}": [
                    (float(k), uas(rows)) for k, rows in each.oracle[part].items()
                ]
                for each in runs
            },
            title=f"The best tree of a list ({part})",
            x_label="length of the list",
            y_label="UAS",
        )
        for part in parts
    }
    return Results(figures, page(runs, parts, orders, setup.best_system), plots)


def run(folder: Path, order: int, setup: Setup, parts: Sequence[str], progress: Progress) -> Order:
    """All systems of one order on one treebank."""
    rule = PUNCTUATION.get(folder.name, "upos")

    def read(part: str) -> Treebank[DependencyTree]:
        trees = read_part(folder, f"{part}.conllu", read_dependencies)
        return without_punctuation(trees, rule) if setup.printed else trees

    train, _ = read("train").projectivise()
    context = Context(progress=progress)
    seconds = {}
    tagger = None
    if setup.tags:
        tagger, seconds["tagger"] = timed(lambda: learn_tagger(train, GradientTagger(), context))
        train, seconds["jackknifed tags"] = timed(
            partial(jackknifed, train, GradientTagger(), context, setup.tags)
        )
    models = sorted({name for names in setup.systems.values() for name in names})
    learner, count, ways = MIRAArcs(order=order, best=setup.best), setup.count, setup.ways
    rated, seconds["jackknifed lists"] = timed(
        lambda: jackknifed_lists(
            train, learner, models, count=count, folds=setup.folds, context=context, ways=ways
        )
    )
    base, seconds["base parser"] = timed(lambda: learn_arcs(train, learner, context))
    many, seconds[KBEST] = timed(lambda: learn_arcs(train, replace(learner, best=RIVALS), context))
    scorers = learn_generative(train, models, context, ways)
    rerankers = {}
    unscored = RatedLists(rated.lists, {**rated.ratings, BASE: [np.zeros(len(each)) for each in rated.lists]})
    for name, names in setup.systems.items():
        alone, models_of = name.startswith(ALONE), {each: scorers[each] for each in names}
        reranker = train_reranker(unscored if alone else rated, base, models_of, setup.reranker(name))
        counts = np.array([feature != BASE or not alone for feature in reranker.names])
        rerankers[name] = replace(reranker, weights=reranker.weights * counts)
    rows: dict[str, dict[str, Rows]] = {}
    oracle: dict[str, dict[int, Rows]] = {}
    for part in parts:
        gold = read(part)
        seen = gold if tagger is None else retagged(gold, tagger)
        lists, seconds[f"{part} lists"] = timed(partial(nbest_lists, base, seen, count))
        ratings = RatedLists.of(lists, scorers)
        rows[part] = {
            name: _rows(gold, trees, [0] * len(gold), rule)
            for name, trees in (("base", lists), (KBEST, nbest_lists(many, seen, 2)))
        }
        for name, reranker in rerankers.items():
            features = ratings.dense(reranker.names)
            best = [int(np.argmax(reranker.scored(*pair))) for pair in zip(lists, features, strict=True)]
            rows[part][name] = _rows(gold, lists, best, rule)
        oracle[part] = {
            size: _rows(gold, lists, [int(np.argmax(nbest.right[:size])) for nbest in lists], rule)
            for size in SIZES
            if size <= count
        }
    shown = {name: reranker.weights_by_name() for name, reranker in rerankers.items()}
    return Order(folder.name, order, rows, oracle, shown, seconds)


def without_punctuation(trees: Iterable[DependencyTree], rule: Punctuation) -> Treebank[DependencyTree]:
    """Trees without the words that do not count, whose dependents go to the next head above that does.

    Where the root goes, the first of its dependents is the root of the others.

    >>> tree = DependencyTree(("(", "yes", ",", "no"), (2, 3, 0, 3), upos=("PUNCT", "INTJ", "PUNCT", "INTJ"))
    >>> without_punctuation([tree], "upos")[0].heads
    (0, 1)
    """
    bank = []
    for place, tree in enumerate(trees, 1):
        kept = np.flatnonzero(counted_words(tree, rule, place)).tolist()
        if not kept:
            continue
        number = {word + 1: new for new, word in enumerate(kept, 1)}
        heads = []
        for word in kept:
            head = tree.heads[word]
            while head and head not in number:
                head = tree.heads[head - 1]
            heads.append(number.get(head, 0))
        root = heads.index(0) + 1
        heads = [head or (0 if word == root else root) for word, head in enumerate(heads, 1)]
        words, deprels, upos, xpos, feats = (
            tuple(column[word] for word in kept)
            for column in (tree.words, tree.deprels, tree.upos, tree.xpos, tree.feats)
        )
        bank.append(DependencyTree(words, tuple(heads), deprels, upos, xpos, feats=feats))
    return Treebank.of(bank)


def retagged(trees: Treebank[DependencyTree], tagger: Tagger) -> Treebank[DependencyTree]:
    """Trees with the tags of a tagger in place of their own."""
    tagged = tagger.annotate(trees.sentences())
    return Treebank.of(
        tree.replace(xpos=sentence.xpos or (), upos=sentence.upos or ())
        for tree, (sentence, _) in zip(trees, tagged, strict=True)
    )


def _rows(
    gold: Treebank[DependencyTree], lists: Sequence[NBestList], chosen: Sequence[int], punctuation: Punctuation
) -> Rows:
    """Counted words and right heads of the chosen trees."""
    trees = [
        tree.replace(heads=tuple(nbest.heads[place].tolist()))
        for tree, nbest, place in zip(gold, lists, chosen, strict=True)
    ]
    return attachment_rows(gold, trees, punctuation=punctuation)


def uas(rows: Rows) -> float:
    """Right heads in percent."""
    return float(100 * rows[:, 1].sum() / rows[:, 0].sum())


def complete(rows: Rows) -> float:
    """Sentences without a wrong head in percent."""
    return float(100 * (rows[:, 1] == rows[:, 0]).mean())


def together(runs: Sequence[Order], part: str, order: int, system: str) -> Comparison:
    """The base parser against a reranker, over all treebanks."""
    chosen = [each for each in runs if each.order == order]
    first, second = (np.concatenate([each.rows[part][name] for each in chosen]) for name in ("base", system))
    return paired_bootstrap(first, second, attachment_uas)


def _as_json(run: Order) -> dict[str, object]:
    def systems(rows: Mapping[str, Rows]) -> dict[str, object]:
        base = rows["base"]
        return {
            name: {
                "uas": uas(each),
                "complete": complete(each),
                "against_base": paired_bootstrap(base, each, attachment_uas).to_json(),
            }
            for name, each in rows.items()
        }

    return {
        "treebank": run.treebank,
        "order": run.order,
        "systems": {part: systems(rows) for part, rows in run.rows.items()},
        "oracle": {part: {str(k): uas(rows) for k, rows in sizes.items()} for part, sizes in run.oracle.items()},
        "weights": run.weights,
        "seconds": run.seconds,
    }


def page(runs: Sequence[Order], parts: Sequence[str], orders: Sequence[int], system: str) -> str:
    """All of it as Markdown."""
    lines = ["# Dhillon, Rodu, Collins, Foster and Ungar (2012)", ""]
    lines += [
        "Unlabelled attachment without punctuation (accuracy) and sentences without a wrong head (complete), in",
        "percent; p by the paired bootstrap against the base parser of the same order.",
        "",
    ]
    for run in runs:
        for part in parts:
            lines += [f"## {run.treebank}, order {run.order}, {part}", ""]
            base = run.rows[part]["base"]
            cells = []
            for name, rows in run.rows[part].items():
                change = 100 * (uas(rows) - uas(base)) / (100 - uas(base))
                chance = "" if name == "base" else f"{paired_bootstrap(base, rows, attachment_uas).p_value:.4f}"
                printed = PAPER[run.order].get(name.removesuffix(", perceptron").replace("|p̂|", "p̂"))
                shown = f"{printed[0]} / {printed[1]}" if printed else ""
                error = "" if name == "base" else f"{-change:+.1f} %"
                cells.append([name, f"{uas(rows):.2f}", f"{complete(rows):.2f}", error, chance, shown])
            lines += table(["system", "accuracy", "complete", "error", "p", "paper"], cells)
            best = ", ".join(f"{k}: {uas(rows):.2f}" for k, rows in run.oracle[part].items())
            lines += [f"Best tree of a list of k: {best}.", ""]
        spent = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in run.seconds.items())
        lines += [f"Processor time: {spent}.", ""]
    lines += [f"## All treebanks together: base parser against the reranker {system!r}", ""]
    for part in parts:
        for order in orders:
            comparison = together(runs, part, order, system)
            less = 100 * comparison.difference / (100 - comparison.first)
            lines.append(f"- {part}, order {order}: {comparison}; error {-less:+.1f} %")
    return "\n".join(lines) + "\n"
