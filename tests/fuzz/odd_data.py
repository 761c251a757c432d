"""Does odd but valid data break a learner or a parser?

    NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=… python tests/fuzz/odd_data.py [--only NAME] [--quick]

Every treebank of `BANKS` × every kind of model × every learner of it; what was learned is stored and loaded,
parses, lists, samples, obeys constraints, rates, and learns once more where it can. Each step gives a result or an
error in one sentence; anything else is a fault. With NUMBA_BOUNDSCHECK=1 an access out of the bounds of an array
in compiled code is one too.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import latentgram as lg
from latentgram.data.ngrams.counts import NGramCounts
from latentgram.kinds.kind import kind_of, named, recipe_of
from laws.cases import CASES, Case

LONG, DEEP = 300, 1000


def chain(depth: int, leaf: str = "(X a)") -> str:
    """A tree that is a chain of nodes with one child each."""
    return "(S " * depth + leaf + ")" * depth


def comb(words: int) -> str:
    """A tree that branches to the right only."""
    return "".join(f"(S (X w{i % 7}) " for i in range(words - 1)) + "(X a)" + ")" * (words - 1)


BANKS: dict[str, list[str]] = {
    "one tree": ["(S (NP (D the) (N cat)) (VP (V sleeps)))"],
    "one word": ["(S (X a))"],
    "one-word trees": ["(S (X a))", "(S (Y b))", "(T (X a))"],
    "unary chains": [chain(5), chain(20), "(S (S (X a) (Y b)))"],
    "long": [comb(LONG), comb(3)],
    "deep": [chain(DEEP), "(S (X a) (X b))"],
    "one label": ["(X (X a) (X (X b) (X c)))"] * 3,
    "all words unique": [f"(S (A a{i}) (B b{i}))" for i in range(20)],
    "all tags unique": [f"(S (A{i} a) (B{i} b))" for i in range(20)],
    "flat": ["(S " + " ".join(f"(X{i % 3} w{i})" for i in range(30)) + ")"] * 2,
}
QUICK = (
    "one tree",
    "one word",
    "one-word trees",
    "unary chains",
    "one label",
    "all words unique",
    "all tags unique",
)


def dependencies(trees: list[str]) -> list[lg.DependencyTree]:
    """The words of trees with heads: all under the first, but every third under the word before it.

    A chain of nodes over one word becomes a chain of as many words, each under the one before it.
    """
    found = []
    for text in trees:
        tree = lg.parse_tree(text)
        words, tags = tree.words, tree.tags
        heads = [0, *(i if i % 3 == 0 else 1 for i in range(1, len(words)))]
        if len(words) == 1:
            heads = list(range(text.count("(") - 1 or 1))
            words, tags = words * len(heads), tags * len(heads)
        names = tuple("root" if head == 0 else tag for head, tag in zip(heads, tags, strict=True))
        found.append(lg.DependencyTree(words, tuple(heads), deprels=names, upos=tags, xpos=tags))
    return found


def data_for(case: Case, trees: list[str]) -> Any:
    """A treebank in the form that a recipe reads."""
    kind, recipe = kind_of(case.model), recipe_of(case.model, case.learner)
    name = (recipe.reads or kind.reads).name
    phrases = lg.Treebank.of([lg.parse_tree(tree) for tree in trees])
    text = lg.Text.of(phrases.sentences())
    return {
        "phrases": lambda: phrases,
        "dependencies": lambda: lg.Treebank.of(dependencies(trees)),
        "text": lambda: text,
        "text or counts": lambda: text,
        "contexts": lambda: text,
        "tagged": phrases.sentences,
        "trees or tagged": lambda: lg.Treebank.of(dependencies(trees)),
        "n-grams": lambda: NGramCounts.of(text, order=3),
        "counts": lambda: NGramCounts.of(text, order=3),
    }[name]()


def uses(model: Any, trees: list[str], folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is done with a learned model."""
    path = folder / "odd.lg"
    kind = kind_of(model)
    yield "save", lambda: lg.save(model, path)
    yield "load", lambda: lg.load(path)
    gold: list[Any] = (
        dependencies(trees) if kind.reads.name == "dependencies" else [lg.parse_tree(t) for t in trees]
    )
    sentences = [tree.sentence for tree in gold] + [lg.Sentence(("new",), xpos=("NEW",), upos=("NEW",))]
    if not kind.parser:
        for name in ("tag", "logprob"):
            if hasattr(model, name):
                items = gold if kind.reads.name == "dependencies" and name != "tag" else sentences
                yield name, lambda name=name, items=items: [getattr(model, name)(item) for item in items[:3]]
        return
    parser = lg.Parser(model)
    yield "parse", lambda: list(parser.parse_many(sentences))
    yield "words", lambda: list(parser.parse_many([s.without_tags() for s in sentences]))
    yield "nbest", lambda: parser.nbest(sentences[0], 5)
    yield "sample", lambda: parser.sample(sentences[0], 3)
    yield "score", lambda: [parser.score(tree) for tree in gold[:3]]
    yield "marginals", lambda: parser.marginals(sentences[0])
    length = len(sentences[0])
    for known in ({"spans": [(0, length)]}, {"forbidden_spans": [(0, max(1, length - 1))]}, {"tags": {0: "NEW"}},
                  {"heads": {1: 0}}, {"forbidden_heads": {1: 0}}):  # fmt: skip
        yield f"constraints {known}", lambda known=known: parser.parse(sentences[0], **known)
    if kind.update:
        yield "update", lambda: named(kind.update)(model, gold[:2])


def attempt(case: Case, name: str, folder: Path) -> Iterator[tuple[str, str]]:
    """What is wrong with one case on one treebank: the step and the error."""
    trees = BANKS[name]
    try:
        model = lg.fit(kind_of(case.model).model_class(), data_for(case, trees), by=case.by)
    except lg.LatentgramError:
        return
    except Exception as error:
        yield "fit", told(error)
        return
    for step, use in uses(model, trees, folder):
        try:
            use()
        except lg.LatentgramError:
            pass
        except Exception as error:
            yield step, told(error)


def told(error: Exception) -> str:
    """An error and where it came from."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "latentgram" in f.filename]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__}: {error} ({place})"[:200]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases with this in their names")
    parser.add_argument("--quick", action="store_true", help="the small treebanks only")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    started, faults, cases = time.process_time(), Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            for name in QUICK if asked.quick else BANKS:
                if asked.only not in f"{case} {name}":
                    continue
                cases += 1
                for step, error in attempt(case, name, Path(folder)):
                    print(f"{case}, {name}, {step}: {error}", flush=True)
                    faults[error] += 1
    seconds = time.process_time() - started
    print(f"{cases} pairs of a recipe and a treebank, {sum(faults.values())} faults, {seconds:.0f} s")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
