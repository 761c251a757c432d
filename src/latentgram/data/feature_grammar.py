"""`FeatureGrammar`: a weighted grammar over symbols with features, from which trees are sampled.

A rule is written as a weight, a symbol, an arrow and its parts::

    4  NP[n,c] -> DT[n]:det JJ:amod $n[c]:*

Features are in square brackets and are *not* visible in the trees: `NP[NN,person]` and `NP[NNS,thing]` are both
labelled NP. A name from the list of variables (here n and c) represents each of its values, the same one
throughout the rule; `$n` takes the label itself from a variable. `*` marks the head; the other parts name their
dependency relation, and a relation that ends in `>` attaches its part to the head of the next one (a conjunction
to its conjunct). A variable that occurs only on the right divides the weight of the rule among its values.

Expanded over all values, this is a grammar with hidden states: as many for each label as there are feature
combinations. Sampling a sentence costs O(nodes).
"""

from __future__ import annotations

import itertools
import random
import re
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from latentgram.data.dependencies import DependencyTree
from latentgram.data.tree import Tree
from latentgram.errors import DataError

_PART = re.compile(r"(?P<label>[^\[\]:]+)(\[(?P<features>[^\]]*)\])?(:(?P<relation>\S+))?$")
HEAD = "*"


class Word(NamedTuple):
    """A word form with its lemma and its universal tag, and its form before a vowel where that is another one."""

    form: str
    lemma: str
    upos: str
    before_vowel: str = ""


class Rule(NamedTuple):
    """One way to rewrite a symbol; `relations[i]` says how part i relates to the head (`*` at the head)."""

    parts: tuple[str, ...]
    relations: tuple[str, ...]
    head: int


class Draw(NamedTuple):
    """A sentence in both forms, and the symbols with their features in the order of `tree.nodes()`."""

    tree: Tree
    dependencies: DependencyTree
    symbols: tuple[str, ...]

    @property
    def refined(self) -> Tree:
        """The tree with the hidden features in its labels."""
        nodes = list(self.tree.nodes())
        return Tree.of_preorder(
            self.symbols, [node.word for node in nodes], [len(node.children) for node in nodes]
        )


