"""Tree patterns: a subset of the languages of tgrep2 (constituents) and of Grew (dependencies).

**Constituents.** `NP < PP`: an NP with a child PP. All relations after the first node are relations of that node,
and all of them must hold; a node in brackets has relations of its own: `VP < (NP < PP) !<< SBAR`.

    A < B   B is a child of A          A > B   A is a child of B          A $ B    sisters
    A << B  B is below A               A >> B  A is below B               A $. B   sisters, A immediately before B
    A . B   A ends where B begins      A .. B  A precedes B               A , B    A ,, B   the same, following

`!` before a relation says that there is no such B. A node is a label or a word, alternatives separated by `|`,
`/…/` a regular expression that is searched in it (regular.py), or `*` for any. Function tags are part of a label:
`/^NP/` finds `NP-SBJ`.

**Dependencies.** `pattern { V [upos=VERB]; N [lemma=dog|cat]; V -[obj]-> N; N << V } without { N -[det]-> D }`. A
node is a name with features (form, lemma, upos, xpos or one of FEATS; `!Case` for a missing one); edges have
relations, alternatives separated by `|`, `-[^obj]->` for any other, `->` for any; `A < B` is immediately before,
`A << B` anywhere before. `pattern { }` may be left out.

**Cost.** Constituents: O(nodes of the pattern × nodes²). Dependencies: by search, name after name; a pattern whose
words are not connected by arcs is refused if it may have too many combinations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count

from latentgram.data.dependencies import DependencyTree
from latentgram.data.regular import Regular
from latentgram.data.tree import Tree
from latentgram.errors import DataError

TRIALS = 200_000
"""Trials that a pattern of dependencies may take in a sentence."""
MOST_NESTED = 100
"""Levels of brackets in a pattern of constituents, and names in one of dependencies."""

_TOKEN = re.compile(r"\s*(?:(!?(?:<<|>>|<|>|\$\.|\$|\.\.|\.|,,|,))(?=\s|\(|/|\w|\*)|(/[^/]+/)|([()])|([^\s()!]+))")


@dataclass(frozen=True)
class _Place:
    """A node or a word of a tree: its name, mother and words; words are below their tags."""

    number: int
    label: str
    mother: int
    first: int
    end: int


def _places(tree: Tree) -> list[_Place]:
    found: list[_Place] = []
    open_: list[list[int]] = []
    for node, (label, first, end) in zip(tree.nodes(), tree.spans(), strict=True):
        while open_ and not open_[-1][1]:
            open_.pop()
        mother = open_[-1][0] if open_ else -1
        if open_:
            open_[-1][1] -= 1
        found.append(_Place(len(found), label, mother, first, end))
        if node.word is not None:
            found.append(_Place(len(found), node.word, len(found) - 1, first, end))
        open_.append([found[-1].number if node.word is None else -1, len(node.children)])
    return found


def _below(places: list[_Place], low: _Place, high: _Place) -> bool:
    at = low.mother
    while at > high.number:
        at = places[at].mother
    return at == high.number


Relation = Callable[[list[_Place], _Place, _Place], bool]
_RELATIONS: dict[str, Relation] = {
    "<": lambda places, a, b: b.mother == a.number,
    ">": lambda places, a, b: a.mother == b.number,
    "<<": lambda places, a, b: _below(places, b, a),
    ">>": lambda places, a, b: _below(places, a, b),
    "$": lambda places, a, b: a.mother == b.mother >= 0 and a.number != b.number,
    "$.": lambda places, a, b: a.mother == b.mother >= 0 and a.end == b.first,
    ".": lambda places, a, b: a.end == b.first,
    "..": lambda places, a, b: a.end <= b.first,
    ",": lambda places, a, b: b.end == a.first,
    ",,": lambda places, a, b: b.end <= a.first,
}


Known = dict[tuple[int, int], bool]
"""Whether a node of a pattern is a node of a tree, where that is known."""


@dataclass(frozen=True)
class _Node:
    """A node of a pattern, and what must hold of it."""

    name: str
    relations: tuple[tuple[str, _Node], ...] = ()

    @cached_property
    def _fits(self) -> Callable[[str], bool]:
        """Whether a label or a word is one of those that the name stands for."""
        if self.name.startswith("/"):
            return Regular(self.name[1:-1]).matches
        names = None if self.name == "*" else frozenset(self.name.split("|"))
        return lambda label: names is None or label in names

    def matches(self, places: list[_Place], place: _Place, known: Known) -> bool:
        """Whether a node of a tree is one of these; what was found out is kept in `known`."""
        key = id(self), place.number
        if key not in known:
            known[key] = self._fits(place.label) and all(
                self._holds(places, place, relation, other, known) for relation, other in self.relations
            )
        return known[key]

    def _holds(self, places: list[_Place], place: _Place, relation: str, other: _Node, known: Known) -> bool:
        related = _RELATIONS[relation.lstrip("!")]
        there = any(related(places, place, each) and other.matches(places, each, known) for each in places)
        return there != relation.startswith("!")


@dataclass(frozen=True)
class PhrasePattern:
    """A pattern of constituents.

    >>> from latentgram.data.brackets import parse_tree
    >>> tree = parse_tree("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")
    >>> [PhrasePattern.parse(text).find(tree) for text in ("NP < DT", "S << barks", "NP . VP", "NP !< DT")]
    [[(0, 2)], [(0, 3)], [(0, 2)], []]
    """

    node: _Node

    @classmethod
    def parse(cls, text: str) -> PhrasePattern:
        """The pattern of a text."""
        tokens = _tokens(text)
        node, rest = _read_node(tokens, 0)
        if rest != len(tokens):
            raise DataError(f"“{tokens[rest]}” is misplaced in the pattern")
        return cls(node)

    def find(self, tree: Tree) -> list[tuple[int, int]]:
        """The words of all nodes that match, first and one past the last."""
        places, known = _places(tree), Known()
        return [(place.first, place.end) for place in places if self.node.matches(places, place, known)]


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise DataError(f"the pattern cannot be read at “{text[at:].strip()[:20]}”")
        tokens.append(next(part for part in match.groups() if part))
        at = match.end()
    if not tokens:
        raise DataError("the pattern is empty")
    return tokens


def _read_node(tokens: list[str], at: int, depth: int = 0) -> tuple[_Node, int]:
    if depth > MOST_NESTED:
        raise DataError("the brackets of the pattern are nested too deeply")
    if at >= len(tokens) or tokens[at] == ")" or tokens[at].lstrip("!") in _RELATIONS:
        raise DataError(
            "a node is missing in the pattern" + (f" before “{tokens[at]}”" if at < len(tokens) else " at its end")
        )
    if tokens[at] == "(":
        node, at = _read_node(tokens, at + 1, depth + 1)
        if at >= len(tokens) or tokens[at] != ")":
            raise DataError("a bracket in the pattern is not closed")
        return node, at + 1
    name, at = tokens[at], at + 1
    relations: list[tuple[str, _Node]] = []
    while at < len(tokens) and tokens[at].lstrip("!") in _RELATIONS:
        relation = tokens[at]
        if tokens[at + 1 : at + 2] == ["("]:
            other, at = _read_node(tokens, at + 1, depth + 1)
        else:
            if at + 1 >= len(tokens) or tokens[at + 1] == ")":
                raise DataError(f"a node is missing in the pattern after “{relation}”")
            other, at = _Node(tokens[at + 1]), at + 2
        relations.append((relation, other))
    return _Node(name, tuple(relations)), at


_CLAUSE = re.compile(
    r"^(?:(?P<node>\w+)\s*\[(?P<features>.*)\]|(?P<head>\w+)\s*-(?:\[(?P<relation>[^\]]+)\]-)?>\s*(?P<word>\w+)"
    r"|(?P<left>\w+)\s*(?P<order><<?)\s*(?P<right>\w+))$"
)
_FEATURE = re.compile(r'^(?P<no>!)?(?P<name>[\w\[\]]+)\s*(?:(?P<is>=|<>)\s*(?P<value>"[^"]*"|\S+))?$')
_COLUMNS = {"form": "words", "lemma": "lemmas", "upos": "upos", "xpos": "xpos"}

Test = Callable[[DependencyTree, dict[str, int]], bool]


@dataclass(frozen=True)
class _Clause:
    """What must hold of some named words."""

    names: tuple[str, ...]
    test: Test


@dataclass(frozen=True)
class ArcPattern:
    """A pattern of dependencies.

    >>> tree = DependencyTree(("dogs", "chase", "cats"), (2, 0, 2), ("nsubj", "root", "obj"))
    >>> ArcPattern.parse("V -[obj]-> N; N [form=cats]").find(tree)
    [(1, 2), (2, 3)]
    """

    wanted: tuple[_Clause, ...]
    without: tuple[tuple[_Clause, ...], ...] = ()

    @classmethod
    def parse(cls, text: str) -> ArcPattern:
        """The pattern of a text."""
        blocks = re.findall(r"(pattern|without)\s*\{([^}]*)\}", text)
        if not blocks:
            blocks = [("pattern", text)]
        wanted = tuple(clause for kind, body in blocks if kind == "pattern" for clause in _clauses(body))
        if not wanted:
            raise DataError("the pattern is empty")
        without = tuple(tuple(_clauses(body)) for kind, body in blocks if kind == "without")
        if any(len(_names(clauses)) > MOST_NESTED for clauses in (wanted, *(wanted + each for each in without))):
            raise DataError(f"the pattern has more than {MOST_NESTED} names")
        return cls(wanted, without)

    def find(self, tree: DependencyTree) -> list[tuple[int, int]]:
        """The words of the first match, each as first and one past the last; none if nothing matches."""
        trials = count()
        for words in _assignments(tree, self.wanted, {}, trials):
            if not any(next(_assignments(tree, block, words, trials), None) for block in self.without):
                return sorted({(word, word + 1) for word in words.values()})
        return []


def _clauses(text: str) -> Iterator[_Clause]:
    for part in filter(None, (part.strip() for part in text.split(";"))):
        match = _CLAUSE.match(part)
        if match is None:
            raise DataError(
                f"“{part}” is not part of a pattern; examples are V [upos=VERB], V -[obj]-> N and V << N"
            )
        if match["node"]:
            yield _Clause((match["node"],), _features(match["node"], match["features"]))
        elif match["head"]:
            yield _Clause((match["head"], match["word"]), _edge(match["head"], match["word"], match["relation"]))
        else:
            yield _Clause((match["left"], match["right"]), _order(match["left"], match["right"], match["order"]))


def _features(name: str, text: str) -> Test:
    tests: list[Callable[[DependencyTree, int], bool]] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _FEATURE.match(part)
        if match is None:
            raise DataError(f"“{part}” is not a feature; examples are upos=VERB, lemma=dog|cat and !Case")
        wanted = (match["value"] or "").strip('"').split("|")
        tests.append(_feature(match["name"], match["is"], wanted, bool(match["no"])))
    return lambda tree, words: all(test(tree, words[name]) for test in tests)


def _feature(
    name: str, relation: str | None, wanted: list[str], absent: bool
) -> Callable[[DependencyTree, int], bool]:
    def value(tree: DependencyTree, word: int) -> str | None:
        if name in _COLUMNS:
            actual: str = getattr(tree, _COLUMNS[name])[word]
            return None if actual == "_" else actual
        features = dict(part.partition("=")[::2] for part in tree.feats[word].split("|"))
        return features.get(name)

    def test(tree: DependencyTree, word: int) -> bool:
        actual = value(tree, word)
        if relation is None:
            return (actual is None) == absent
        return (actual in wanted) == (relation == "=")

    return test


def _edge(head: str, word: str, relation: str | None) -> Test:
    others = relation is not None and relation.startswith("^")
    named = set((relation or "").lstrip("^").split("|"))

    def test(tree: DependencyTree, words: dict[str, int]) -> bool:
        if tree.heads[words[word]] != words[head] + 1:
            return False
        return relation is None or (tree.deprels[words[word]] in named) != others

    return test


def _order(left: str, right: str, order: str) -> Test:
    def test(tree: DependencyTree, words: dict[str, int]) -> bool:
        apart = words[right] - words[left]
        return apart == 1 if order == "<" else apart > 0

    return test


def _names(clauses: tuple[_Clause, ...]) -> list[str]:
    """The names of words in clauses, in the order in which they occur."""
    return list(dict.fromkeys(name for clause in clauses for name in clause.names))


def _assignments(
    tree: DependencyTree, clauses: tuple[_Clause, ...], known: dict[str, int], trials: Iterator[int]
) -> Iterator[dict[str, int]]:
    """All ways to name words so that the clauses hold; two names are two words."""
    if next(trials) > TRIALS:
        raise DataError("this pattern has too many combinations: connect its words by arcs")
    names = _names(clauses)
    free = [name for name in names if name not in known]
    ready = [clause for clause in clauses if all(name in known for name in clause.names)]
    if not all(clause.test(tree, known) for clause in ready):
        return
    if not free:
        yield known
        return
    for word in range(len(tree)):
        if word not in known.values():
            yield from _assignments(tree, clauses, {**known, free[0]: word}, trials)


def pattern_finder(text: str, phrases: bool) -> Callable[[Tree | DependencyTree], list[tuple[int, int]]]:
    """What finds a pattern in trees of one kind: the words that match, or nothing.

    >>> find = pattern_finder("NN|NNS", phrases=True)
    >>> find(Tree("NP", (Tree("DT", word="the"), Tree("NN", word="cat"))))
    [(1, 2)]
    """
    if phrases:
        phrase = PhrasePattern.parse(text)
        return lambda tree: phrase.find(tree) if isinstance(tree, Tree) else []
    arc = ArcPattern.parse(text)
    return lambda tree: arc.find(tree) if isinstance(tree, DependencyTree) else []
