"""The work of a parsing process on a sentence: its trees and posteriors in the form of the API.

Corrections that concern the parser become constraints. One that names something unknown to the grammar,
contradicts an earlier one or is satisfied by no tree is reported as unmet, and the tree satisfies all the others;
the latest one is given up first. The other corrections are then made by hand on the trees that were found. On a
`base` tree the parser only computes the probabilities of its parts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latentgram.data.constraints import Constraints
from latentgram.data.dependencies import UNIVERSAL_TAGS, DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.data.surface import NO_SPACE
from latentgram.data.tree import Tree
from latentgram.errors import DataError, LatentgramError, NoParse
from latentgram.kinds.kind import PHRASES
from latentgram.kinds.marginals import Marginals
from latentgram.kinds.protocols import AnyTree, Weighing
from latentgram.kinds.result import Parse, finite
from latentgram.parser.parser import Parser
from latentgram.web.annotations import words_in
from latentgram.web.editing.corrections import (
    Column,
    Correction,
    Merge,
    Numbered,
    Relation,
    Split,
    Tag,
    apply,
    asks,
    constraints_of,
    is_met,
    plainly,
    retokenised,
    unknown_names,
)
from latentgram.web.schemas import Analysis, Marginal, ParseAnswer, Unmet
from latentgram.web.shown import Posteriors, read_tree, shown

LONG = 100
"""Words of a sentence beyond which the posteriors of other trees than the best are not computed: they take as long
as the parse."""


@dataclass(frozen=True)
class Asked:
    """A sentence and all that was said of its tree."""

    sentence: Sentence
    known: Constraints | None = None
    corrections: tuple[Correction, ...] = ()
    base: str | None = None
    source: DependencyTree | None = None
    count: int = 1


def answer(parser: Parser, asked: Asked, version: int, guessed_tags: bool) -> str:
    """The analysis as the JSON of an answer: made where the work is done, it travels quickly."""
    analysis, unmet = analyse(parser, asked)
    told = ParseAnswer(version=version, guessed_tags=guessed_tags, unmet=unmet, **dict(analysis))
    return told.model_dump_json()


def analyse(parser: Parser, asked: Asked) -> tuple[Analysis, list[Unmet]]:
    """The best trees of a sentence, the posteriors of all that may be in a tree, and the corrections not met."""
    started = time.perf_counter()
    multiword = not _phrases(parser)
    words, corrections, cuts = retokenised(asked.sentence.words, asked.corrections, multiword)
    if asked.base is None:
        corrections = _in_terms_of(parser, corrections)
    sentence, source = _recut(asked.sentence, words, cuts), asked.source
    if source is None and cuts and multiword:
        source = _rows_of(asked.sentence)
    for cut in cuts:
        source = source if source is None else _tree_of(apply(source, cut))
    unmet: dict[int, Unmet] = {}
    if asked.base is not None:
        parses, marginals = [_based(parser, sentence, asked.base, cuts)], _marginals(parser, sentence, None)
        hand, asking = corrections, []
    else:
        hand = [(number, each) for number, each in corrections if not asks(each)]
        asking = [(number, each) for number, each in corrections if asks(each)]
        known, best = _obeying(parser, sentence, asked.known, asking, unmet)
        parses = [best]
        if asked.count > 1:
            more = [parse for parse in parser.nbest(sentence, asked.count, known) if parse.tree != best.tree]
            parses += more[: asked.count - 1]
        marginals = _marginals(parser, sentence, known)
    if source is not None:
        parses = [parse.onto(source) for parse in parses]
    first, *others = parses
    trees = [_by_hand(parser, first.tree, hand, unmet)]
    parses = [first]
    for parse in others:  # offered if they show all that the best one shows
        missed: dict[int, Unmet] = {}
        tree = _by_hand(parser, parse.tree, hand, missed)
        met = all(is_met(each, parse.tree) for number, each in asking if number not in unmet)
        if met and missed.keys() <= unmet.keys():
            parses.append(parse)
            trees.append(tree)
    posteriors = Posteriors.of(marginals)
    tagged = trees[0].sentence if isinstance(trees[0], DependencyTree) else first.sentence
    analysis = Analysis(
        kind="constituency" if isinstance(trees[0], Tree) else "dependency",
        words=sentence.words,
        xpos=tagged.xpos,
        upos=tagged.upos,
        logprob=finite(first.logprob),
        entropy=finite(first.entropy),
        fallback=first.fallback,
        coarse=first.coarse,
        tightened=first.tightened,
        trees=[shown(parse, tree, posteriors) for parse, tree in zip(parses, trees, strict=True)],
        marginals=posteriors.parts,
        tags=posteriors.tags,
        relations=_relations(parser, trees[0]),
        milliseconds=1000 * (time.perf_counter() - started),
    )
    return analysis, [unmet[number] for number in sorted(unmet)]


def _in_terms_of(parser: Parser, corrections: Numbered) -> Numbered:
    """Corrections in the labels of the grammar; function tags that it does not know are put on by hand."""
    if not _phrases(parser):
        return corrections
    labels = frozenset(parser.backend.labels)
    parts = ((number, plainly(each, labels) if asks(each) else [each]) for number, each in corrections)
    return [(number, part) for number, several in parts for part in several]


def entropies(parser: Parser, sentences: list[Sentence]) -> list[float | None]:
    """How unsure the parser is of each sentence; None where it cannot parse it."""
    return [_entropy(parser, sentence) for sentence in sentences]


def _entropy(parser: Parser, sentence: Sentence) -> float | None:
    try:
        return finite(parser.parse(sentence).entropy)
    except LatentgramError:
        return None


def _tree_of(tree: AnyTree) -> DependencyTree:
    if not isinstance(tree, DependencyTree):
        raise DataError("CoNLL-U rows need a dependency tree")
    return tree


def _recut(sentence: Sentence, words: tuple[str, ...], cuts: Sequence[Split | Merge]) -> Sentence:
    """The sentence after words were cut and joined; tags that came with it are of other words then."""
    if not cuts:
        return sentence
    if sentence.tags is None:
        return Sentence(words)
    rows: AnyTree = _rows_of(sentence)
    for cut in cuts:
        rows = apply(rows, cut)
    return rows.sentence


def _rows_of(sentence: Sentence) -> DependencyTree:
    """The rows of a sentence that came without any; its heads are of no account."""
    blanks = sentence.space_after or (True,) * len(sentence)
    return DependencyTree(
        sentence.words,
        (0, *range(1, len(sentence))),
        xpos=sentence.xpos or (),
        upos=sentence.upos or (),
        misc=tuple("_" if blank else NO_SPACE for blank in blanks),
    )


def _obeying(
    parser: Parser, sentence: Sentence, known: Constraints | None, asking: Numbered, unmet: dict[int, Unmet]
) -> tuple[Constraints | None, Parse]:
    """The best tree that obeys all corrections it can, and what it obeys."""
    obeyed: Numbered = []
    for number, each in asking:
        reason = _unknown(parser, each)
        if reason is not None:
            unmet[number] = Unmet(number=number, reason=f"{reason}: add it?", by_hand=True)
            continue
        try:
            constraints_of(other for _, other in (*obeyed, (number, each))).fit(len(sentence))
            obeyed.append((number, each))
        except DataError as error:
            rival = _contradicted(obeyed, each)
            unmet[number] = Unmet(number=number, reason=error.message, by_hand=True, against=rival)
    while True:
        told = known if not obeyed else constraints_of(each for _, each in obeyed)
        try:
            best = parser.parse(sentence, told)
            break
        except NoParse as error:
            if not obeyed:
                raise
            number, _ = obeyed.pop()
            unmet[number] = Unmet(number=number, reason=str(error), by_hand=True)
    for number, each in obeyed:
        if not is_met(each, best.tree):
            unmet[number] = Unmet(number=number, reason="the parser found no tree with this", by_hand=True)
    return told, best


def _contradicted(earlier: Numbered, correction: Correction) -> int | None:
    """The number of the first earlier correction that another contradicts; None if it is none of them alone."""
    if not _agree([correction]):
        return None
    return next((number for number, each in earlier if not _agree([each, correction])), None)


def _agree(corrections: Sequence[Correction]) -> bool:
    try:
        constraints_of(corrections)
    except DataError:
        return False
    return True


def _unknown(parser: Parser, correction: Correction) -> str | None:
    """What a correction names that neither the grammar nor its tagger knows; heads and units have no names."""
    tagger = parser.own_tagger
    if _phrases(parser):
        return unknown_names(correction, parser.backend.labels, parser.backend.tags)
    known = parser.backend.tags.union(*(() if tagger is None else (tagger.xpos, tagger.upos)))
    return unknown_names(correction, (), known) if isinstance(correction, Tag) and known else None


def _based(parser: Parser, sentence: Sentence, base: str, cuts: Sequence[Split | Merge]) -> Parse:
    """A tree that stays as it is; where the parser can, with the probability of the sentence."""
    tree = read_tree(base, _phrases(parser))
    for cut in cuts:
        tree = apply(tree, cut)
    if words_in(tree) != sentence.words:
        raise DataError("the tree to be kept has different words from the sentence")
    try:
        parse = parser.parse(sentence)
    except LatentgramError:
        parse = None
    logprob, entropy = (math.nan, math.nan) if parse is None else (parse.logprob, parse.entropy)
    none = np.full(len(sentence), math.nan)
    return Parse(sentence, tree, logprob, math.nan, none, none, entropy=entropy)


def _by_hand(parser: Parser, tree: AnyTree, hand: Numbered, unmet: dict[int, Unmet]) -> AnyTree:
    """A tree with what is made by hand; what cannot be is told as unmet."""
    for number, each in hand:
        reason = None
        if isinstance(tree, DependencyTree) and isinstance(each, Relation | Column) and not each.by_hand:
            reason = unknown_names(each, parser.backend.labels, (*UNIVERSAL_TAGS, *tree.upos))
        if reason is not None:
            unmet[number] = Unmet(number=number, reason=f"{reason}: add it?", by_hand=True)
            continue
        try:
            tree = apply(tree, each)
        except DataError as error:
            unmet[number] = Unmet(number=number, reason=error.message, by_hand=False)
    return tree


def _marginals(parser: Parser, sentence: Sentence, known: Constraints | None) -> Marginals:
    if len(sentence) > LONG:
        return Marginals()
    try:
        return parser.marginals(sentence, known)
    except LatentgramError:
        return Marginals()


def _relations(parser: Parser, tree: AnyTree) -> list[Marginal]:
    """The posteriors of all relations of the arcs of a tree, where the parser has some."""
    if not isinstance(tree, DependencyTree) or not isinstance(parser.backend, Weighing):
        return []
    try:
        told = parser.backend.relation_posteriors(tree.sentence, tree.heads)
    except LatentgramError:
        return []
    return [
        Marginal(first=word, end=word + 1, label=name, probability=p)
        for word, names in enumerate(told)
        for name, p in names.items()
    ]


def _phrases(parser: Parser) -> bool:
    return parser.kind.reads == PHRASES