@dataclass(frozen=True)
class FeatureGrammar:
    """Rules and words by symbol, each list with its weights.

    >>> grammar = FeatureGrammar.parse(
    ...     "1 S -> NP[n]:nsubj VP[n]:* \\n 1 NP[n] -> $n:* \\n 1 VP[NN] -> VBZ:* \\n 1 VP[NNS] -> VBP:*",
    ...     variables={"n": ("NN", "NNS")},
    ...     words={tag: [(1.0, Word(form, form, "X"))]
    ...            for tag, form in [("NN", "cat"), ("NNS", "cats"), ("VBZ", "runs"), ("VBP", "run")]},
    ...     start="S",
    ... )
    >>> sorted({" ".join(draw.tree.words) for draw in itertools.islice(grammar.draw(seed=0), 20)})
    ['Cat runs', 'Cats run']
    """

    rules: Mapping[str, Sequence[tuple[float, Rule]]]
    words: Mapping[str, Sequence[tuple[float, Word]]]
    start: str
    longest: int = 80

    @classmethod
    def parse(
        cls,
        text: str,
        variables: Mapping[str, Sequence[str]],
        words: Mapping[str, Sequence[tuple[float, Word]]],
        start: str,
        longest: int = 80,
    ) -> FeatureGrammar:
        """Read the notation, write the rules out over all values, and check that every symbol can be rewritten."""
        rules: dict[str, list[tuple[float, Rule]]] = {}
        for number, line in enumerate(text.splitlines(), 1):
            body = line.split("#")[0].split()
            if not body:
                continue
            if len(body) < 4 or body[2] != "->":
                raise DataError("a rule is: weight symbol -> part …", path="grammar", line=number)
            for weight, symbol, rule in _write_out(float(body[0]), body[1], body[3:], variables, number):
                rules.setdefault(symbol, []).append((weight, rule))
        used = {start, *(part for choices in rules.values() for _, rule in choices for part in rule.parts)}
        if lost := sorted(used - rules.keys() - words.keys()):
            raise DataError(f"the grammar cannot rewrite {', '.join(lost)}")
        if unused := sorted(rules.keys() - used):
            raise DataError(f"the grammar never uses {', '.join(unused)}")
        return cls(rules, {symbol: words[symbol] for symbol in sorted(used & words.keys())}, start, longest)

    @cached_property
    def _tables(self) -> dict[str, tuple[list[float], list[Rule | Word]]]:
        """For each symbol what it can become, and the running sums of the weights."""
        symbols: dict[str, Sequence[tuple[float, Rule | Word]]] = {**self.rules, **self.words}
        return {
            symbol: (
                list(itertools.accumulate(weight for weight, _ in choices)),
                [choice for _, choice in choices],
            )
            for symbol, choices in symbols.items()
        }

    def draw(self, seed: int) -> Iterator[Draw]:
        """Sentences without end; the first n are the same however many are drawn.

        Sentences of more than `longest` words are drawn again.
        """
        # random.Random keeps its sequence from one Python version to the next; numpy's does not promise to.
        source = random.Random(seed).random
        while True:
            if (drawn := self._draw_one(source)) is not None:
                yield drawn

    def _draw_one(self, source: Callable[[], float]) -> Draw | None:
        """One sentence, or None if it grew too long. Nodes are made in preorder and then joined backwards."""
        symbols: list[str] = []
        chosen: list[Rule | Word] = []
        stack = [self.start]
        length = 0
        while stack:
            symbol = stack.pop()
            sums, choices = self._tables[symbol]
            choice = choices[bisect(sums, source() * sums[-1], 0, len(sums) - 1)]
            symbols.append(symbol)
            chosen.append(choice)
            if isinstance(choice, Rule):
                stack.extend(reversed(choice.parts))
                continue
            length += 1
            if length > self.longest:
                return None
        return self._assemble(symbols, chosen, length)

    def _assemble(self, symbols: list[str], chosen: list[Rule | Word], length: int) -> Draw:
        words: list[Word] = []
        tags: list[str] = []
        heads = [0] * (length + 1)
        relations = ["root"] * (length + 1)
        pending: list[tuple[Tree, int]] = []
        number = length
        for symbol, choice in zip(reversed(symbols), reversed(chosen), strict=True):
            label = label_of(symbol)
            if isinstance(choice, Word):
                form = choice.form
                if choice.before_vowel and words and words[-1].form[0] in "aeiou":
                    form = choice.before_vowel
                if number == 1:
                    form = form[:1].upper() + form[1:]
                pending.append((Tree(label, (), form), number))
                words.append(choice)
                tags.append(label)
                number -= 1
                continue
            parts = pending[: -len(choice.parts) - 1 : -1]
            del pending[-len(parts) :]
            head = parts[choice.head][1]
            for i, relation in enumerate(choice.relations):
                if relation.endswith(">"):
                    heads[parts[i][1]], relations[parts[i][1]] = parts[i + 1][1], relation[:-1]
                elif relation != HEAD:
                    heads[parts[i][1]], relations[parts[i][1]] = head, relation
            pending.append((Tree(label, tuple([tree for tree, _ in parts])), head))
        words.reverse()
        tags.reverse()
        tree = pending[0][0]
        dependencies = DependencyTree(
            words=tree.words,
            heads=tuple(heads[1:]),
            deprels=tuple(relations[1:]),
            upos=tuple([word.upos for word in words]),
            xpos=tuple(tags),
            lemmas=tuple([word.lemma for word in words]),
        )
        return Draw(tree, dependencies, tuple(symbols))


@cache
def label_of(symbol: str) -> str:
    """The part of a symbol that is seen.

    >>> label_of("NP[NN,person]")
    'NP'
    """
    return symbol.partition("[")[0]


def _write_out(
    weight: float, symbol: str, parts: Sequence[str], variables: Mapping[str, Sequence[str]], line: int
) -> Iterator[tuple[float, str, Rule]]:
    """A rule for each way to give values to its variables."""
    read = [_PART.match(part) for part in (symbol, *parts)]
    if None in read:
        raise DataError(f"{(symbol, *parts)[read.index(None)]!r} is not a symbol", path="grammar", line=line)
    pieces = [match.groupdict() for match in read if match is not None]
    names = [[*_features(piece), piece["label"][1:] if piece["label"].startswith("$") else ""] for piece in pieces]
    left = sorted({name for name in names[0] if name in variables})
    free = sorted({name for row in names[1:] for name in row if name in variables} - set(left))
    share = weight
    for name in free:
        share /= len(variables[name])
    relations = tuple(piece["relation"] or "" for piece in pieces[1:])
    if relations.count(HEAD) != 1 or "" in relations:
        raise DataError("a rule needs one head (*) and a relation for each other part", path="grammar", line=line)
    for values in itertools.product(*(variables[name] for name in (*left, *free))):
        chosen = dict(zip((*left, *free), values, strict=True))
        filled = [_fill(piece, chosen) for piece in pieces]
        yield share, filled[0], Rule(tuple(filled[1:]), relations, relations.index(HEAD))


def _features(piece: Mapping[str, str | None]) -> list[str]:
    return (piece["features"] or "").split(",")


def _fill(piece: Mapping[str, str | None], chosen: Mapping[str, str]) -> str:
    label = piece["label"] or ""
    if label.startswith("$"):
        label = chosen[label[1:]]
    if piece["features"] is None:
        return label
    return f"{label}[{','.join(chosen.get(name, name) for name in _features(piece))}]"
