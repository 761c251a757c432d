"""How EVALB sees trees: the rules of its parameter files, and the brackets and words that remain.

Words with deleted tags are removed, labels are cut and mapped, quotation marks are reconciled. `'` is a closing
quotation mark or a possessive, so one tagger deletes it and another keeps it, and the sentence would be lost
because of a difference in length. So if lengths differ, quotation marks (tags in `rules.quotes`) that are deleted
on one side only, and are preceded by equally many words on both sides, are kept on both sides.

Cost: O(nodes + gold brackets × output brackets) per sentence, in compiled loops (kernels/brackets.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from latentgram.arrays import Flags, Ints
from latentgram.data.alphabet import ABSENT, Alphabet
from latentgram.data.files import whole_number
from latentgram.data.forest import Forest
from latentgram.errors import DataError
from latentgram.evaluate.kernels import brackets as kernels

_QUOTES = frozenset("'\"/")


@dataclass(frozen=True)
class BracketingRules:
    """The rules of a bracketing score, with EVALB's names for them in parameter files.

    `delete` (DELETE_LABEL): a tag in it takes its word out, a label in it only its bracket; labels are cut at the
    first `-` or `=` before they are looked up, tags are not. `delete_for_length` (DELETE_LABEL_FOR_LENGTH): tags
    whose words do not count in the length of a sentence. `equal_labels`, `equal_words` (EQ_LABEL, EQ_WORD): pairs
    that match each other. `quotes` (QUOTE_LABEL): tags of `'`, `"` and `/` that are put back when only one side
    deleted them. `cutoff` (CUTOFF_LEN): the length up to which a sentence counts as short. `labelled` (LABELED).

    `collapse_unaries` is not EVALB's: of a chain X → X → …, the papers on GENIA count one bracket only.
    """

    delete: tuple[str, ...] = ()
    delete_for_length: tuple[str, ...] = ()
    equal_labels: tuple[tuple[str, str], ...] = ()
    equal_words: tuple[tuple[str, str], ...] = ()
    quotes: tuple[str, ...] = ()
    cutoff: int = 40
    labelled: bool = True
    collapse_unaries: bool = False


COLLINS = BracketingRules(
    delete=("TOP", "-NONE-", ",", ":", "``", "''", "."),
    delete_for_length=("-NONE-",),
    equal_labels=(("ADVP", "PRT"),),
)
"""The rules of EVALB's COLLINS.prm, by which parsers of the Penn Treebank are compared."""

_LISTS = {"DELETE_LABEL": "delete", "DELETE_LABEL_FOR_LENGTH": "delete_for_length", "QUOTE_LABEL": "quotes"}
_PAIRS = {"EQ_LABEL": "equal_labels", "EQ_WORD": "equal_words"}
_NUMBERS = {"CUTOFF_LEN": "cutoff", "LABELED": "labelled"}
_WITHOUT_EFFECT = {"DEBUG", "MAX_ERROR"}


def read_rules(path: str | os.PathLike[str]) -> BracketingRules:
    """The rules in a parameter file of EVALB. `DEBUG` and `MAX_ERROR` are understood and have no effect."""
    try:
        with open(path, encoding="utf-8") as file:
            return parse_rules(file.read(), path)
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", path=path) from error
    except UnicodeDecodeError as error:
        raise DataError("this is not UTF-8 text, so it is not a parameter file", path=path) from error


def parse_rules(text: str, path: str | os.PathLike[str] | None = None) -> BracketingRules:
    """The rules in the text of a parameter file.

    >>> parse_rules("# comment\\nDELETE_LABEL TOP\\nEQ_LABEL ADVP PRT\\nCUTOFF_LEN 10\\n")
    BracketingRules(delete=('TOP',), ..., equal_labels=(('ADVP', 'PRT'),), ..., cutoff=10, ...)
    """
    lists: dict[str, list[str]] = {name: [] for name in _LISTS.values()}
    pairs: dict[str, list[tuple[str, str]]] = {name: [] for name in _PAIRS.values()}
    numbers: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        key, *values = line.split()
        wanted = 2 if key in _PAIRS else 1
        if key not in {*_LISTS, *_PAIRS, *_NUMBERS, *_WITHOUT_EFFECT}:
            raise DataError(f"{key} is not an EVALB parameter", path=path, line=number)
        if len(values) != wanted:
            wish = "one value" if wanted == 1 else "two values"
            raise DataError(f"{key} takes {wish}, got {len(values)}", path=path, line=number)
        if key in _LISTS:
            lists[_LISTS[key]].append(values[0])
        elif key in _PAIRS:
            pairs[_PAIRS[key]].append((values[0], values[1]))
        elif key in _NUMBERS:
            value = whole_number(values[0])
            if value is None:
                raise DataError(f"{key} must be an integer, got {values[0][:50]}", path=path, line=number)
            numbers[_NUMBERS[key]] = value
    return BracketingRules(
        delete=tuple(lists["delete"]),
        delete_for_length=tuple(lists["delete_for_length"]),
        quotes=tuple(lists["quotes"]),
        equal_labels=tuple(pairs["equal_labels"]),
        equal_words=tuple(pairs["equal_words"]),
        cutoff=numbers.get("cutoff", 40),
        labelled=bool(numbers.get("labelled", 1)),
    )


