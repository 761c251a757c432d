"""`DFA`: a small deterministic automaton that approximates an operator automaton, for inspection.

Luque et al. 2012, §5.3: the forward vectors of frequent prefixes are clustered by group average with the cosine
(which ignores that vectors shrink with every symbol); a cluster is a state. A prefix in state i that continues
with a to a prefix in state j uses the transition i —a→ j. If one state and symbol lead to several states, those
with more than `tolerance` of that use are merged, repeatedly, until nothing is left to merge; the rest follow the
majority. O(P²) for P prefixes.

The frequencies of prefixes and transitions are those of the automaton itself or, as in the paper, of sequences
seen in a treebank; in that case all states that a transition leads to are merged (`tolerance` 0).
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from latentgram.arrays import Floats, Ints
from latentgram.data.alphabet import Alphabet
from latentgram.data.files import PathLike, write_text
from latentgram.data.sentence import symbols_of
from latentgram.errors import SettingError
from latentgram.sequences.openfst import cost, write_openfst
from latentgram.view.automata import draw_dfa

if TYPE_CHECKING:
    from latentgram.sequences.automaton import OperatorAutomaton


@dataclass(frozen=True)
class Prefix:
    """A frequent prefix: its symbols, its probability, that of ending right there, and its parent's number."""

    string: tuple[int, ...]
    probability: float
    ends: float
    parent: int


@dataclass(frozen=True, eq=False)
class DFA:
    """A deterministic automaton; state 0 is the initial one, the others are sorted by their number of visits.

    It is drawn in notebooks.

    >>> import latentgram as lg
    >>> shag = lg.fit(lg.SHAG, lg.demo_dependencies(50, seed=1), by=lg.Spectral(states=3))
    >>> dfa = shag["NN", lg.LEFT].to_dfa(clusters=3)
    >>> dfa.states <= 4, 0 < dfa.probability(["DET|DT"]) < 1
    (True, True)
    >>> dfa._repr_svg_()[:4]
    '<svg'
    """

    symbols: Alphabet
    target: Ints
    """[states, symbols] where a symbol leads, −1 where it is never taken."""
    step: Floats
    """[states, symbols] its probability."""
    stop: Floats
    """[states] probability to end."""
    visits: Floats
    """[states] expected number of visits in a sequence."""
    examples: tuple[tuple[str, ...], ...]
    """The most frequent prefixes that lead to each state."""

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.stop)

    def _repr_svg_(self) -> str:
        return draw_dfa(self)

    def probability(self, string: Iterable[str]) -> float:
        """The probability of a string of symbols, text being split at spaces, under the approximation."""
        state, total = 0, 1.0
        for symbol in self.symbols.encode(symbols_of(string)):
            if symbol < 0 or self.target[state, symbol] < 0:
                return 0.0
            total *= self.step[state, symbol]
            state = int(self.target[state, symbol])
        return float(total * self.stop[state])

    def to_openfst(self, path: PathLike) -> None:
        """Write an acceptor in OpenFst's text format, and its symbol table to a second file (`.syms`)."""
        arcs = (
            (state, int(self.target[state, symbol]), self.symbols[symbol], cost(self.step[state, symbol]))
            for state, symbol in np.argwhere((self.target >= 0) & (self.step > 0)).tolist()
        )
        ends = [(state, cost(self.stop[state])) for state in np.flatnonzero(self.stop > 0).tolist()]
        write_openfst(path, self.symbols.symbols, arcs, ends)

    def draw(self, path: str) -> None:
        """Write a picture of the automaton as SVG."""
        with write_text(path) as out:
            out.write(draw_dfa(self))

    def __str__(self) -> str:
        lines = []
        for state in range(self.states):
            name = "start" if state == 0 else f"state {state}"
            lines.append(
                f"{name}: visits {self.visits[state]:.3f}, stop {self.stop[state]:.2f}"
                + (f", after {'; '.join(self.examples[state])}" if state else "")
            )
            order = np.argsort(-self.step[state], kind="stable")
            for symbol in order[self.step[state, order] >= 0.01]:
                lines.append(
                    f"  {self.step[state, symbol]:.2f} {self.symbols[symbol]} → {self.target[state, symbol]}"
                )
        return "\n".join(lines)


def frequent_prefixes(automaton: OperatorAutomaton, least: float, most: int) -> tuple[list[Prefix], list[Floats]]:
    """The prefixes of at least this probability, most probable first, and their forward vectors."""
    every = np.eye(automaton.states) - automaton.step.sum(0)
    mass = np.linalg.solve(every.T, automaton.stop)
    total = float(mass @ automaton.start)
    if not total > 0:
        raise SettingError("the automaton's weights do not sum to a positive number: it has no frequent prefixes")
    heap: list[tuple[float, tuple[int, ...], int]] = [(-1.0, (), -1)]
    vectors: dict[tuple[int, ...], Floats] = {(): automaton.start / total}
    prefixes: list[Prefix] = []
    kept: list[Floats] = []
    while heap and len(prefixes) < most:
        negative, string, parent = heapq.heappop(heap)
        vector = vectors.pop(string)
        number = len(prefixes)
        prefixes.append(Prefix(string, -negative, max(float(automaton.stop @ vector), 0.0), parent))
        kept.append(vector)
        following = automaton.step @ vector
        for symbol in np.flatnonzero(following @ mass >= least):
            longer = (*string, int(symbol))
            vectors[longer] = following[symbol]
            heapq.heappush(heap, (-float(following[symbol] @ mass), longer, number))
    return prefixes, kept


