"""What latent-variable PCFGs are learned from: derivations, their counts, and a treebank prepared for learners.

A node of a binarised forest is an application of a rule a → b c or of a lexical entry a → x (Cohen et al. 2012,
§4.1). Interminals (numbered 0 … I-1) and preterminals (I … I+P-1) are told apart by what they do, not by their
names; rules and entries are numbered in the sorted order in which a grammar keeps them. All of it is a few passes
over arrays: O(nodes · log nodes) time, 40 bytes per node.

Counts of two treebanks add. The symbols of a sum are the union of the symbols, sorted, so a sum does not depend on
how a treebank was divided; counts are whole numbers, so it does not depend on the order of addition either.

Learners of hidden states see rare words as symbols of their tags (Cohen et al. 2013, §4); the words themselves and
their forms (data/rarewords.py) are kept beside for the lexicon (lexicon.py). Forms would split what states are
learned from too finely, and tags say nothing of untagged sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse

from latentgram.arrays import Flags, Floats, Integers, Ints, Ints32
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.binarisation import Binarisation, Symbol, tag_of
from latentgram.data.forest import Forest
from latentgram.data.head_rules import HeadRules
from latentgram.data.kernels.forest import numbered
from latentgram.data.rarewords import RareWords, tag_symbol
from latentgram.data.tree import Tree
from latentgram.data.treebank import Treebank
from latentgram.errors import DataError
from latentgram.lpcfg.kernels.heads import head_words
from latentgram.lpcfg.settings import Trees
from latentgram.parallel import Engine, beside


def by_group(group: Integers, groups: int) -> tuple[Ints, Ints]:
    """The members of each group, in their order: those of g are `members[begin[g] : begin[g + 1]]`.

    Members of a negative group are in none.

    >>> by_group(np.array([1, -1, 0, 1]), 2)
    (array([2, 0, 3]), array([0, 1, 3]))
    """
    grouped = np.flatnonzero(group >= 0)
    members = grouped[np.argsort(group[grouped], kind="stable")]
    return members, np.searchsorted(group[members], np.arange(groups + 1))


def sums_by(group: Integers, rows: Floats, groups: int) -> Floats:
    """The sum of the rows of each group, [groups, m], added from first to last.

    >>> sums_by(np.array([1, 0, 1]), np.array([[1.0], [2.0], [3.0]]), 3).ravel()
    array([2., 4., 0.])
    """
    chosen = (np.ones(len(group)), (group, np.arange(len(group))))
    return np.asarray(scipy.sparse.csr_array(chosen, (groups, len(group))) @ rows)


@dataclass(frozen=True)
class Derivations:
    """The nodes of binary trees in preorder with their symbols, rules, entries and neighbours.

    `left`, `right`, `parent` are nodes (-1 where there is none); `rule[v]` is the row of `rules` used at v (-1 at
    leaves), `entry[v]` the row of `lexicon` (-1 elsewhere), `width[v]` the number of words below
    v. Tree t holds the nodes `start[t]` to `start[t + 1]`.

    >>> from latentgram.data.tree import Tree
    >>> the, cat = Tree("DT", word="the"), Tree("NN", word="cat")
    >>> trees = [Tree("NP", (the, cat)), Tree("NP", (the, Tree("NP", (cat, cat))))]
    >>> derivations = Derivations.of(Forest.of(trees))
    >>> derivations.rules.tolist(), derivations.rule_count.tolist(), derivations.entry_count.tolist()
    ([[0, 1, 0], [0, 1, 2], [0, 2, 2]], [1, 1, 1], [3, 2])
    """

    interminals: Alphabet
    preterminals: Alphabet
    words: Alphabet
    symbol: Ints32
    left: Ints32
    right: Ints32
    parent: Ints32
    word: Ints32
    rules: Ints32
    rule: Ints32
    lexicon: Ints32
    entry: Ints32
    width: Ints32
    start: Ints

    @classmethod
    def of(cls, forest: Forest) -> Derivations:
        """Read the rules off a forest in which every node has two children or a word."""
        size, number = forest.size.astype(np.int64), len(forest.label)
        node = np.arange(number)
        leaf = forest.word != ABSENT
        left = np.where(leaf, ABSENT, node + 1)
        right = np.where(leaf, ABSENT, left + size[np.minimum(left, number - 1)])
        inner = np.flatnonzero(~leaf)
        ends = right[inner]
        unary = ends >= inner + size[inner]
        if unary.any() or np.any(ends + size[ends] != inner + size[inner]):
            raise DataError("a tree is not binary: binarise a treebank before reading rules off it")
        parent = np.full(number, ABSENT)
        parent[left[inner]] = inner
        parent[right[inner]] = inner

        labels = tuple(forest.labels)
        interminals, inner_symbol = _renumbered(labels, np.where(leaf, ABSENT, forest.label))
        preterminals, leaf_symbol = _renumbered(labels, np.where(leaf, forest.label, ABSENT))
        symbol = np.where(leaf, leaf_symbol + len(interminals), inner_symbol).astype(np.int32)
        rules, rule = _numbered(symbol[inner], symbol[left[inner]], symbol[right[inner]])
        entries, entry = _numbered(forest.word[leaf], symbol[leaf])
        return cls(
            interminals,
            preterminals,
            forest.words,
            symbol,
            left.astype(np.int32),
            right.astype(np.int32),
            parent.astype(np.int32),
            forest.word,
            rules,
            _spread(rule, inner, number),
            entries[:, ::-1].copy(),
            _spread(entry, np.flatnonzero(leaf), number),
            (forest.size + 1) // 2,
            forest.start,
        )

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def symbols(self) -> int:
        """The number of symbols, interminals and preterminals."""
        return len(self.interminals) + len(self.preterminals)

    @cached_property
    def root(self) -> Ints:
        """The root node of every tree."""
        return self.start[:-1]

    @cached_property
    def leaf(self) -> Ints:
        """The leaf nodes from left to right over all trees."""
        return np.flatnonzero(self.rule < 0)

    @cached_property
    def leaf_number(self) -> Ints:
        """The number of each node's first leaf in `leaf`."""
        is_leaf = self.rule < 0
        return np.asarray(np.cumsum(is_leaf) - is_leaf, np.int64)

    @cached_property
    def first(self) -> Ints:
        """The number of words before each node in its sentence."""
        return self.leaf_number - np.repeat(self.leaf_number[self.root], np.diff(self.start))

    @cached_property
    def by_rule(self) -> tuple[Ints, Ints]:
        """The inner nodes by rule, and where each rule begins among them."""
        return by_group(self.rule, len(self.rules))

    @cached_property
    def by_symbol(self) -> tuple[Ints, Ints]:
        """The nodes by symbol, and where each symbol begins among them."""
        return by_group(self.symbol, self.symbols)

    @cached_property
    def symbol_count(self) -> Ints:
        """How often each symbol occurs."""
        return np.bincount(self.symbol, minlength=self.symbols)

    @cached_property
    def root_count(self) -> Ints:
        """How often each symbol is a root."""
        return np.bincount(self.symbol[self.root], minlength=self.symbols)

    @cached_property
    def rule_count(self) -> Ints:
        """How often each rule occurs."""
        return np.bincount(self.rule[self.rule >= 0], minlength=len(self.rules))

    @cached_property
    def entry_count(self) -> Ints:
        """How often each lexical entry occurs."""
        return np.bincount(self.entry[self.entry >= 0], minlength=len(self.lexicon))


