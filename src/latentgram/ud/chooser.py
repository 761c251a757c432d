"""`Chooser`: the edit script of a word, with its probability (kernels/choosing.py has the model).

Lemmas and the words of multiword tokens are both found in this way: the script of a word is chosen by its letters,
its tags and its neighbours, among those seen in training with the word or with words of the same ending.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from latentgram.arcs.model import HashedWeights
from latentgram.arrays import Codes, Flags, Floats, Ints, Ints32
from latentgram.data.invariants import ANY, below, holds, offsets, rising, shape
from latentgram.numeric.adagrad import Moving
from latentgram.ud.averaging import Learning, averaged_weights
from latentgram.ud.kernels.choosing import (
    LEVELS,
    MOST,
    Forms,
    Known,
    Lesson,
    Scripts,
    Tables,
    Words,
    all_lookup_keys,
    choose,
    form_codes,
    learn_pass,
    result_codes,
)
from latentgram.ud.scripts import edit_in, is_outright, shortest

HIDDEN = 2
"""So many times per pass a word is taken as new while learning; a word seen less often, every other time."""
TYPES = 2
"""Endings and beginnings of at least so many different words propose their scripts to others."""


@dataclass(frozen=True, eq=False)
class Items:
    """Words to choose scripts for, and their distinct forms in lower case."""

    forms: Forms
    words: Words

    @classmethod
    def of(cls, words: Sequence[str], tag: Codes, coarse: Codes, around: Sequence[Codes]) -> Items:
        """Words with the codes of their tags and of what stands around them."""
        number: dict[str, int] = {}
        form = np.array([number.setdefault(lowered(word), len(number)) for word in words], np.int64)
        letters, start = letters_of(number)
        shapes = np.array([case_of(word) for word in words], np.int64)
        stacked = np.stack(around, axis=1) if around else np.zeros((len(words), 0), np.uint64)
        return cls(
            Forms(letters, start, form_codes(letters, start)),
            Words(form, tag, coarse, shapes, np.ascontiguousarray(stacked)),
        )

    def __len__(self) -> int:
        return len(self.words.form)

    def select(self, numbers: Ints) -> Items:
        """Some of the words, by their numbers."""
        form, tag, coarse, shape, around = self.words
        chosen = Words(form[numbers], tag[numbers], coarse[numbers], shape[numbers], around[numbers])
        return Items(self.forms, chosen)


def readable(chooser: Chooser) -> bool:
    """Whether all scripts can be read; ValueError if one cannot."""
    return all(shortest(script) >= 0 for script in chooser.scripts)


@dataclass(frozen=True, eq=False)
class Chooser:
    """Scripts, which of them a word may have, and the weights by which one is chosen."""

    scripts: Annotated[tuple[str, ...], holds(readable, "has scripts that cannot be read")]
    key: Annotated[Codes, shape(ANY), rising()]
    start: Annotated[Ints, shape("len(key) + 1"), offsets("script")]
    script: Annotated[Ints32, shape(ANY), below("len(scripts)")]
    """The scripts seen with the word, ending or beginning of code `key[k]`: `script[start[k] : start[k + 1]]`."""
    result: Annotated[Codes, shape(ANY), rising()]
    times: Annotated[Ints32, shape("len(result)")]
    """Codes of results that were made of words, and of how many words each was."""
    weights: Annotated[HashedWeights, holds("weights.size == 1 << bits", "has another size")]
    bits: Annotated[int, holds("10 <= bits <= 28", "is out of range")]
    splits: bool = False
    """Whether scripts are splits: then beginnings propose them, as endings do."""

    @cached_property
    def known(self) -> Known:
        """What training has seen."""
        return Known(self.key, self.start, self.script, self.splits, self.result, self.times)

    @cached_property
    def effects(self) -> Scripts:
        """What the scripts do."""
        return effects_of(self.scripts)

    def choose(self, items: Items) -> tuple[Ints32, Floats]:
        """[words, MOST] candidates, −1 beyond the last, and their probabilities."""
        if not len(items):
            return np.zeros((0, MOST), np.int32), np.zeros((0, MOST))
        tables = Tables(items.forms, self.effects, self.known)
        chosen: tuple[Ints32, Floats] = choose(tables, items.words, self.weights.dense, self.bits)
        return chosen

    def results(
        self, words: Sequence[str], items: Items, apply: Callable[[str, str], Result | None]
    ) -> Iterator[dict[Result, float]]:
        """What the scripts make of each word, with probabilities: those of scripts with one result add."""
        chosen, probability = self.choose(items)
        made: dict[tuple[str, int], Result | None] = {}
        for word, scripts, shares in zip(words, chosen.tolist(), probability.tolist(), strict=True):
            found: dict[Result, float] = {}
            for script, share in zip(scripts, shares, strict=True):
                if script < 0:
                    break
                if (word, script) not in made:
                    made[word, script] = apply(self.scripts[script], word)
                if (result := made[word, script]) is not None:
                    found[result] = found.get(result, 0.0) + share
            yield found


Result = str | tuple[str, ...]
"""A lemma, or the words of a token."""


def learn_chooser(
    items: Items,
    scripts: Sequence[str],
    how: Learning,
    report: Callable[[int, float], None],
    splits: bool = False,
) -> Chooser:
    """A chooser from words and the scripts they have; after each pass its loss is reported."""
    names = tuple(sorted(set(scripts)))
    number = {script: i for i, script in enumerate(names)}
    gold = np.array([number[script] for script in scripts], np.int32)
    effects = effects_of(names)
    outright = np.array([is_outright(script) for script in names], np.bool_)
    known = Known(*_proposals(items, gold, outright, splits), splits, *_results(items, effects, gold))
    tables, (rank, period) = Tables(items.forms, effects, known), _hiding(items.words.form)

    def one_pass(done: int, order: Ints, weights: Moving) -> float:
        # One word in so many of a form is taken as never seen, so that endings learn what to say of new words.
        lesson = Lesson(gold, (rank + done) % period == 0)
        moment = float(done * len(items))
        return float(learn_pass(order, tables, items.words, lesson, how.step, moment, weights, how.bits))

    weights = averaged_weights(how, len(items), len(items), one_pass, report)
    seen = known.key, known.start, known.script, known.result, known.times
    return Chooser(names, *seen, weights, how.bits, splits)


def _hiding(form: Ints) -> tuple[Ints, Ints]:
    """How many words of the same form are before each, and after how many a form is taken as new again."""
    order = np.argsort(form, kind="stable")
    count = np.bincount(form)
    first = np.cumsum(count) - count
    rank = np.empty(len(form), np.int64)
    rank[order] = np.arange(len(form)) - np.repeat(first, count)
    return rank, np.maximum(count // HIDDEN, 2)[form]


def effects_of(scripts: Sequence[str]) -> Scripts:
    """What scripts do, for compiled loops."""
    edits = [edit_in(script) for script in scripts]
    front = np.array([-1 if edit is None else edit.front for edit in edits], np.int32)
    back = np.array([0 if edit is None else edit.back for edit in edits], np.int32)
    parts = (
        (lowered(script[1:]), "") if edit is None else (lowered(edit.before), lowered(edit.after))
        for script, edit in zip(scripts, edits, strict=True)
    )
    letters, start = letters_of(part for pair in parts for part in pair)
    return Scripts(front, back, letters, start, np.array([shortest(script) for script in scripts], np.int32))


def _results(items: Items, effects: Scripts, gold: Ints32) -> tuple[Codes, Ints32]:
    """The codes of what scripts made of words, sorted, and of how many different words each was made."""
    codes = result_codes(items.forms, items.words, effects, gold)
    pairs = np.unique(np.stack([codes, items.words.form.astype(np.uint64)], axis=1), axis=0)
    distinct, times = np.unique(pairs[:, 0], return_counts=True)
    return distinct, times.astype(np.int32)


def letters_of(texts: Iterable[str]) -> tuple[Ints, Ints]:
    """The letters of texts end to end, and where each begins."""
    held = list(texts)
    letters = np.frombuffer("".join(held).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    return letters, np.concatenate([[0], np.cumsum([len(text) for text in held])]).astype(np.int64)


def lowered(word: str) -> str:
    """A word in small letters, as many as it has."""
    small = word.lower()
    return small if len(small) == len(word) else "".join(sign.lower()[:1] for sign in word)


def _proposals(items: Items, gold: Ints32, outright: Flags, splits: bool) -> tuple[Codes, Ints, Ints32]:
    """The keys of words, endings and beginnings, sorted, and the scripts of each, the most frequent first."""
    keys = all_lookup_keys(items.forms, items.words, splits)
    level = np.broadcast_to(np.arange(LEVELS), keys.shape)
    used = keys != 0
    flat, scripts, forms = keys[used], *(np.repeat(each, used.sum(axis=1)) for each in (gold, items.words.form))
    own = level[used] < 2
    order = np.lexsort((forms, scripts, flat))
    flat, scripts, forms, own = flat[order], scripts[order], forms[order], own[order]
    new_key = np.append(True, flat[1:] != flat[:-1])
    new_script = new_key | np.append(True, scripts[1:] != scripts[:-1])
    new_form = new_script | np.append(True, forms[1:] != forms[:-1])
    group = np.cumsum(new_script) - 1
    count = np.bincount(group)
    key_of_group = np.cumsum(new_key)[new_script] - 1
    types = np.bincount(np.cumsum(new_key) - 1, weights=new_form)
    fine = ((types[key_of_group] >= TYPES) & ~outright[scripts[new_script]]) | own[new_script]
    flat, scripts, count = flat[new_script][fine], scripts[new_script][fine], count[fine]
    order = np.lexsort((scripts, -count, flat))
    flat, scripts = flat[order], scripts[order]
    first = np.flatnonzero(np.append(True, flat[1:] != flat[:-1])) if len(flat) else np.zeros(0, np.int64)
    rank = np.arange(len(flat)) - np.repeat(first, np.diff(np.append(first, len(flat))))
    flat, scripts = flat[rank < MOST], scripts[rank < MOST]
    distinct, starts = np.unique(flat, return_index=True)
    return distinct, np.append(starts, len(flat)).astype(np.int64), scripts.astype(np.int32)


def codes_of(texts: Iterable[str]) -> Codes:
    """A code of each text, the same on every machine; a text seen before is looked up."""
    made: dict[str, int] = {}
    codes = []
    for text in texts:
        code = made.get(text)
        if code is None:
            coded = text.encode("utf-8", "surrogatepass")
            code = made[text] = zlib.crc32(coded) << 32 | zlib.adler32(coded)
        codes.append(code)
    return np.array(codes, np.uint64)


def case_of(word: str) -> int:
    """0 for small letters, 1 for one capital, 2 for capitals throughout, 3 for others; with digits 4 more.

    8 for a word without letters.

    >>> [case_of(word) for word in ("cat", "Cat", "CAT", "eBay", "B2", "...")]
    [0, 1, 2, 3, 6, 8]
    """
    if not any(map(str.isalpha, word)):
        return 8
    case = 0 if word == word.lower() else 2 if word == word.upper() and len(word) > 1 else 3
    if case == 3 and word[1:] == word[1:].lower():
        case = 1
    return case + 4 * any(map(str.isdigit, word))
