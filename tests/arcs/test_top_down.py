"""Growing trees: histories by their definition, choices that sum to one, and a truth that is found."""

import numpy as np
import pytest

import latentgram as lg
from latentgram.arcs.kernels.histories import ATOMS, TEMPLATE_ATOMS, TEMPLATES, all_feature_keys, histories
from latentgram.arcs.kernels.top_down import all_rows_of, log_total
from oracles.projective import projective_trees

NAMES = (
    "side",
    "head",
    "parent",
    "grandparent",
    "great-grandparent",
    "head's sibling",
    "sibling",
    "second sibling",
)
NONE, ROOT = "none", "ROOT"


def grown(heads: list[int]) -> list[tuple[dict[str, object], int]]:
    """The events of a tree by recursion over what was made: atoms by name, words in place of tags."""
    found = []

    def grow(head: int, above: list[int], sibling: object, side_of_head: int) -> list[int]:
        """Make all that depends on a word; the words made."""
        made, parents = [head], [*above, *[NONE] * 3]
        left: list[int] = []
        for side in (0, 1) if head else (1,):
            mine = [w for w in range(1, len(heads) + 1) if heads[w - 1] == head and (w > head) == bool(side)]
            mine = mine if side else mine[::-1]
            trees: list[list[int]] = []
            for done, word in enumerate([*mine, 0]):
                so_far = mine[:done]
                here = [w for tree in trees for w in tree]
                edge = head if not here else max(trees[-1]) if side else min(trees[-1])
                atoms = {
                    "side": side,
                    "head": head,
                    "parent": (parents[0], side_of_head),
                    "grandparent": parents[1],
                    "great-grandparent": parents[2],
                    "head's sibling": sibling,
                    "sibling": so_far[-1] if so_far else NONE,
                    "second sibling": so_far[-2] if done > 1 else NONE,
                    "count": min(done, 4),
                    "width": len(here),
                    "edge": edge,
                    "sequence": tuple(so_far),
                    "set": frozenset(so_far),
                    "sibling's width": len(trees[-1]) if trees else 0,
                    "left count": min(len(left), 3) if side else 0,
                    "nearest left": left[0] if side and left else NONE,
                    "farthest left": left[-1] if side and left else NONE,
                }
                found.append((atoms, word))
                if word:
                    trees.append(grow(word, [head, *above], so_far[-1] if so_far else NONE, 1 + (1 - side)))
            made += [w for tree in trees for w in tree]
            left = left if side else mine
        return made

    grow(0, [], NONE, 0)
    return found


@pytest.mark.parametrize("length", [1, 4, 5])
def test_histories_by_their_definition(length):
    # Every word is a tag of its own, so the numbers of tags are the places of words; 0 is the root.
    tags = np.arange(length)
    numbers = {NONE: length, 0: length + 1, **{word: word - 1 for word in range(1, length + 1)}}
    for above in projective_trees(length):
        heads = [head + 1 for head in above]
        history, made = np.empty((3 * length + 1, len(ATOMS)), np.int64), np.empty(3 * length + 1, np.int64)
        assert histories(np.array(heads), tags, tags, length, history, made) == 3 * length + 1
        events = grown(heads)
        by_name = [dict(zip(ATOMS, row.tolist(), strict=True)) for row in history]
        place = {(row["side"], row["head"], row["count"]): row for row in by_name}
        word_of = {(r["side"], r["head"], r["count"]): w for r, w in zip(by_name, made.tolist(), strict=True)}
        for atoms, word in events:
            at = (atoms["side"], numbers[atoms["head"]], atoms["count"])
            row = place[at]
            assert word_of[at] == word
            parent, hangs = atoms["parent"]
            assert row["parent"] == hangs + 3 * numbers[parent]
            for name in (
                "grandparent",
                "great-grandparent",
                "head's sibling",
                "sibling",
                "second sibling",
                "edge",
            ):
                assert row[name] == numbers[atoms[name]], name
            for name in ("nearest left", "farthest left"):
                assert row[name] == numbers[atoms[name]], name
            for name in ("width", "sibling's width", "left count"):
                assert row[name] == min(atoms[name], 5), name
        # Equal sequences and sets of modifiers have equal numbers, others have others.
        for name in ("sequence", "set"):
            pairs = {(atoms[name], place[atoms["side"], numbers[atoms["head"]], atoms["count"]][name])
                     for atoms, _ in events}  # fmt: skip
            assert len(pairs) == len({first for first, _ in pairs}) == len({second for _, second in pairs})


