"""Forged model files are refused or harmless; see forging.py for the long round."""

from __future__ import annotations

import dataclasses
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as to_bytes

import latentgram as lg
from fuzz import forging
from fuzz.processes import harmful
from latentgram import store
from latentgram.data.invariants import _stated
from latentgram.errors import ModelFileError
from latentgram.kinds.kind import named
from store.test_old_files import SENTENCES, phrase_trees


def test_a_short_round_of_forgeries_does_no_harm() -> None:
    outcomes = forging.attempt(0, 60)
    assert not list(filter(harmful, outcomes))
    assert outcomes["refused"] > 30
    assert outcomes["answers"] > 5


@pytest.mark.parametrize("seed", [100209, 103866])
def test_forgeries_that_once_did_harm(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws from an automaton whose weights leave no word."""
    monkeypatch.setattr(forging, "PATIENCE", 300.0)
    outcomes = forging.attempt(seed, seed + 1)
    assert not list(filter(harmful, outcomes))


def changed(name: str, array: str, change: Any) -> Any:
    """What comes of a stored file with one array changed."""
    value = store.load(forging.FILES / f"{name}.lg")
    document, arrays = store.encode(value, store._class_named)
    (name,) = (each for each in arrays if f".{each}".endswith(f".{array}"))
    arrays[name] = np.ascontiguousarray(change(arrays[name]))
    return document, arrays, type(value).__name__


def put(at: Any, number: Any) -> Any:
    def change(array: Any) -> Any:
        array = array.copy()
        array[at] = number
        return array

    return change


BREAKS = [
    ("hmm_counting", "emit_tag", put(3, 10**6), "HMM.emit_tag has the entry 1000000, which is not from 0 to"),
    ("hmm_counting", "transition", put((1, 1), np.nan), "HMM.transition has the entry nan"),
    ("backoff_ngram_counting", "arc_start", put(2, 10**9), "BackoffNGram.arc_start falls"),
    ("backoff_ngram_counting", "backoff", put(1, 3), "refers to rows that are not before its own"),
    ("backoff_ngram_counting", "backoff", put(5, 4), "does not shorten histories"),
    (
        "lpcfg_em",
        "lexicon_offset",
        lambda a: a[:-1],
        "does not lead from the beginning to the end",
    ),
    ("lpcfg_em", "root_offset", put(1, 0), "does not fit the sizes of the pieces of root_vector"),
    ("lpcfg_em", "rules", lambda a: a[::-1], "LPCFG.rules is not sorted"),
    ("lpcfg_em", "states", put(0, -3), "LPCFG.states has the entry -3"),
    ("shag_counting", "pair", put((0, 0, 0), 9999), "SHAG.pair has the entry 9999"),
    ("shag_counting", "start", lambda a: a[:1], "SHAG.start has the shape [1, "),
    ("tagger_perceptron", "candidates.start", put(-1, 10**6), "Candidates.start does not lead"),
    ("tagger_perceptron", "row_tag", put(0, 300), "Tagger.row_tag has the entry 300"),
    ("latent_tree_em", "word", lambda a: a[:-2], "LatentTree.word has the shape"),
    ("latent_tree_spectral", "product", lambda a: a[:, :, :0], "LatentTree.product does not fit the states"),
    ("top_down_gradient", "weight", put((0, 0), np.inf), "TopDown.weight has the entry nan"),
    ("ngram_counts", "trie.prefix", put(-1, 10**6), "NGramTrie.prefix refers to rows"),
    ("ngram_tagger", "word_state", put(0, -1), "NGramTagger.word_state has the entry -1"),
    ("text", "tokens", put(-1, 1), "Text.tokens lacks a boundary"),
]


@pytest.mark.parametrize(("name", "array", "change", "message"), BREAKS, ids=[f"{b[0]}.{b[1]}" for b in BREAKS])
def test_what_is_broken_is_named(name: str, array: str, change: Any, message: str, tmp_path: Path) -> None:
    document, arrays, kind = changed(name, array, change)
    header = {"format": store.FORMAT, "library": lg.__version__, "kind": kind, "value": document}
    header["digest"] = store._digest(header, arrays)
    path = tmp_path / "forged.lg"
    path.write_bytes(to_bytes(arrays, {"latentgram": store.json.dumps(header)}))
    with pytest.raises(ModelFileError) as refusal:
        store.load(path)
    assert message in str(refusal.value)
    assert str(refusal.value).startswith(f"{path} is damaged: ")


def test_every_array_that_can_be_stored_states_its_invariants() -> None:
    lacking = []
    for reference in store.storable_classes().values():
        cls = named(reference)
        hints, stated = typing.get_type_hints(cls), dict(_stated(cls))
        for field in dataclasses.fields(cls):
            if holds_arrays(hints[field.name]) and not stated.get(field.name):
                lacking.append(f"{cls.__name__}.{field.name}")
    assert not lacking


def holds_arrays(hint: Any) -> bool:
    """Whether values of a type are arrays, or have some among them."""
    return typing.get_origin(hint) is np.ndarray or any(map(holds_arrays, typing.get_args(hint)))


@pytest.mark.parametrize(
    "script", ["lower\t0\t\t-99999\t", "lower\t999\t\t-999\t", "odd\t0\t\t0\t", "x", "keep\t0\t\t²\t"]
)
def test_scripts_that_reach_beyond_a_word_are_refused(script: str, tmp_path: Path) -> None:
    trees = [lg.DependencyTree((word + "s",), (0,), upos=("N",), lemmas=(word,)) for word in ("cat", "dog", "rat")]
    model = lg.fit(lg.Lemmatiser, trees, by=lg.Gradient(passes=1))
    scripts = (script, *model.chooser.scripts[1:])
    forged = dataclasses.replace(model, chooser=dataclasses.replace(model.chooser, scripts=scripts))
    lg.save(forged, tmp_path / "forged.lg")
    with pytest.raises(ModelFileError, match=r"Chooser\.scripts is invalid"):
        lg.load(tmp_path / "forged.lg")


def test_weights_that_are_too_few_for_their_features_are_refused(tmp_path: Path) -> None:
    parser = lg.load(forging.FILES / "arc_factored_mbr.lg")
    few = dataclasses.replace(
        parser.model.weights, size=7, bucket=np.zeros(0, np.uint32), value=np.zeros(0, np.float32)
    )
    lg.save(dataclasses.replace(parser.model, weights=few), tmp_path / "forged.lg")
    with pytest.raises(ModelFileError, match="is shorter than the variants of a feature"):
        lg.load(tmp_path / "forged.lg")


def test_draws_from_weights_that_overflow_end() -> None:
    hmm = lg.load(forging.FILES / "hmm_counting.lg")
    forged = dataclasses.replace(hmm, emit_prob=np.full_like(hmm.emit_prob, 1e308))
    with np.errstate(all="ignore"), pytest.raises(lg.LatentgramError, match="gives probability zero"):
        forged.sample_tags("The woman arrived despite these songs .", 2)


def test_products_that_overflow_leave_no_posteriors() -> None:
    """Not a tree without nodes, which has no weight."""
    parser = lg.load(forging.FILES / "parser_max_rule.lg")
    tensor = parser.model.rule_tensor.copy()
    tensor[11] = -1e308
    forged = lg.Parser(
        dataclasses.replace(parser.model, rule_tensor=tensor), decoder=parser.decoder, pruning=parser.pruning
    )
    sentences = [tree.sentence for tree in phrase_trees()]
    with np.errstate(all="ignore"):
        assert [parse.tree.words for parse in map(forged.parse, sentences)] == [each.words for each in sentences]


def test_a_best_tree_that_cannot_be_found_is_refused() -> None:
    """The weight of every tree of one of the sentences is beyond the range of floats."""
    parser = lg.load(forging.FILES / "lpcfg_heads.lg")
    tensor = parser.model.rule_tensor.copy()
    tensor[[2, 16, 22]] = 1e15, 1e308, 1e15
    forged = lg.Parser(dataclasses.replace(parser.model, rule_tensor=tensor), decoder=parser.decoder)
    with np.errstate(all="ignore"), pytest.raises(lg.NoParse, match="too large or too small"):
        list(map(forged.parse, SENTENCES))