def _renumbered(names: tuple[str, ...], number: Integers) -> tuple[Alphabet, Ints]:
    """The alphabet of the names in use, and the numbers in it of numbers in `names`; ABSENT stays."""
    used = np.flatnonzero(np.bincount(number + 1, minlength=len(names) + 1)[1:]).tolist()
    alphabet = Alphabet.of(names[i] for i in used)
    place = np.full(len(names) + 1, ABSENT, np.int64)  # the last one is for ABSENT itself
    place[used] = alphabet.encode(names[i] for i in used)
    return alphabet, place[number]


def _numbered(*columns: Ints32) -> tuple[Ints32, Ints]:
    """The distinct rows of some columns, sorted, and the number of each row."""
    key = np.zeros(len(columns[0]), np.int64)
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    for column, size in zip(columns, sizes, strict=True):
        key = key * size + column
    distinct, number = numbered(key)
    rows = np.empty((len(distinct), len(columns)), np.int32)
    for i in range(len(columns) - 1, -1, -1):
        distinct, rows[:, i] = np.divmod(distinct, sizes[i])
    return rows, number


def _spread(values: Ints, nodes: Ints, number: int) -> Ints32:
    """Values at some nodes, -1 at the others."""
    spread = np.full(number, ABSENT, np.int32)
    spread[nodes] = values
    return spread