def count_brackets(gold: Forest, output: Forest, rules: BracketingRules) -> tuple[Ints, Ints]:
    """[sentences] lengths, and [sentences, 7] counts with the columns that `kernels` names."""
    forests = (gold, output)
    kept = [_kept(forest, rules) for forest in forests]
    if rules.quotes:
        _mend_quotes(forests, kept, rules)
    labels = [label for forest in forests for label in forest.labels]
    numbers = Alphabet.of((*labels, *map(cut_label, labels), *gold.words, *output.words))
    sides = [_brackets(forest, keep, rules, numbers) for forest, keep in zip(forests, kept, strict=True)]
    equal, same = (
        numbers.encode(symbol for pair in pairs for symbol in pair).reshape(-1, 2).astype(np.int64)
        for pairs in (rules.equal_labels, rules.equal_words)
    )
    counts = kernels.compare_brackets(sides[0], sides[1], equal, equal, same)
    counted = (gold.word != ABSENT) & ~_flags(gold.labels, rules.delete_for_length)[gold.label]
    return np.diff(_before(counted)[gold.start]), counts


def _flags(alphabet: Alphabet, symbols: Iterable[str]) -> Flags:
    """For each symbol of the alphabet, whether it is one of these."""
    chosen = set(symbols)
    return np.array([symbol in chosen for symbol in alphabet], np.bool_)


def _kept(forest: Forest, rules: BracketingRules) -> Flags:
    """For each node, whether it is a word that is not taken out."""
    if not len(forest.label):
        return np.zeros(0, np.bool_)
    kept: Flags = (forest.word != ABSENT) & ~_flags(forest.labels, rules.delete)[forest.label]
    return kept


def _before(flags: Flags) -> Ints:
    """How many flags are set before each place, and in all."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(flags, dtype=np.int64)))


def cut_label(label: str) -> str:
    """A label up to its first `-` or `=`: without functions and indices.

    >>> cut_label("NP-SBJ-1"), cut_label("NP=2"), cut_label("-LRB-")
    ('NP', 'NP', '')
    """
    return label.split("-", 1)[0].split("=", 1)[0]


def _brackets(forest: Forest, kept: Flags, rules: BracketingRules, numbers: Alphabet) -> kernels.Side:
    """The brackets and the words of a side, as numbers."""
    before = _before(kept)
    nodes = np.arange(len(forest.label))
    first = np.repeat(before[forest.start[:-1]], np.diff(forest.start))
    begin, end = before[nodes] - first, before[nodes + forest.size] - first
    plain = [cut_label(label) for label in forest.labels]
    deleted = {*rules.delete, *(other for pair in rules.equal_labels for other in _partner(pair, rules.delete))}
    number = numbers.encode(plain).astype(np.int64)[forest.label]
    wanted = ~_flags(Alphabet(tuple(plain)), deleted)[forest.label]
    wanted &= (forest.word == ABSENT) & (begin < end)
    wanted[forest.start[:-1]] &= forest.label[forest.start[:-1]] != forest.labels.index("")
    if rules.collapse_unaries:
        wanted &= ~_repeats(forest, number)
    label = number if rules.labelled else np.zeros_like(number)
    brackets = np.stack((begin, end, label), axis=1)[wanted]
    word, tag = numbers.encode(forest.words)[forest.word[kept]], numbers.encode(forest.labels)[forest.label[kept]]
    words = np.stack((word, tag), axis=1).astype(np.int64)
    return kernels.Side(_before(wanted)[forest.start], brackets, before[forest.start], words)


def _partner(pair: tuple[str, str], labels: tuple[str, ...]) -> list[str]:
    """What else is deleted because it equals a deleted label."""
    return [other for label, other in (pair, pair[::-1]) if label in labels]


def _repeats(forest: Forest, number: Ints) -> Flags:
    """For each node, whether its only child is a bracket with the same label."""
    repeats = np.zeros(len(number), np.bool_)
    repeats[:-1] = (
        (forest.size[:-1] == forest.size[1:] + 1) & (number[:-1] == number[1:]) & (forest.word[1:] == ABSENT)
    )
    return repeats


def _mend_quotes(forests: tuple[Forest, Forest], kept: list[Flags], rules: BracketingRules) -> None:
    """Change what is kept, in place, in the sentences whose lengths differ."""
    gold_kept, output_kept = kept
    for s in range(len(forests[0])):
        gold, output = (slice(int(forest.start[s]), int(forest.start[s + 1])) for forest in forests)
        lengths = int(gold_kept[gold].sum()), int(output_kept[output].sum())
        if lengths[0] == lengths[1] or 0 in lengths:
            continue
        quotes = _quotes(forests[0], gold, rules)
        for there in _quotes(forests[1], output, rules):
            for here in quotes:
                left, right = gold_kept[gold.start : here], output_kept[output.start : there]
                if left.sum() == right.sum() and gold_kept[here] != output_kept[there]:
                    gold_kept[here] = output_kept[there] = True


def _quotes(forest: Forest, part: slice, rules: BracketingRules) -> list[int]:
    """The nodes that are quotes."""
    return [
        node
        for node in range(part.start, part.stop)
        if forest.word[node] != ABSENT
        and forest.words[forest.word[node]] in _QUOTES
        and forest.labels[forest.label[node]] in rules.quotes
    ]