def observed_prefixes(
    automaton: OperatorAutomaton, sequences: Iterable[Iterable[str]], least: float, most: int
) -> tuple[list[Prefix], list[Floats]]:
    """The prefixes of at least this share of sequences, most frequent first, and their forward vectors.

    A sequence ends where the automaton knows no further symbol or gives it no weight.
    """
    whole = Counter(tuple(automaton.symbols.encode(symbols_of(string)).tolist()) for string in sequences)
    seen: Counter[tuple[int, ...]] = Counter()
    for string, count in whole.items():
        for end in range(len(string) + 1):
            seen[string[:end]] += count
    total = whole.total()
    if not total:
        raise SettingError("there are no modifier sequences of this head in the treebank")
    prefixes: list[Prefix] = []
    vectors: list[Floats] = []
    number: dict[tuple[int, ...], int] = {}
    for string, count in sorted(seen.items(), key=lambda item: (-item[1], item[0])):
        if len(prefixes) == most or count < least * total:
            break
        parent = number.get(string[:-1], -1) if string else -1
        if string and (string[-1] < 0 or parent < 0):
            continue
        vector = automaton.step[string[-1]] @ vectors[parent] if string else automaton.start
        if vector.any():
            number[string] = len(prefixes)
            prefixes.append(Prefix(string, count / total, whole[string] / total, parent))
            vectors.append(vector)
    return prefixes, vectors


def to_dfa(
    automaton: OperatorAutomaton,
    clusters: int,
    sequences: Iterable[Iterable[str]] | None,
    least: float,
    most: int,
    tolerance: float | None,
) -> DFA:
    """Approximate an automaton by at most `clusters` states besides the initial one; see its method."""
    if clusters < 1:
        raise SettingError(f"the number of clusters must be at least 1, got {clusters}")
    if sequences is None:
        prefixes, vectors = frequent_prefixes(automaton, least, most)
    else:
        prefixes, vectors = observed_prefixes(automaton, sequences, least, most)
    if tolerance is None:
        tolerance = 0.3 if sequences is None else 0.0
    state = np.zeros(len(prefixes), np.int64)
    if len(prefixes) > 2:
        unit = np.array(vectors[1:])
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        tree = linkage(pdist(unit, "cosine"), method="average")
        state[1:] = fcluster(tree, clusters, criterion="maxclust")
    else:
        state[1:] = 1
    return _build(automaton.symbols, prefixes, _merged(prefixes, state, tolerance))


def _use(prefixes: list[Prefix], state: Ints) -> dict[tuple[int, int], dict[int, float]]:
    """How much each target is used by each state and symbol."""
    use: dict[tuple[int, int], dict[int, float]] = {}
    for number, prefix in enumerate(prefixes):
        if prefix.parent >= 0:
            targets = use.setdefault((int(state[prefix.parent]), prefix.string[-1]), {})
            target = int(state[number])
            targets[target] = targets.get(target, 0.0) + prefix.probability
    return use


def _merged(prefixes: list[Prefix], state: Ints, tolerance: float) -> Ints:
    """Merge states until every state and symbol has one target that matters."""
    state = state.copy()
    while True:
        for targets in _use(prefixes, state).values():
            total = sum(targets.values())
            rivals = sorted(target for target, use in targets.items() if use > tolerance * total)
            if len(rivals) > 1:
                state[np.isin(state, rivals)] = rivals[0]
                break
        else:
            return state


def _build(symbols: Alphabet, prefixes: list[Prefix], state: Ints) -> DFA:
    weight = np.array([prefix.probability for prefix in prefixes])
    visits: Floats = np.bincount(state, weight).astype(np.float64)
    order = [0, *(int(old) for old in np.argsort(-visits, kind="stable") if old != 0 and visits[old] > 0)]
    place = {old: new for new, old in enumerate(order)}
    n_states = len(order)
    target = np.full((n_states, len(symbols)), -1)
    taken = np.zeros((n_states, len(symbols)))
    for (source, symbol), targets in _use(prefixes, state).items():
        target[place[source], symbol] = place[max(sorted(targets), key=lambda old: targets[old])]
        taken[place[source], symbol] = sum(targets.values())
    ends = np.zeros(n_states)
    examples: list[list[str]] = [[] for _ in order]
    for number, prefix in enumerate(prefixes):
        at = place[int(state[number])]
        ends[at] += prefix.ends
        if len(examples[at]) < 3:
            examples[at].append(" ".join(symbols[symbol] for symbol in prefix.string) or "nothing")
    # Prefixes too rare to be listed leave a gap; what is listed shares it.
    leaving = np.maximum(taken.sum(1) + ends, 1e-300)
    return DFA(
        symbols,
        target,
        taken / leaving[:, None],
        ends / leaving,
        visits[order],
        tuple(tuple(shown) for shown in examples),
    )