@dataclass(frozen=True, eq=False)
class GrammarCounts:
    """Rules [R, 3] of parent, left and right child and entries [L, 2] of preterminal and word, with their counts.

    Interminals are numbered from 0, preterminals after them; rules are sorted, entries sorted by word.

    >>> from latentgram.data.tree import Tree
    >>> def counts(*words): return GrammarCounts.of(Derivations.of(Forest.of(
    ...     [Tree("S", tuple(Tree(word.upper(), word=word) for word in words))])))
    >>> total = counts("a", "b") + counts("a", "c") + counts("a", "b")
    >>> total.rules.tolist(), total.rule_count.tolist(), total.symbol_count.tolist()
    ([[0, 1, 2], [0, 1, 3]], [2.0, 1.0], [3.0, 3.0, 2.0, 1.0])
    """

    interminals: Alphabet
    preterminals: Alphabet
    words: Alphabet
    rules: Ints32
    rule_count: Floats
    lexicon: Ints32
    lexicon_count: Floats
    root_count: Floats

    @classmethod
    def of(cls, derivations: Derivations) -> GrammarCounts:
        """Count derivations."""
        return cls(
            derivations.interminals,
            derivations.preterminals,
            derivations.words,
            derivations.rules,
            derivations.rule_count.astype(np.float64),
            derivations.lexicon,
            derivations.entry_count.astype(np.float64),
            derivations.root_count.astype(np.float64),
        )

    @cached_property
    def symbol_count(self) -> Floats:
        """[I+P] how often each symbol was seen."""
        size = len(self.interminals) + len(self.preterminals)
        over_words = np.bincount(self.lexicon[:, 0], self.lexicon_count, size)
        return np.asarray(over_words + np.bincount(self.rules[:, 0], self.rule_count, size), np.float64)

    @property
    def rule_share(self) -> Floats:
        """[R] the relative frequency of each rule of its parent."""
        return self.rule_count / self.symbol_count[self.rules[:, 0]]

    @property
    def lexicon_share(self) -> Floats:
        """[L] the relative frequency of each entry of its preterminal."""
        return self.lexicon_count / self.symbol_count[self.lexicon[:, 0]]

    def numbers_in(self, interminals: Alphabet, preterminals: Alphabet) -> Ints32:
        """[I+P] the numbers of the symbols where there are more; their order stays, since alphabets are sorted."""
        return np.concatenate(
            (
                interminals.encode(self.interminals),
                preterminals.encode(self.preterminals) + np.int32(len(interminals)),
            )
        )

    def __add__(self, other: GrammarCounts) -> GrammarCounts:
        interminals = Alphabet.of((*self.interminals, *other.interminals))
        preterminals = Alphabet.of((*self.preterminals, *other.preterminals))
        words = Alphabet.of((*self.words, *other.words))
        size = len(interminals) + len(preterminals)
        rules, entries, roots = [], [], np.zeros(size)
        for part in (self, other):
            symbol = part.numbers_in(interminals, preterminals)
            rules.append(symbol[part.rules])
            word = words.encode(part.words)
            entries.append(np.stack([word[part.lexicon[:, 1]], symbol[part.lexicon[:, 0]]], axis=1))
            roots[symbol] += part.root_count
        rule_rows, rule_count = _merged(rules, (self.rule_count, other.rule_count))
        entry_rows, entry_count = _merged(entries, (self.lexicon_count, other.lexicon_count))
        return GrammarCounts(
            interminals,
            preterminals,
            words,
            rule_rows,
            rule_count,
            np.ascontiguousarray(entry_rows[:, ::-1]),
            entry_count,
            roots,
        )


def _merged(rows: list[Ints32], counts: tuple[Floats, Floats]) -> tuple[Ints32, Floats]:
    """The distinct rows of two tables, sorted, with their counts added."""
    distinct, number = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    total = np.bincount(number.ravel(), np.concatenate(counts), len(distinct))
    return distinct.astype(np.int32), np.asarray(total, np.float64)


