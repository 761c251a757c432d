"""`rare="auto"`: the threshold of rare words follows the data, for every model that has the setting."""

from __future__ import annotations

from collections import Counter as Count
from math import log

import pytest

import latentgram as lg
from latentgram.data.tree import Tree
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import PHRASES, kinds, recipe_of
from latentgram.kinds.settings import defaults_of
from latentgram.learn.rare_threshold import choose_threshold


def test_words_that_tell_their_tags_are_kept_and_endings_that_do_are_used() -> None:
    # Every word comes twelve times with a tag that its form does not show: hiding it foretells less.
    letters = [chr(97 + i) for i in range(26)]
    telling = [Tree("S", (Tree(f"T{i % 7}", word=f"w{letters[i // 26]}{letters[i % 26]}"),)) for i in range(300)]
    assert choose_threshold([tree for tree in telling for _ in range(12)], (1, 8)) == 1
    # No word comes twice and its ending tells the tag: without signatures nothing is foretold.
    hapax = [
        Tree("S", (Tree("X", word="x"), Tree(ending.upper(), word=f"w{i}{ending}")))
        for i in range(100)
        for ending in ("ing", "ed", "s")
    ]
    assert choose_threshold(hapax, (0, 1)) == 1


def _pair(word: str, head_first: bool) -> lg.DependencyTree:
    """Two words of tags X and Y or Z; the word of tag X goes with a head of tag Y or Z."""
    return lg.DependencyTree((word, "h"), (2, 0), xpos=("X", "Y" if head_first else "Z"))


def test_of_dependencies_words_are_kept_that_tell_of_their_heads() -> None:
    telling = [_pair(f"w{i}", i % 2 == 0) for i in range(50) for _ in range(6)]
    assert choose_threshold(telling, (0, 8)) == 0
    # Of each word the first half shows one head and the second the other: to trust it foretells less.
    misleading = [_pair(f"w{i}", (i + half) % 2 == 0) for i in range(100) for half in (0, 1)]
    assert choose_threshold(misleading, (0, 8)) == 8


def test_the_sum_for_heads_is_that_of_the_definition() -> None:
    """By counters, word by word: log p(tag of the head | symbol, tag) of one half given the other."""
    bank = list(lg.demo_dependencies(40, seed=3))
    halves = [bank[0::2], bank[1::2]]

    def foretold(known: list[lg.DependencyTree], new: list[lg.DependencyTree], threshold: int) -> float:
        seen = Count(word for tree in known for word in tree.words)

        def events(trees: list[lg.DependencyTree]) -> list[tuple[str, str | None, str]]:
            return [
                (tag, word if seen[word] > threshold else None, tree.xpos[head - 1] if head else "root")
                for tree in trees
                for word, tag, head in zip(tree.words, tree.xpos, tree.heads, strict=True)
            ]

        given = events(known)
        # A tag met nowhere has the prior alone; there are as many outcomes as tags of both halves, and the root.
        outcomes = {tag for tree in bank for tag in tree.xpos} | {"root"}
        overall = Count(outcome for _, _, outcome in given)
        mass = sum(overall.values()) + 1e-3 * len(outcomes)
        by_tag, tags = Count((tag, out) for tag, _, out in given), Count(tag for tag, _, _ in given)
        by_word, words = Count(given), Count((tag, word) for tag, word, _ in given)
        total = 0.0
        for tag, word, out in events(new):
            prior = (overall[out] + 1e-3) / mass
            coarse = (by_tag[tag, out] + prior) / (tags[tag] + 1)
            total += log((by_word[tag, word, out] + coarse) / (words[tag, word] + 1))
        return total

    candidates = (0, 1, 2, 3, 5, 8, 12)
    sums = {t: foretold(*halves, t) + foretold(halves[1], halves[0], t) for t in candidates}
    assert choose_threshold(bank) == max(candidates, key=lambda t: (sums[t], -t))


@pytest.mark.parametrize(
    ("model", "learner"),
    [
        (kind.name, learner)
        for kind in kinds().values()
        for learner, recipe in kind.recipes.items()
        if "rare" in defaults_of(recipe.settings_class())
    ],
)
def test_every_learner_with_the_setting_can_be_asked(model: str, learner: str) -> None:
    make = lg.demo_treebank if kinds()[model].reads == PHRASES else lg.demo_dependencies
    bank = make(60, seed=0)
    small = {"states": 2, "iterations": 1, "passes": 1, "members": 1, "folds": 2, "order": 1, "dimensions": 2}
    known = defaults_of(recipe_of(model, learner).settings_class())
    settings = {name: value for name, value in small.items() if name in known}
    found = lg.fit(getattr(lg, model), bank, by=getattr(lg, learner)(rare="auto", **settings))
    assert found.provenance.fields["rare"] == choose_threshold(bank)


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(SettingError, match="number or 'auto'"):
        lg.Counting(rare="often")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="at least 0"):
        lg.MIRA(rare=-1)
    with pytest.raises(DataError, match="chosen from trees"):
        choose_threshold([lg.Sentence.of([("a", "X")])])
