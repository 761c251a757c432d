"""Model files of an earlier version are read, and what is read answers as it did when it was written.

`old_files` holds a small file of every kind of thing that can be stored, and `expected.json` what each of them
said of a few sentences and trees. `answers` asks the same again, by way of the public names only.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import latentgram as lg

FOLDER = Path(__file__).parent / "old_files"
CLOSE = 1e-6
"""How far numbers may be from the expected ones, as a share; the expected ones have nine digits."""
STEEP = {"parser_calibrated.lg"}
"""Files with a curve that has steps between posteriors of 1 and of 1 less the last bit."""
CLOSE_ON_STEPS = 0.05
CLOSE_IN_CHARTS = 1e-4
"""The same for grammars with hidden states, whose charts are in single precision."""

SENTENCES = (
    "The woman arrived despite these songs .",
    "These songs warned the parcel of many lawyers yesterday .",
    "Drivers of songs fixed a famous gryphon before the woman .",
)
STRINGS = ("The woman arrived .", "The parcel warned these lawyers .", "<tag:DT> <tag:NN> <tag:VBD> <tag:.>")
"""For models that know few words; the last is of symbols that stand for words of one tag."""
TREES = (
    "(TOP (S (NP (DT The) (NN woman)) (VP (VBD arrived) (PP (IN despite) (NP (DT these) (NNS songs)))) (. .)))",
    "(TOP (S (NP (DT These) (NNS songs)) (VP (VP (VBD warned) (NP (DT the) (NN parcel)) (PP (IN of) (NP (DT many)"
    " (NNS lawyers)))) (ADVP (RB yesterday))) (. .)))",
    "(TOP (S (NP (NP (NNS Drivers)) (PP (IN of) (NP (NNS songs)))) (VP (VBD fixed) (NP (DT a) (JJ famous) (NN"
    " gryphon)) (PP (IN before) (NP (DT the) (NN woman)))) (. .)))",
)
HEADS = (
    (2, 3, 0, 6, 6, 3, 3),
    (2, 3, 0, 5, 3, 8, 8, 3, 3, 3),
    (4, 3, 1, 0, 7, 7, 4, 10, 10, 4, 4),
)
COARSE = {
    "DT": "DET",
    "NN": "NOUN",
    "NNS": "NOUN",
    "VBD": "VERB",
    "IN": "ADP",
    "JJ": "ADJ",
    "RB": "ADV",
    ".": "PUNCT",
}
RAW_TEXT = "The woman arrived. These lawyers didn't fix many songs, Dr. Leon warned (quietly)."


def phrase_trees() -> list[lg.Tree]:
    """The trees of the sentences as phrases."""
    return [lg.parse_tree(tree) for tree in TREES]


def dependency_trees() -> list[lg.DependencyTree]:
    """The trees of the sentences as arcs."""
    trees = []
    for phrases, heads in zip(phrase_trees(), HEADS, strict=True):
        tags = phrases.tags
        trees.append(lg.DependencyTree(phrases.words, heads, upos=tuple(COARSE[tag] for tag in tags), xpos=tags))
    return trees


def number(value: float, digits: int = 9) -> float | str:
    """A number with so many significant digits; what is not finite is named."""
    return float(f"{float(value):.{digits}g}") if math.isfinite(value) else str(float(value))


def numbers(values: Iterable[float]) -> list[float | str]:
    """Numbers with nine significant digits."""
    return [number(value) for value in values]


def shares(values: Iterable[float]) -> list[float | str]:
    """Probabilities with six decimals."""
    return [round(float(value), 6) if math.isfinite(value) else str(float(value)) for value in values]


def structure(tree: lg.Tree | lg.DependencyTree) -> Any:
    """A tree as text, or as heads, relations and tags."""
    if isinstance(tree, lg.DependencyTree):
        return [list(tree.heads), " ".join(tree.deprels), " ".join(tree.upos), " ".join(tree.xpos)]
    return str(tree)


def parse_answers(parse: lg.Parse) -> dict[str, Any]:
    """A parse with all its probabilities."""
    return {
        "tree": structure(parse.tree),
        "logprob": number(parse.logprob),
        "tree_logprob": number(parse.tree_logprob),
        "confidence": shares(parse.confidence),
        "tag_confidence": shares(parse.tag_confidence),
        "entropy": shares([parse.entropy])[0],
        "expected": shares([parse.expected])[0],
        "fallback": parse.fallback,
    }


def brief(parses: Iterable[lg.Parse]) -> list[list[Any]]:
    """The trees of some parses with their probabilities."""
    return [[structure(parse.tree), number(parse.tree_logprob)] for parse in parses]


def constrained(parser: lg.Parser, sentence: Any, known: Mapping[str, Any]) -> Any:
    """The parse that obeys constraints, or the name of the error where there is none."""
    try:
        return brief([parser.parse(sentence, **known)])
    except lg.LatentgramError as error:
        return type(error).__name__


def parser_answers(parser: lg.Parser) -> dict[str, Any]:
    """What a parser says of the sentences, with and without their tags, and of the given trees."""
    arcs = not isinstance(parser.model, lg.LPCFG | lg.Ensemble | lg.ChartCRF)
    gold: Sequence[Any] = dependency_trees() if arcs else phrase_trees()
    tagged = [tree.sentence for tree in gold]
    asked: list[Any] = [*tagged, *([] if arcs and parser.tagger is None else SENTENCES)]
    known: dict[str, Any] = {"heads": {8: 5}} if arcs else {"spans": [(3, 8, "NP")]}
    marginals = parser.marginals(tagged[0])
    found = {
        "parses": [parse_answers(parse) for parse in parser.parse_many(asked)],
        "best": brief(parser.nbest(tagged[1], 4)),
        "drawn": brief(parser.sample(tagged[1], 3, seed=7)),
        "given": [parse_answers(parser.score(tree)) for tree in gold],
        "constrained": constrained(parser, tagged[1], known),
        "spans": [[*span[:3], *shares(span[3:])] for span in marginals.spans],
        "tags": [[*tag[:2], *shares(tag[2:])] for tag in marginals.tags],
        "arcs": [[*arc[:2], *shares(arc[2:])] for arc in marginals.arcs],
    }
    if parser.tokeniser is not None:
        found["raw"] = [parse_answers(parser.parse(each)) for each in parser.sentences_of(RAW_TEXT)]
    return found


def tagging_answers(tagging: Any) -> list[Any]:
    """Tags with their probabilities."""
    unknown = [bool(flag) for flag in tagging.unknown]
    tags = " ".join(tagging.tags)
    return [tags, shares(tagging.confidence), number(tagging.logprob), number(tagging.tags_logprob), unknown]


def tagger_answers(tagger: Any) -> dict[str, Any]:
    """Of a tagger that has lists and draws: the tags of the sentences."""
    return {
        "viterbi": [tagging_answers(each) for each in tagger.tag_all(SENTENCES, decoder="viterbi")],
        "posterior": [tagging_answers(each) for each in tagger.tag_all(SENTENCES, decoder="posterior")],
        "best": [tagging_answers(each) for each in tagger.nbest(SENTENCES[1], 3)],
        "drawn": [tagging_answers(each) for each in tagger.sample_tags(SENTENCES[1], 2, seed=7)],
    }


def hmm_answers(hmm: lg.HMM) -> dict[str, Any]:
    """Tags, probabilities of sentences, and sentences drawn."""
    return {
        **tagger_answers(hmm),
        "logprobs": numbers(hmm.logprob(sentence) for sentence in SENTENCES),
        "sampled": [[" ".join(each.words), " ".join(each.tags or ())] for each in hmm.sample(2, seed=7)],
    }


def automaton_answers(automaton: lg.OperatorAutomaton) -> dict[str, Any]:
    """The values of strings; that of a string with an unknown symbol is 0."""
    signs, logs = automaton.values([string.split() for string in (*SENTENCES, *STRINGS)])
    return {
        "signs": numbers(signs),
        "logs": numbers(logs),
        "total": number(automaton.total()),
        "states": [numbers(state) for state in automaton.forward(SENTENCES[0])],
    }


def ngram_answers(model: lg.BackoffNGram) -> dict[str, Any]:
    """Probabilities of sentences, the flow of the automaton, and sentences drawn."""
    known = lg.Text.of(SENTENCES[:1])
    return {
        "logprobs": numbers(model.logprobs((*SENTENCES, *STRINGS))),
        "words": numbers(model.word_logprobs(known)),
        "perplexity": number(model.perplexity(known)),
        "flow": numbers(model.flow[:40]),
        "sampled": [" ".join(sentence.words) for sentence in model.sample(3, seed=7)],
    }


def counts_answers(counts: lg.NGramCounts) -> dict[str, Any]:
    """The first n-grams, some looked up, and the sizes."""
    wanted = ("a", "<s> The", "The woman", "woman arrived", "nothing", "<tag:DT>", "<s> <tag:DT>")
    return {
        "sizes": [counts.order, len(counts), counts.sentences, counts.tokens, list(counts.cutoffs)],
        "counts": [counts[gram] for gram in wanted],
        "items": [[" ".join(gram), count] for gram, count in islice(counts.items(), 0, None, 37)],
    }


def latent_tree_answers(model: lg.LatentTree) -> dict[str, Any]:
    """Probabilities of trees; where there are true states, their posteriors and symbols drawn."""
    trees = dependency_trees()
    found: dict[str, Any] = {"logprobs": numbers(model.logprobs(trees))}
    if model.has_states:
        found["states"] = [shares(row) for row in model.posterior(trees[0])]
        found["drawn"] = [" ".join(words) for words in model.sample(trees, seed=7)]
    return found


def top_down_answers(model: lg.TopDown) -> dict[str, Any]:
    """Probabilities of trees, in their two parts."""
    return {
        "logprobs": numbers(model.logprobs(dependency_trees())),
        "parts": [
            numbers(model.logprobs_of_heads(tree.sentence, np.array([tree.heads]))[0])
            for tree in dependency_trees()
        ],
    }


def arc_factor_answers(factor: Any) -> dict[str, Any]:
    """The weights of trees under a factor of products, and the posteriors of arcs."""
    trees = dependency_trees()
    return {
        "logprobs": numbers(factor.logprob(tree.sentence) for tree in trees),
        "tree_logprobs": numbers(factor.tree_logprob(tree) for tree in trees),
        "arcs": [shares(row) for row in factor.posteriors(trees[0].sentence).arcs],
    }


def vectors_answers(vectors: lg.WordVectors) -> dict[str, Any]:
    """Vectors, and the words used alike."""
    words = ("The", "woman", "arrived")
    return {
        "values": numbers(vectors.values),
        "vectors": [numbers(vectors[word]) for word in words],
        "neighbours": [[[each, *shares([cosine])] for each, cosine in vectors.neighbours(w, 4)] for w in words],
    }


def dictionary_answers(dictionary: lg.TagDictionary) -> dict[str, Any]:
    """The tags that words may have."""
    words = sorted({word for sentence in SENTENCES for word in sentence.split()})
    return {
        "digest": dictionary.digest,
        "size": len(dictionary),
        "allowed": {word: list(dictionary.allowed(word)) for word in words},
    }


def text_answers(text: lg.Text) -> dict[str, Any]:
    """The sentences."""
    return {"digest": text.digest, "size": text.size, "sentences": [" ".join(each.words) for each in text]}


def tokeniser_answers(tokeniser: lg.Tokeniser) -> dict[str, Any]:
    """The tokens of raw text."""
    found = list(tokeniser.sentences(RAW_TEXT))
    return {
        "words": [" ".join(sentence.words) for sentence in found],
        "blanks": [list(sentence.space_after or ()) for sentence in found],
    }


def binarisation_answers(binarisation: lg.Binarisation) -> dict[str, Any]:
    """Trees made binary, and back."""
    forest = lg.Forest.of(phrase_trees())
    binary = binarisation.binarise(forest)
    return {
        "binary": [str(tree) for tree in binary],
        "restored": [str(tree) for tree in binarisation.restore_forest(binary)],
    }


def rare_words_answers(rule: lg.RareWords) -> dict[str, Any]:
    """The symbols of words."""
    return {"symbols": [" ".join(rule.symbols(sentence.split())) for sentence in SENTENCES]}


def alphabet_answers(alphabet: lg.Alphabet) -> dict[str, Any]:
    """The symbols and their numbers."""
    return {"symbols": list(alphabet), "numbers": alphabet.encode(["NN", "no such tag", "DT"]).tolist()}


ANSWERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "Alphabet": alphabet_answers,
    "ArcDistance": arc_factor_answers,
    "ArcFactored": lambda model: parser_answers(lg.Parser(model)),
    "BackoffNGram": ngram_answers,
    "Binarisation": binarisation_answers,
    "Ensemble": lambda model: parser_answers(lg.Parser(model)),
    "HMM": hmm_answers,
    "LPCFG": lambda model: parser_answers(lg.Parser(model)),
    "LatentTree": latent_tree_answers,
    "NGramCounts": counts_answers,
    "NGramTagger": lambda tagger: {"tags": [tagging_answers(each) for each in tagger.tag_all(SENTENCES)]},
    "OperatorAutomaton": automaton_answers,
    "Parser": parser_answers,
    "RareWords": rare_words_answers,
    "Reranker": lambda model: parser_answers(lg.Parser(model)),
    "SHAG": lambda model: parser_answers(lg.Parser(model)),
    "TagDictionary": dictionary_answers,
    "Tagger": tagger_answers,
    "Text": text_answers,
    "Tokeniser": tokeniser_answers,
    "TopDown": top_down_answers,
    "WordVectors": vectors_answers,
}
"""What is asked of each kind of value that a file may hold."""


def answers(value: Any) -> dict[str, Any]:
    """What a loaded value says, as plain JSON values."""
    found = ANSWERS[type(value).__name__](value)
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def classes_in(value: Any) -> set[str]:
    """The names of all classes that a value is made of."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = (getattr(value, field.name) for field in dataclasses.fields(value) if field.init)
        return {type(value).__name__}.union(*map(classes_in, parts))
    if isinstance(value, Mapping):
        return set().union(*map(classes_in, value.values()))
    if isinstance(value, list | tuple):
        return set().union(*map(classes_in, value))
    return set()