def _given_rules(name: str) -> HeadRules | None:
    """The head rules of that name; None if they are to be learned."""
    if name == "learned":
        return None
    from latentgram.data.heads import COLLINS, ENGLISH  # tables that others need not make

    return {"collins": COLLINS, "english": ENGLISH}[name]


def trees_of(treebank: Treebank[Tree], settings: Trees) -> tuple[Forest, Binarisation, HeadRules | None]:
    """Trees to learn from, how they are made binary, and their head rules, where they are known by then."""
    rules, forest = _given_rules(settings.heads), treebank.forest
    if not len(forest):
        raise DataError("there are no trees to learn a grammar from")
    binarisation = Binarisation.of(
        forest,
        direction=settings.direction,
        horizontal=settings.horizontal,
        vertical=settings.vertical,
        heads=rules if settings.direction == "head" else None,
    )
    return forest, binarisation, binarisation.heads or rules


@dataclass(frozen=True, eq=False)
class GrammarData:
    """Binary trees with rare words replaced by their tags, and the words behind the symbols.

    `head[v]` is the leaf node that is the head of node v. `word[l]` is the word of the l-th leaf in `vocabulary`,
    which holds frequent and rare ones; `form[l]` is its form in `forms` if the word is rare, else -1; `rare_words`
    is the rule that gives forms.
    """

    binarisation: Binarisation
    rare_words: RareWords
    derivations: Derivations
    head: Ints
    vocabulary: Alphabet
    word: Ints
    forms: Alphabet
    form: Ints

    @classmethod
    def of(cls, treebank: Treebank[Tree], settings: Trees, engine: Engine) -> GrammarData:
        """Prepare a treebank."""
        forest, binarisation, rules = trees_of(treebank, settings)
        # Words and structure do not need each other: strings are looked at here while arrays are made there.
        stripped = binarisation.stripped(forest)
        structure = beside(engine, lambda: binarisation.binarise(stripped))
        heads = beside(engine, lambda: (rules or HeadRules.learn(forest)).head_words(stripped))
        rare_words = RareWords.of_forest(forest, threshold=settings.rare)
        by_form = rare_words.apply(forest)
        binary = structure()
        tags = tuple(tag_symbol(tag_of(label)) for label in binary.labels)
        added = np.array([Symbol.read(name).intermediate for name in binary.labels])[binary.label]
        head_word = heads()[~stripped.is_unary]

        written, shown = forest.word[forest.is_tag], by_form.word[forest.is_tag]
        # A first word read in lower case is that word; a rare one stays what it is.
        frequent = np.array([name in rare_words.known for name in by_form.words], bool)[shown]
        names = (*by_form.words, *forest.words)
        vocabulary, word = _renumbered(names, np.where(frequent, shown, written + len(by_form.words)))
        forms, form = _renumbered(tuple(by_form.words), np.where(frequent, ABSENT, shown))
        label = binary.label[binary.is_tag]
        seen, number = _renumbered((*by_form.words, *tags), np.where(frequent, shown, label + len(by_form.words)))
        derivations = Derivations.of(_with_words(binary, seen, number))
        head = head_leaves(derivations, added, head_word)
        return cls(binarisation, rare_words, derivations, head, vocabulary, word, forms, form)


def head_leaves(derivations: Derivations, added: Flags, head_word: Ints32) -> Ints:
    """For each node of a binarised forest the leaf node that is its head.

    `added` are the nodes (`@X`) that binarisation put in, `head_word` the head words of the others: the nodes of
    a unary chain became one node and the order was kept, so these are the lowest of each chain. An added node
    has the head of the X it belongs to if it is below it, else the head of its child that is a node of the
    treebank.
    """
    d = derivations
    place = head_words(added, head_word, d.left, d.right, d.parent, d.first, d.width)
    return np.asarray(d.leaf[d.leaf_number - d.first + place], np.int64)


def _with_words(forest: Forest, words: Alphabet, number: Ints) -> Forest:
    """The same trees over other words, given leaf by leaf."""
    word = np.full(len(forest.word), ABSENT, np.int32)
    word[forest.is_tag] = number
    return Forest(forest.labels, words, forest.label, forest.size, word, forest.start)
