"""Back-off automata as files for other programs: ARPA models and OpenFst text.

ARPA has failure semantics and so has one reading: the others are refused, since their paths cannot be said in it.
In OpenFst's text form, arcs to the lower history are labelled `<phi>` (to be matched by its phi-matcher) under the
failure reading and `<eps>` under the others; weights are -log p; the boundary `</s>` leads to the one final state.
"""

from __future__ import annotations

import numpy as np

from latentgram.data.files import PathLike, write_text
from latentgram.data.ngrams.arpa import Arpa, write_arpa
from latentgram.data.ngrams.trie import NGramTrie
from latentgram.data.text import BOUNDARY, refuse_blanks
from latentgram.errors import SettingError
from latentgram.sequences.ngram import BackoffNGram


def to_arpa(model: BackoffNGram) -> Arpa:
    """The ARPA form of an automaton under the failure reading."""
    if model.reading != "failure":
        raise SettingError(
            f"ARPA files mean exact failure arcs; this automaton is read as {model.reading}: "
            "build it with the failure reading, or export to OpenFst"
        )
    length = (model.history >= 0).sum(1)
    grams = []
    arcs_of: list[np.ndarray] = []
    for order in range(1, model.order + 1):
        arcs = np.flatnonzero(length[model.source] == order - 1)
        history = model.history[model.source[arcs]][:, model.order - order :]
        grams.append(np.concatenate([history, model.arc_word[arcs][:, None]], axis=1))
        arcs_of.append(arcs)
    trie, rows = NGramTrie.of(grams, len(model.words))
    logprob, backoff = np.full(len(trie), -99.0), np.zeros(len(trie))
    with np.errstate(divide="ignore"):
        for arcs, row in zip(arcs_of, rows, strict=True):
            logprob[row] = np.maximum(np.log10(model.arc_prob[arcs]), -99.0)
        for order in range(1, model.order):
            states = np.flatnonzero(length == order)
            row = trie.find(model.history[states][:, model.order - 1 - order :])
            backoff[row] = np.maximum(np.log10(model.failure[states]), -99.0)
    return Arpa(model.words, trie, logprob, backoff)


def export_arpa(model: BackoffNGram, path: PathLike) -> None:
    """Write an ARPA file."""
    write_arpa(to_arpa(model), path)


def export_openfst(model: BackoffNGram, path: PathLike) -> None:
    """Write an acceptor in OpenFst's text form; the first line leaves the initial state, as OpenFst wants."""
    label = "<phi>" if model.reading == "failure" else "<eps>"
    final = model.states
    refuse_blanks(model.words, "OpenFst text")
    order = [model.initial, *(state for state in range(model.states) if state != model.initial)]
    symbols = model.words.symbols
    with np.errstate(divide="ignore"):
        weight, down = -np.log(model.arc_prob), -np.log(model.failure)
    with write_text(path) as out:
        for state in order:
            for arc in range(int(model.arc_start[state]), int(model.arc_start[state + 1])):
                word = int(model.arc_word[arc])
                target = final if word == BOUNDARY else int(model.arc_target[arc])
                out.write(f"{state}\t{target}\t{symbols[word]}\t{symbols[word]}\t{weight[arc]:.9g}\n")
            if state > 0 and model.failure[state] > 0:
                out.write(f"{state}\t{int(model.backoff[state])}\t{label}\t{label}\t{down[state]:.9g}\n")
        out.write(f"{final}\n")


def export_symbols(model: BackoffNGram, path: PathLike) -> None:
    """Write the table of symbols that goes with `export_openfst`."""
    with write_text(path) as out:
        for number, name in enumerate(("<eps>", "<phi>", *model.words.symbols)):
            out.write(f"{name}\t{number}\n")