def differences(found: Any, wanted: Any, close: float, place: str = "") -> list[str]:
    """Where two answers differ: numbers by more than `close`, all else by anything."""
    if isinstance(found, dict) and isinstance(wanted, dict) and found.keys() == wanted.keys():
        return [line for key in wanted for line in differences(found[key], wanted[key], close, f"{place}.{key}")]
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        pairs = enumerate(zip(found, wanted, strict=True))
        return [line for i, (one, other) in pairs for line in differences(one, other, close, f"{place}[{i}]")]
    if type(found) is type(wanted) is float:
        same = math.isclose(found, wanted, rel_tol=close, abs_tol=2 * close)
    else:
        same = type(found) is type(wanted) and found == wanted
    return [] if same else [f"{place}: {found!r} in place of {wanted!r}"]


def hidden_states(value: Any) -> bool:
    """Whether charts in single precision are behind the answers of a value."""
    model = getattr(value, "model", value)
    grammars = model.grammars if isinstance(model, lg.Ensemble | lg.ChartCRF) else (model,)
    return any(isinstance(grammar, lg.LPCFG) and grammar.states.max() > 1 for grammar in grammars)


EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text("utf-8"))
"""By name of the file: its kind, the classes in it, and its answers."""


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_an_old_file_answers_as_it_did(name: str) -> None:
    wanted = EXPECTED[name]
    value = lg.load(FOLDER / name, wanted["kind"])
    assert sorted(classes_in(value)) == wanted["classes"]
    close = CLOSE_IN_CHARTS if hidden_states(value) else CLOSE
    if name in STEEP:
        close = CLOSE_ON_STEPS
    assert not differences(answers(value), wanted["answers"], close)


def test_every_file_is_expected() -> None:
    assert sorted(path.name for path in FOLDER.glob("*.lg")) == sorted(EXPECTED)
