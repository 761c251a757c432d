"""Every path of a small n-gram automaton with every tagging: the bound of Smith and Eisner 2012 by definition."""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from latentgram.sequences.ngram import BackoffNGram

TINY = 1e-17
"""Paths of a smaller probability are left out, so that automata with loops have finitely many."""


def paths(model: BackoffNGram) -> Iterator[tuple[float, list[int]]]:
    """Probability and arcs of each way through the automaton from one boundary to the next, but for tiny ones."""

    def walk(
        state: int, shut: frozenset[int], weight: float, arcs: list[int]
    ) -> Iterator[tuple[float, list[int]]]:
        if weight < TINY:
            return
        own = range(model.arc_start[state], model.arc_start[state + 1])
        for arc in own:
            if int(model.arc_word[arc]) in shut:
                continue
            taken = weight * model.arc_prob[arc]
            if model.arc_word[arc] == 0:
                yield taken, [*arcs, arc]
            else:
                yield from walk(int(model.arc_target[arc]), frozenset(), taken, [*arcs, arc])
        if state > 0 and model.failure[state] > 0:
            words = (
                frozenset(int(model.arc_word[arc]) for arc in own) if model.reading == "failure" else frozenset()
            )
            yield from walk(int(model.backoff[state]), shut | words, weight * model.failure[state], arcs)

    return walk(model.initial, frozenset(), 1.0, [])


class Enumeration:
    """Sums over all paths and taggings; arcs tag their own word or (lag 1) the one before."""

    def __init__(self, model: BackoffNGram, allowed: Callable[[int], list[int]], lag: int) -> None:
        self.model, self.lag = model, lag
        self.paths = list(paths(model))
        self.allowed = allowed

    def taggings(self, arcs: list[int]) -> tuple[list[int], list[tuple[int, ...]]]:
        """The words of a path, the boundary at its end, and all tag sequences for them."""
        words = [int(self.model.arc_word[arc]) for arc in arcs]
        return words, list(product(*(self.allowed(word) for word in words)))

    def choices(self, arcs: list[int], tags: tuple[int, ...]) -> list[tuple[int, int, int]]:
        """(arc, tag chosen, tag chosen before) along a path, in the order of choice.

        With lag 1 the first arc of a sentence tags the boundary before it, for sure.
        """
        order = [0, *tags]
        if self.lag == 0:
            return [(arc, order[i + 1], order[i]) for i, arc in enumerate(arcs)]
        return [(arc, order[i], order[i - 1]) for i, arc in enumerate(arcs) if i > 0]

    def joint(
        self, words: list[int], tags: tuple[int, ...], transition: np.ndarray, emission: np.ndarray
    ) -> float:
        """log p(words, tags) of an HMM of any order with dense emissions [words, tags]."""
        total, before = 0.0, 0
        for word, tag in zip(words, tags, strict=True):
            total += np.log(transition[before, tag]) + (np.log(emission[word, tag]) if word else 0.0)
            before = (before * transition.shape[1] + tag) % len(transition)
        return total

    def bound(
        self, choose: Callable[[int, int, int], float], transition: np.ndarray, emission: np.ndarray
    ) -> float:
        """E_c E_q [log p − log q] with q the product of `choose(arc, tag, tag before)`."""
        total = 0.0
        for weight, arcs in self.paths:
            words, taggings = self.taggings(arcs)
            for tags in taggings:
                q = 1.0
                for arc, tag, before in self.choices(arcs, tags):
                    q *= choose(arc, tag, before)
                if q > 0:
                    total += weight * q * (self.joint(words, tags, transition, emission) - np.log(q))
        return total

    def reached(self, choose: Callable[[int, int, int], float], arc: int, before: int) -> float:
        """How often a sentence comes to an arc with the tag `before` chosen last."""
        total = 0.0
        for weight, arcs in self.paths:
            for tags in self.taggings(arcs)[1]:
                taken = self.choices(arcs, tags)
                if any((a, s) == (arc, before) for a, _, s in taken):
                    q = 1.0
                    for step in taken:
                        q *= choose(*step)
                    total += weight * q
        return total

    def expected_logprob(self, transition: np.ndarray, emission: np.ndarray) -> float:
        """E_c log p(words)."""
        total = 0.0
        for weight, arcs in self.paths:
            words, taggings = self.taggings(arcs)
            total += weight * np.log(
                sum(np.exp(self.joint(words, tags, transition, emission)) for tags in taggings)
            )
        return total


class DelayedEnumeration(Enumeration):
    """The same with lag 2: words wait for their tags, two at most, one after a history of one word.

    `find(source, target, word)` is the number of the arc that tags a word on the way from one history to another,
    each given by its words.
    """

    def __init__(
        self,
        model: BackoffNGram,
        allowed: Callable[[int], list[int]],
        find: Callable[[tuple[int, ...], tuple[int, ...], int], int],
    ) -> None:
        super().__init__(model, allowed, 2)
        self.find = find

    def words_of(self, state: int) -> tuple[int, ...]:
        return tuple(word for word in self.model.history[state].tolist() if word >= 0)

    def choices(self, arcs: list[int], tags: tuple[int, ...]) -> list[tuple[int, int, int]]:
        model, order = self.model, [0, *tags]
        words = [0, *(int(model.arc_word[arc]) for arc in arcs)]
        state, waiting, chosen = model.initial, [0], []

        def go(source: tuple[int, ...], target: tuple[int, ...]) -> None:
            place = waiting.pop(0)
            if place > 0:
                chosen.append((self.find(source, target, words[place]), order[place], order[place - 1]))

        for i, arc in enumerate(arcs, 1):
            while state != model.source[arc]:
                lower = int(model.backoff[state])
                if len(waiting) > min(2, len(self.words_of(lower))):
                    go(self.words_of(state), self.words_of(lower))
                state = lower
            waiting.append(i)
            here, there = self.words_of(state), self.words_of(int(model.arc_target[arc]))
            if len(waiting) - min(2, len(there)) == 2:
                go(here, (here[-1], words[i]))
                go((here[-1], words[i]), there)
            elif len(waiting) > min(2, len(there)):
                go(here, there)
            state = int(model.arc_target[arc])
        return chosen