def test_templates_look_at_different_things():
    assert len(set(TEMPLATES)) == len(TEMPLATES)
    history = np.arange(2 * len(ATOMS)).reshape(2, -1)
    keys = all_feature_keys(history, TEMPLATE_ATOMS)
    assert len(np.unique(keys)) == keys.size
    other = history.copy()
    other[:, ATOMS.index("edge")] += 1
    changed = (all_feature_keys(other, TEMPLATE_ATOMS) != keys).all(0)
    assert changed.tolist() == ["edge" in template for template in TEMPLATES]


@pytest.fixture(scope="module")
def bank():
    return lg.demo_dependencies(120, seed=3)


@pytest.fixture(scope="module")
def model(bank):
    return lg.fit(lg.TopDown, bank[:100], by=lg.Gradient(passes=3))


def test_a_tree_is_as_likely_as_its_choices(model, bank):
    weights = model.weight.astype(np.float32)
    for tree in bank[90:110]:
        history, outcomes = model.events(tree)
        rows = all_rows_of(all_feature_keys(history, TEMPLATE_ATOMS), model.key)
        total = 0.0
        for event, outcome in zip(rows, outcomes, strict=True):
            scores = np.empty(weights.shape[1], np.float32)
            whole = log_total(event, weights, scores)
            assert np.exp(scores.astype(float) - whole).sum() == pytest.approx(1, abs=1e-12)
            plain = weights[event[event >= 0]].astype(float).sum(0)
            total += plain[outcome] - np.log(np.exp(plain).sum())
        assert model.logprob(tree) == pytest.approx(total, abs=1e-3)


def test_a_list_is_rated_like_each_of_its_trees(model, bank):
    sentence = next(tree.sentence for tree in bank if len(tree) == 5)
    heads = np.array([[head + 1 for head in tree] for tree in projective_trees(5)])
    together = model.logprobs_of_heads(sentence, heads)
    alone = np.concatenate([model.logprobs_of_heads(sentence, one[None]) for one in heads])
    np.testing.assert_array_equal(together, alone)


def test_the_truth_is_found():
    """Chains of a and b: the word two above decides what the next one is, the last one whether there is a next."""
    follow, ends = {"a": 0.9, "b": 0.2, "": 0.5}, {"a": 0.2, "b": 0.4}

    def draw(rng):
        tags, log_p = [], 0.0
        while True:
            first = follow[tags[-2] if len(tags) > 1 else ""]
            tags.append("a" if rng.random() < first else "b")
            log_p += np.log(first if tags[-1] == "a" else 1 - first)
            end = ends[tags[-1]]
            if rng.random() < end:
                log_p += np.log(end)
                break
            log_p += np.log(1 - end)
        return lg.DependencyTree(("w",) * len(tags), tuple(range(len(tags))), xpos=tuple(tags)), log_p

    rng = np.random.default_rng(1)
    learned = lg.fit(lg.TopDown, [draw(rng)[0] for _ in range(3000)], by=lg.Gradient())
    new = [draw(rng) for _ in range(500)]
    loss = np.mean([log_p - learned.logprob(tree) for tree, log_p in new])
    assert -0.02 < loss < 0.08
    # What sees the head alone cannot know the word above it.
    blind = lg.fit(lg.SHAG, [tree for tree, _ in new], by=lg.Counting())
    assert np.mean([log_p - blind.tree_logprob(tree) for tree, log_p in new]) > 3 * abs(loss)


def test_only_projective_trees_have_a_probability(model):
    crossed = lg.DependencyTree(("a", "b", "c", "d"), (3, 4, 0, 3), xpos=("NN",) * 4)
    with pytest.raises(lg.LatentgramError, match="not projective"):
        model.logprob(crossed)


def test_nothing_is_learned_from_nothing():
    with pytest.raises(lg.LatentgramError, match="no trees to learn from"):
        lg.fit(lg.TopDown, lg.demo_dependencies(5, seed=0)[:0], by=lg.Gradient())
