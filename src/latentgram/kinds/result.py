"""`Parse`: the one result of every parser."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from latentgram.arrays import Floats
from latentgram.data.brackets import parse_tree
from latentgram.data.dependencies import DependencyTree
from latentgram.data.sentence import Sentence
from latentgram.data.tree import Tree
from latentgram.errors import DataError
from latentgram.view.notebook import pictures_html
from latentgram.view.trees import draw

TAG_MARK = "TagProb="
WORD_MARKS = ("HeadProb=", "RelProb=", TAG_MARK, "LemmaProb=")
"""How the posteriors of arcs, of relations, of tags and of lemmas are written in MISC."""
COLUMN_MARKS = {"upos": "UposProb=", "xpos": "XposProb=", "feats": "FeatsProb="}
"""How those of single columns are."""
TOKEN_MARK, SPLIT_MARK = "TokenProb=", "SplitProb="
"""How those of the ends of tokens and of their words are."""
MARKS = (*WORD_MARKS, *COLUMN_MARKS.values(), TOKEN_MARK, SPLIT_MARK)
_MARKED = ("conditional", "coarse", "tightened", "pruned")
"""What JSON says of a parse only where it is so."""
NOTES = ("# logprob = ", "# fallback = ", "# sentence_prob = ")
"""How the comments that speak of a whole parse begin."""


class TagPosteriors(NamedTuple):
    """How sure a tagger is of the tags of a sentence's words."""

    together: Floats
    """Of each XPOS and UPOS together."""
    columns: Mapping[str, Floats]
    """Of each entry of `upos`, `xpos` and `feats`, as far as the tagger gives them."""


