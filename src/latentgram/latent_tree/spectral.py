"""Spectral learning of latent trees: operators from moments of neighbouring nodes (Dhillon et al. 2012, §3.2–3.3).

Let U be a vector for every symbol, G = UᵀO its mean in each hidden state, T_L and T_R the transitions. The model
needs, in the basis of G, E_d = G T_d G⁻¹ for the children, D(y) = G diag(Gᵀy) G⁻¹ for products, y(x) = G⁻ᵀ o_x for
words, and Gπ for the root. Every triple (a, u, b) of a child a of u on side d and another neighbour b of u (a
child on the other side, or the parent: b is independent of a given the state of u) gives

    Ω = E[U_a U_bᵀ] = E_d S,    S = E[U_u U_bᵀ],    K(y) = E[U_a U_bᵀ · yᵀU_u] = E_d D(y) S,

and every neighbour b of a node u = x gives E[1{u=x} U_b] = Sᵀ y(x). These are linear equations; each unknown is
found by least squares over all of them, weighted by their counts, with a ridge that pulls towards independence of
neighbours. S, Ω and K are means over the *same* triples, so that no stationarity is needed, and y(x) is estimated
directly, so that O need not lie in the range of U. Since yᵀD(z) = zᵀD(y), the product is made symmetric, and the
word comes first: c∞ᵀD(y) = yᵀ.

A mean over N triples has noise of about σ₁/√N, σ₁ being the largest singular value of S. The ridge λ is counted in
that unit, λ = `ridge` · σ₁/√N, so it vanishes as data grow and the estimates converge. Where no tree model is
true, as for the trees of a language, it has to be larger than the noise alone would ask for; "auto" takes from
`RIDGES` the one under which held-out trees are likeliest, among those that give a probability to nearly all of
them: an estimate that is negative or above one is no probability, and a likelihood beside many such says nothing.

U comes from the neighbours of symbols in the trees, or from word vectors learned elsewhere, as in the paper (4.2):
then the vector of a symbol is the mean of those of its words in the treebank, and where words are symbols by
themselves (`symbols="forms"`), all words with a vector are, whether or not the treebank has them. For words seen
seldom or never, y(x) leans on the vectors: y(x) ≈ p(x) · A U_x with the matrix A that fits this best to the words
that were seen, counted like `LEAN` observations.

`printed_operators` is Algorithm 1 to the letter: c₁ = μ, Σ over all arcs, y(x) = (UᵀU)⁻¹U_x, the children before
the word (kernels.py); exact only if π is stationary under both transitions. What the paper leaves open: children
are taken in the order of the sentence; and `smoothing` is ours (0 for none).

Words are mixed with unigrams as in em.py. O(triples · k³) for the moments, O(k⁶) for the product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse

from latentgram.arrays import Flags, Floats, Integers, Ints
from latentgram.data.alphabet import ABSENT
from latentgram.data.dependencies import DependencyTree
from latentgram.data.dependency_symbols import FORM, WordSymbols
from latentgram.data.provenance import Provenance
from latentgram.data.sentence import Sentence
from latentgram.data.treebank import Treebank
from latentgram.data.word_clusters import number_of
from latentgram.errors import DataError, SettingError
from latentgram.kinds.kind import Context
from latentgram.kinds.settings import AUTO
from latentgram.kinds.word_space import WordSpace, checked_vectors
from latentgram.latent_tree.kernels import Operators
from latentgram.latent_tree.model import LatentTree
from latentgram.latent_tree.settings import SpectralLatentTree
from latentgram.latent_tree.statistics import Nodes, TreeCounts
from latentgram.latent_tree.symbols import TreeSymbols
from latentgram.latent_tree.word_vectors import canonical_vectors, singular_vectors
from latentgram.numeric.svd import ridge_inverse
from latentgram.parallel import map_reduce, one_thread

CHUNK = 1 << 14
"""Triples whose outer products are in memory at a time."""
RIDGES: tuple[float, ...] = (0.0, *(2.0 ** (power / 2) for power in range(15)))
"""Ridges to choose among, in units of the noise."""
HELD_OUT = 5
"""One tree in so many is held out to choose a ridge by."""
LEAN = 5.0
"""What the vector of a word counts beside the times that the treebank has it."""
WITHOUT = 0.1
"""The share of held-out trees that may be without a probability."""
TINY = 1e-200
"""What is no more than this is nothing …"""
ROUNDED = 1e-9
"""… and a sum of products that has no more than this of their size is rounding."""


def learn_spectral(trees: Iterable[DependencyTree], settings: SpectralLatentTree, context: Context) -> LatentTree:
    """The recipe: the operators of counted trees, corrected or as printed."""
    space = checked_vectors(settings.vectors)
    forms = settings.symbols == "forms" and space is not None
    rule = WordSymbols.rule("forms", space.words) if forms and space is not None else settings.symbols
    bank = trees if isinstance(trees, Treebank) else Treebank.of(trees)
    nodes = Nodes.of(bank, rule, settings.valency)
    vectors = None if space is None else vectors_of_symbols(bank.sentences(), nodes, space, settings.states)
    counts = map_reduce(_count, nodes.shards(), context.engine)
    if not any(pairs.total for pairs in counts.pairs):
        raise DataError("no word has a modifier: spectral learning needs words with neighbours in their trees")
    printed = settings.form == "printed"
    if printed and settings.ridge != AUTO:
        raise SettingError("the equations as printed have no ridge: leave ridge out, or take the corrected form")
    if isinstance(settings.ridge, str):
        ridge = 0.0 if printed else _chosen_ridge(nodes, settings, vectors)
    else:
        ridge = settings.ridge
    operators = spectral_operators(counts, settings.states, ridge, printed=printed, vectors=vectors)
    model = _smoothed(nodes.symbols, operators, nodes.unigram, settings.smoothing)
    model = replace(model, absolute=settings.absolute)
    _, low = model.scores_of_nodes(nodes.trees, nodes.symbol)
    trace = {"triples": counts.siblings.total, "trees": float(len(low)), "at the floor": float(low.sum())}
    return replace(model, provenance=Provenance(trace=({**trace, "ridge": ridge},)))


def _count(nodes: Nodes) -> TreeCounts:
    return TreeCounts.of(nodes.trees, nodes.symbol, len(nodes.symbols))


def _smoothed(symbols: TreeSymbols, operators: Operators, unigram: Floats, epsilon: float) -> LatentTree:
    """The model with its words mixed with unigrams."""
    # In this basis the constant function of the states is the sum of all words.
    word = (1 - epsilon) * operators.word + epsilon * np.outer(unigram, operators.word.sum(0))
    return LatentTree.of(symbols, operators._replace(word=word), unigram)


def _chosen_ridge(nodes: Nodes, settings: SpectralLatentTree, given: Floats | None) -> float:
    """The ridge that held-out trees ask for; see the module."""
    held = np.arange(len(nodes.trees)) % HELD_OUT == HELD_OUT - 1
    counts = _count(nodes.select(~held))
    if not held.any() or not any(pairs.total for pairs in counts.pairs):
        return RIDGES[-1]
    rest, unigram = nodes.select(held), nodes.unigram
    vectors = symbol_vectors(counts, settings.states) if given is None else given
    ratings: list[tuple[float, float, float]] = []
    for ridge in RIDGES:
        try:
            operators = corrected_operators(counts, vectors, ridge, lean=given is not None)
        except DataError:  # these trees are too few, all of them perhaps not
            continue
        model = _smoothed(nodes.symbols, operators, unigram, settings.smoothing)
        logs, low = model.scores_of_nodes(rest.trees, rest.symbol)
        ratings.append((-max(float(low.mean()), WITHOUT), float(logs.sum()), ridge))
    return max(ratings)[-1] if ratings else RIDGES[-1]


def symbol_vectors(counts: TreeCounts, states: int, *, printed: bool = False) -> Floats:
    """U: symbols get their vectors from their neighbours in the trees."""
    size = len(counts.symbol)
    child, parent = (np.concatenate([pairs.tuples[:, column] for pairs in counts.pairs]) for column in (0, 1))
    count = np.concatenate([pairs.count for pairs in counts.pairs])
    below = scipy.sparse.csr_array((count, (child, parent)), shape=(size, size))
    if printed:
        return singular_vectors(below, states).vectors
    around = scipy.sparse.hstack([below, below.T], format="csr")
    return canonical_vectors(around, states).vectors


def vectors_of_symbols(sentences: Sequence[Sentence], nodes: Nodes, space: WordSpace, states: int) -> Floats:
    """U from the vectors of words: for each symbol the mean over its nodes, in at most `states` dimensions.

    A symbol whose words have no vectors gets the mean over those of its tag, else over all nodes.
    """
    vectors = space.vectors[:, :states]
    number = np.array([number_of(word, space.words) for sentence in sentences for word in sentence.words])
    known = number >= 0
    if not known.any():
        raise DataError("no word of the treebank has a vector")
    rows, size = vectors[number[known]], len(nodes.symbols)
    tags, tag = WordSymbols.observe(sentences)
    by_tag, _ = _means(tag[known], rows, len(tags.alphabet))
    every = rows.mean(0)
    means, seen = _means(nodes.symbol[known], rows, size)
    tag_of_symbol = np.full(size, ABSENT)
    tag_of_symbol[nodes.symbol] = tag
    coarse = np.where((tag_of_symbol >= 0)[:, None], by_tag[tag_of_symbol], every)
    result = np.where(seen[:, None], means, coarse)
    if nodes.symbols.words.kind == "forms":
        # Words that are symbols have their own vectors, whatever was seen.
        cells = nodes.symbols.cells
        for symbol, name in enumerate(nodes.symbols.words.alphabet):
            if name.endswith(FORM) and (word := space.words.index(name.removesuffix(FORM))) != ABSENT:
                result[symbol * cells : (symbol + 1) * cells] = vectors[word]
    return np.ascontiguousarray(result)


def _means(group: Integers, rows: Floats, groups: int) -> tuple[Floats, Flags]:
    """The mean of the rows of each group, and which groups have some."""
    count = np.bincount(group, minlength=groups)
    chosen = scipy.sparse.csr_array((np.ones(len(group)), (group, np.arange(len(group)))), (groups, len(group)))
    return np.asarray((chosen @ rows) / np.maximum(count, 1)[:, None]), count > 0


def spectral_operators(
    counts: TreeCounts, states: int, ridge: float, *, printed: bool = False, vectors: Floats | None = None
) -> Operators:
    """The operators of counted trees."""
    lean = vectors is not None
    if vectors is None:
        vectors = symbol_vectors(counts, states, printed=printed)
    return (
        printed_operators(counts, vectors) if printed else corrected_operators(counts, vectors, ridge, lean=lean)
    )


@dataclass(frozen=True)
class Triples:
    """Moments of triples (a, u, b): Ω = E[U_a U_bᵀ], S = E[U_u U_bᵀ], K[i, l, j] = E[U_a,i U_u,l U_b,j]."""

    total: float
    ends: Floats
    centre: Floats
    all: Floats

    @classmethod
    def of(cls, vectors: Floats, tuples: Ints, count: Floats) -> Triples:
        """Moments of the counted tuples of symbols."""
        size = vectors.shape[1]
        whole = np.zeros((size, size * size))
        ends, centre = np.zeros((size, size)), np.zeros((size, size))
        for begin in range(0, len(tuples), CHUNK):
            a, u, b = (vectors[column] for column in tuples[begin : begin + CHUNK].T)
            weighted = b * count[begin : begin + CHUNK, None]
            ends += a.T @ weighted
            centre += u.T @ weighted
            whole += a.T @ (u[:, :, None] * weighted[:, None, :]).reshape(len(a), -1)
        total = max(float(count.sum()), 1.0)
        return cls(float(count.sum()), ends / total, centre / total, whole.reshape(size, size, size) / total)


@dataclass(frozen=True)
class Arcs:
    """Moments of pairs of a node u and a neighbour b: S = E[U_u U_bᵀ], and of each symbol E[1{u=x} U_b]."""

    total: float
    both: Floats
    by_symbol: Floats

    @classmethod
    def of(cls, vectors: Floats, node: Ints, neighbour: Ints, count: Floats) -> Arcs:
        """Moments of counted pairs."""
        total = max(float(count.sum()), 1.0)
        by_symbol = np.zeros_like(vectors)
        np.add.at(by_symbol, node, vectors[neighbour] * (count / total)[:, None])
        return cls(float(count.sum()), vectors.T @ by_symbol, by_symbol)


def corrected_operators(counts: TreeCounts, vectors: Floats, ridge: float, *, lean: bool = False) -> Operators:
    """The operators by least squares; words `lean` on vectors learned elsewhere."""
    left, right = 0, 1
    across = counts.siblings
    with one_thread():
        arcs = [
            Arcs.of(vectors, pairs.tuples[:, at], pairs.tuples[:, 1 - at], pairs.count)
            for pairs in counts.pairs
            for at in (0, 1)
        ]
        word = _words(arcs, ridge)
        if lean:
            word = _leaning(word, counts.symbol, vectors)
        unit = word.sum(0)
        mean = _normalised(vectors.T @ counts.symbol / max(counts.symbol.sum(), 1.0), unit)
        views = [
            (left, Triples.of(vectors, across.tuples, across.count)),
            (right, Triples.of(vectors, across.tuples[:, ::-1], across.count)),
            *((side, Triples.of(vectors, line.tuples, line.count)) for side, line in enumerate(counts.lines)),
        ]
        child = np.stack(
            [_child([view for side, view in views if side == d], unit, mean, ridge) for d in (left, right)]
        )
        product = _with_unit(_product(child, views, ridge), unit, mean)
    root = vectors.T @ counts.root / max(counts.root.sum(), 1.0)
    return Operators(_normalised(root, unit), child, word, product)


def _normalised(vector: Floats, unit: Floats) -> Floats:
    """The vector divided by what the constant function of the states has on it."""
    total = float(vector @ unit)
    if not abs(total) > max(TINY, ROUNDED * float(np.linalg.norm(vector) * np.linalg.norm(unit))):
        raise DataError("words and their neighbours are unrelated in so few trees and states: take more, or EM")
    return np.asarray(vector / total)


def _child(views: list[Triples], one: Floats, mean: Floats, ridge: float) -> Floats:
    """E_d = argmin Σ_v N_v |E S_v − Ω_v|², pulled towards children that do not depend on their parents.

    Transitions keep the constant function: oneᵀ E = oneᵀ.
    """
    total = max(sum(view.total for view in views), 1.0)
    alone = np.outer(mean, one)
    gram, right = np.zeros_like(alone), np.zeros_like(alone)
    for view in views:
        gram += view.total / total * view.centre @ view.centre.T
        right += view.total / total * (view.ends - alone @ view.centre) @ view.centre.T
    child = alone + np.linalg.solve(_ridged(gram, ridge, total), right.T).T
    return np.asarray(child - np.outer(mean, one @ child - one))


def _product(child: Floats, views: list[tuple[int, Triples]], ridge: float) -> Floats:
    """D = argmin Σ_v N_v |E_v D(y) S_v − K_v(y)|² for every y; then a ∘ b = aᵀD(b), made symmetric."""
    size = child.shape[1]
    total = max(sum(view.total for _, view in views), 1.0)
    gram = np.zeros((size * size, size * size))
    right = np.zeros((size, size, size))
    for side, view in views:
        share = view.total / total
        gram += share * np.kron(child[side].T @ child[side], view.centre @ view.centre.T)
        right += share * np.einsum("ai,alb,jb->ijl", child[side], view.all, view.centre, optimize=True)
    solved = np.linalg.solve(_ridged(gram, ridge, total), right.reshape(size * size, size))
    operator = solved.reshape(size, size, size).transpose(0, 2, 1)
    return np.asarray((operator + operator.transpose(1, 0, 2)) / 2)


def _with_unit(product: Floats, one: Floats, mean: Floats) -> Floats:
    """The product with one ∘ y = y, which noise and ridge have spoilt.

    With y = (meanᵀy) one + y', only y' ∘ z' is taken from the estimate.
    """
    rest = np.eye(len(one)) - np.outer(one, mean)
    inner = np.einsum("ai,bj,abh->ijh", rest, rest, product, optimize=True)
    outer = np.einsum("i,hj->ijh", mean, rest)
    return np.ascontiguousarray(
        inner + outer + outer.transpose(1, 0, 2) + np.einsum("i,j,h->ijh", mean, mean, one)
    )


def _words(arcs: list[Arcs], ridge: float) -> Floats:
    """y(x) = argmin Σ_v N_v |S_vᵀ y − E_v[1{u=x} U_b]|²."""
    total = sum(arc.total for arc in arcs)
    gram = np.zeros_like(arcs[0].both)
    right = np.zeros_like(arcs[0].by_symbol)
    for arc in arcs:
        gram += arc.total / total * arc.both @ arc.both.T
        right += arc.total / total * arc.by_symbol @ arc.both.T
    return np.asarray(np.linalg.solve(_ridged(gram, ridge, total), right.T).T, np.float64)


def _leaning(word: Floats, count: Floats, vectors: Floats) -> Floats:
    """y(x) of words seen n times, as (n y + LEAN · p A U_x) / (n + LEAN) with p = (n + 1) / (N + V)."""
    seen = count > 0
    weight = np.sqrt(count[seen])
    share = count[seen] / count.sum()
    fitted, *_ = np.linalg.lstsq(
        vectors[seen] * weight[:, None], word[seen] / share[:, None] * weight[:, None], rcond=None
    )
    expected = ((count + 1.0) / (count.sum() + len(count)))[:, None] * (vectors @ fitted)
    return np.asarray((count[:, None] * word + LEAN * expected) / (count[:, None] + LEAN))


def _ridged(gram: Floats, ridge: float, total: float) -> Floats:
    """The Gram matrix of S with λ² = `ridge`² · σ₁²/N on its diagonal; at least a trace of it."""
    largest = max(float(np.linalg.norm(gram, 2)), TINY)
    return np.asarray(gram + (ridge**2 / max(total, 1.0) + 1e-15) * largest * np.eye(len(gram)))


def printed_operators(counts: TreeCounts, vectors: Floats) -> Operators:
    """The parameters of Algorithm 1 of Dhillon et al. 2012 as they are printed."""
    with one_thread():
        triples = Triples.of(vectors, counts.siblings.tuples, counts.siblings.count)
        sigma = []
        for pairs in counts.pairs:
            arcs = Arcs.of(vectors, pairs.tuples[:, 1], pairs.tuples[:, 0], pairs.count)
            sigma.append(ridge_inverse(arcs.both))
        left = triples.ends @ sigma[1]
        right = triples.ends.T @ sigma[0]
        operator = np.einsum("ai,ilb,bj->alj", ridge_inverse(left), triples.all, sigma[1], optimize=True)
        mean = vectors.T @ counts.symbol / max(counts.symbol.sum(), 1.0)
        direct = vectors @ ridge_inverse(vectors.T @ vectors)
    return Operators(mean, np.stack([left, right]), direct, operator, mean @ sigma[1])
