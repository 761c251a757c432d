"""What is learned and parsed on a cluster is what is learned and parsed here, to the last bit.

Workers of one kind of processor add the same numbers in the same order with the same code. Where processors
differ, BLAS does: then sums agree to about 1e-12 of their size, and singular vectors as far as their gaps allow.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import latentgram as lg
from latentgram.data.provenance import Provenance
from latentgram.latent_tree import statistics as latent_tree
from latentgram.lpcfg import counting as counting_lpcfg
from latentgram.lpcfg import em_steps
from latentgram.parallel import Cluster
from latentgram.sequences import em as hmm
from laws.cases import Case
from oracles.equality import same

CASES = [
    Case("LPCFG", "Counting"),
    Case("LPCFG", "Spectral"),
    Case("LPCFG", "EM"),
    Case("LPCFG", "Clustering"),
    Case("ChartCRF", "Gradient"),
    Case("SHAG", "Spectral"),
    Case("HMM", "EM"),
    Case("LatentTree", "EM"),
    Case("ArcFactored", "MIRA"),
]


def bare(model: Any) -> Any:
    """A model without the record of how long learning took."""
    return dataclasses.replace(model, provenance=Provenance())


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several shards of a few sentences, so that there is something to add."""
    for module in (counting_lpcfg, em_steps, latent_tree):
        monkeypatch.setattr(module, "SHARD", 20)
    monkeypatch.setattr(hmm, "SHARD", 100)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_models_are_equal(case: Case, cluster: Cluster, small_shards: None) -> None:
    here = bare(case.fit())  # first, since what is compiled here need not be compiled by each worker
    assert same(bare(case.fit(engine=cluster)), here)


@pytest.mark.parametrize("case", [Case("LPCFG", "EM"), Case("SHAG", "Spectral")], ids=str)
def test_parses_are_equal(case: Case, cluster: Cluster) -> None:
    parser = lg.Parser(case.fit())
    sentences = [tree.sentence for tree in case.data] * 3
    here = list(parser.parse_many(sentences))
    there = parser.parse_many(sentences, engine=cluster)
    assert all(same(one, other) for one, other in zip(here, there, strict=True))


def test_scores_are_equal(cluster: Cluster) -> None:
    parser = lg.Parser(Case("LPCFG", "Counting").fit())
    trees = lg.demo_treebank(70, seed=9)
    here, sure = parser.evaluate(trees).to_json(), lg.reliability(parser, trees).to_json()
    assert parser.evaluate(trees, engine=cluster).to_json() == here
    assert lg.reliability(parser, trees, engine=cluster).to_json() == sure