@dataclass(frozen=True, eq=False)
class Parse:
    """A tree with its probability and the confidence of its parts.

    `logprob` is log p(sentence): nan for models that only score trees, and a lower bound if the chart was pruned
    (`pruned`; `Parser.exact` gives the exact value). `tree_logprob` is log p(tree, sentence).
    `confidence` has the posterior of every node in the order of `tree.nodes()`, or of every word's arc,
    `tag_confidence` that of every word's tag, and `relation_confidence` that of the relation of every word's arc
    given its head (empty if the model has none). If the parser is calibrated, these are calibrated posteriors.
    If a sentence has no parse, the tree is a fallback, and `fallback` is true.

    `entropy` is that of the posterior over trees, in nats. It is exact for plain PCFGs and first-order
    arc-factored models. For ensembles and chart layers it is the entropy of the derivation, for other models that
    of the simplest distribution with the same posteriors (of rules, or of each word's head): upper bounds.
    `expected` is the expected F1 of the tree, or its expected proportion of correct heads.

    >>> import latentgram as lg
    >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting()))
    >>> parse = parser.parse("The dog sleeps .")
    >>> len(parse.confidence) == len(list(parse.tree.nodes())), parse.fallback
    (True, False)
    >>> parse
    <Parse: (TOP (S ... (. .))), log p(sentence) = -12.26, p(tree | sentence) = 1>
    """

    sentence: Sentence
    tree: Tree | DependencyTree
    logprob: float
    tree_logprob: float
    confidence: Floats
    tag_confidence: Floats
    fallback: bool = False
    entropy: float = math.nan
    expected: float = math.nan
    conditional: bool = False
    """Whether there is only p(tree | sentence), which then is in `tree_logprob`: the model has no other, or
    p(sentence) is 0."""
    relation_confidence: Floats = dataclasses.field(default_factory=lambda: np.zeros(0))
    lemma_confidence: Floats = dataclasses.field(default_factory=lambda: np.zeros(0))
    column_confidence: Mapping[str, Floats] = dataclasses.field(default_factory=dict)
    """The posteriors of `upos`, `xpos` and `feats`, by these names, where a tagger has given them."""
    coarse: bool = False
    """Whether the sentence had no time for more than a coarse tree; log p(sentence) is not known then."""
    tightened: bool = False
    """Whether the sentence is so long that its chart was pruned more tightly than others."""
    share: float = math.nan
    """p(tree | sentence) where p of the tree or of the sentence is negative, as it may be of a spectral grammar,
    and has no logarithm: the quotient of both, brought into [0, 1]."""
    pruned: bool = False
    """Whether the chart was pruned: `logprob` is a lower bound of log p(sentence), `probability` an upper bound,
    and posteriors are those among the trees that were left. `Parser.exact` prunes nothing."""

    def tagged(self, sure: TagPosteriors) -> Parse:
        """This parse with the posteriors of its tags."""
        return dataclasses.replace(self, tag_confidence=sure.together, column_confidence=sure.columns)

    def onto(self, source: DependencyTree) -> Parse:
        """This parse in the CoNLL-U rows of its source: only what the parser predicts is changed.

        Comments, multiword and empty rows, MISC and line endings are kept; tags, features and lemmas are replaced
        if the parser predicts them. Probabilities that an earlier run wrote for its own tree are removed.

        >>> import latentgram as lg
        >>> parser = lg.Parser(lg.fit(lg.SHAG, lg.demo_dependencies(50), by=lg.Counting()))
        >>> row = lg.DependencyTree(("Hi",), (-1,), upos=("INTJ",), lemmas=("hi",), comments=("# sent_id = 1",))
        >>> tree = parser.parse(row.sentence).onto(row).tree
        >>> tree.heads, tree.lemmas, tree.comments
        ((0,), ('hi',), ('# sent_id = 1',))
        """
        if not isinstance(self.tree, DependencyTree):
            raise DataError("only a dependency tree can be written into CoNLL-U rows")
        columns = {name: getattr(self.tree, name) for name in ("upos", "xpos", "feats", "lemmas")}
        tags = {name: column for name, column in columns.items() if any(tag != "_" for tag in column)}
        tree = source.replace(
            heads=self.tree.heads,
            deprels=self.tree.deprels,
            misc=tuple(map(_without_marks, source.misc)),
            comments=tuple(line for line in source.comments if not line.startswith(NOTES)),
            **tags,
        )
        return dataclasses.replace(self, tree=tree)

    def to_json(self) -> dict[str, object]:
        """Everything as plain values, with None for unknown numbers; `from_json` is the inverse.

        >>> import latentgram as lg
        >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting()))
        >>> parse = parser.parse("The dog sleeps .")
        >>> again = lg.Parse.from_json(parse.to_json())
        >>> again.tree == parse.tree, again.logprob == parse.logprob
        (True, True)
        """
        plain: dict[str, object] = {
            "words": list(self.sentence.words),
            "logprob": finite(self.logprob),
            "tree_logprob": finite(self.tree_logprob),
            "probability": finite(self.probability),
            "entropy": finite(self.entropy),
            "expected": finite(self.expected),
            "fallback": self.fallback,
            "confidence": [finite(p) for p in self.confidence],
            "tag_confidence": [finite(p) for p in self.tag_confidence],
        }
        plain |= {name: True for name in _MARKED if getattr(self, name)}
        if isinstance(self.tree, Tree):
            plain["tree"] = str(self.tree)
            plain["tags"] = list(self.tree.tags)
            plain["spans"] = [list(span) for span in self.tree.spans()]
        else:
            plain["heads"] = list(self.tree.heads)
            plain["deprels"] = list(self.tree.deprels)
            plain["tags"] = list(self.tree.sentence.tags or ())
            for name in ("relation_confidence", "lemma_confidence"):
                if len(posteriors := getattr(self, name)):
                    plain[name] = [finite(p) for p in posteriors]
            if self.column_confidence:
                columns = self.column_confidence.items()
                plain["column_confidence"] = {name: [finite(p) for p in column] for name, column in columns}
            plain["upos"], plain["xpos"] = list(self.tree.upos), list(self.tree.xpos)
            plain["feats"], plain["lemmas"] = list(self.tree.feats), list(self.tree.lemmas)
            plain["multiwords"] = [[*row.split("\t")[:2]] for _, row in self.tree.extra_rows]
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Parse:
        """A parse from the output of `to_json` or `latentgram parse --to json`."""
        try:
            words = tuple(plain["words"])
            tree: Tree | DependencyTree
            if "tree" in plain:
                tree = parse_tree(plain["tree"])
            else:
                heads, deprels, upos, xpos = (tuple(plain[name]) for name in ("heads", "deprels", "upos", "xpos"))
                feats, forms = (tuple(plain.get(name, ())) for name in ("feats", "lemmas"))
                tree = DependencyTree(
                    words, heads, deprels=deprels, upos=upos, xpos=xpos, feats=feats, lemmas=forms
                )
            numbers = {name: known(plain[name]) for name in ("logprob", "tree_logprob", "entropy", "expected")}
            further = (plain.get(name, ()) for name in ("relation_confidence", "lemma_confidence"))
            confidence, tag_confidence, relations, lemmas = (
                np.array([known(p) for p in column], np.float64)
                for column in (plain["confidence"], plain["tag_confidence"], *further)
            )
            columns = {
                name: np.array([known(p) for p in column], np.float64)
                for name, column in plain.get("column_confidence", {}).items()
            }
            if plain.get("probability") == 0 and plain["tree_logprob"] is None:
                numbers["tree_logprob"] = -math.inf
            elif plain["logprob"] is None or plain["tree_logprob"] is None:
                numbers["share"] = known(plain.get("probability"))
            if "tree" in plain and plain.get("conditional"):
                numbers["logprob"] = -math.inf
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"this is not a parse in its JSON form: {error!r}") from None
        return cls(
            tree.sentence,
            tree,
            confidence=confidence,
            tag_confidence=tag_confidence,
            fallback=bool(plain.get("fallback", False)),
            conditional=bool(plain.get("conditional", False)),
            coarse=bool(plain.get("coarse", False)),
            tightened=bool(plain.get("tightened", False)),
            pruned=bool(plain.get("pruned", False)),
            relation_confidence=relations,
            lemma_confidence=lemmas,
            column_confidence=columns,
            **numbers,
        )

    def __repr__(self) -> str:
        tree = self.tree
        shown = str(tree) if isinstance(tree, Tree) else " ".join(map(_arc, tree.words, tree.heads, tree.deprels))
        figures = {"log p(sentence)": self.logprob, "p(tree | sentence)": self.probability}
        known = (f", {name} = {value:.4g}" for name, value in figures.items() if not math.isnan(value))
        return f"<Parse: {shown}{''.join(known)}>"

    def _repr_svg_(self) -> str:
        """The tree, coloured by its posteriors, in a notebook."""
        return draw(self.tree, self.confidence.tolist())

    @property
    def probability(self) -> float:
        """The posterior of the whole tree, p(tree | sentence); nan where the model has none for trees."""
        if not math.isnan(self.share):
            return self.share
        if self.tree_logprob == -math.inf:
            return 0.0
        evidence = 0.0 if self.conditional else self.logprob
        return math.exp(min(self.tree_logprob - evidence, 0.0))


def _arc(word: str, head: int, relation: str) -> str:
    """A word with its head and relation: `dog←2(nsubj)`."""
    return f"{word}←{head}({relation})"


class NBest(list[Parse]):
    """Parses of one sentence, best first, or samples: a list with a display for notebooks.

    >>> import latentgram as lg
    >>> parser = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(50, seed=0), by=lg.Counting()))
    >>> parses = parser.nbest("The dog sleeps .", 2)
    >>> parses._repr_html_().count("<svg") == len(parses)
    True
    """

    def _repr_html_(self) -> str:
        return pictures_html(
            [_caption(rank, parse) for rank, parse in enumerate(self, 1)], [parse._repr_svg_() for parse in self]
        )


def _caption(rank: int, parse: Parse) -> str:
    share = "" if math.isnan(parse.probability) else f": p = {parse.probability:.3g}"
    return f"{rank}{share}"


def finite(number: float | np.floating) -> float | None:
    """A number that JSON knows: None in place of nan and the infinities."""
    value = float(number)
    return value if math.isfinite(value) else None


def known(number: float | None) -> float:
    """The number that `finite` had: nan in place of None."""
    return math.nan if number is None else float(number)


def _without_marks(misc: str) -> str:
    """A MISC column without the posteriors of an earlier parse."""
    return "|".join(part for part in misc.split("|") if not part.startswith(MARKS)) or "_"
