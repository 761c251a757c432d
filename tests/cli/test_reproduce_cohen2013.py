"""The experiments of Cohen et al. (2013) on a small generated treebank: every table is there and adds up."""

import csv
import io

import pytest

from latentgram.data.demo import demo_treebank
from latentgram.data.word_clusters import WordClusters
from latentgram.errors import DataError
from latentgram.reproduce.cohen2013 import STAGES, reproduce


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    demo_treebank(120, seed=1).write(folder / "train.mrg")
    demo_treebank(20, seed=2).write(folder / "dev.mrg")
    demo_treebank(20, seed=3).write(folder / "test.mrg")
    (folder / "clusters.tsv").write_text("0\tteacher\n0\tcaptain\n10\tsees\n11\tsleeps\n", "utf-8")
    clusters = WordClusters.read(folder / "clusters.tsv")
    return reproduce(folder, states=(2, 3), rounds=4, every=2, test=True, many=6, vectors=clusters)


def test_every_table_is_there(run):
    results, page, files = run
    rows = results["rows"]
    em = [row for row in rows if row["name"] == "EM"]
    assert [(row["states"], row["rounds"]) for row in em] == [(2, 2), (2, 4), (3, 2), (3, 4)]
    assert {row["states"] for row in rows if row["name"] == "spectral"} == {2, 3}
    once_for_each = [row["name"] for row in rows if row["name"] not in ("PCFG", "Markovised PCFG")]
    for name in (
        "without smoothing",
        "without scaling",
        "simple features",
        "words smoothed as printed",
        "heads by the table of Collins",
        "heads by the English table",
        "signed posteriors",
        "posteriors of rules",
        "pruned in two stages",
    ):
        assert once_for_each.count(name) == 2
    for stages in results["stages"].values():
        assert list(stages) == list(STAGES)
    beyond = {row["name"]: row for row in results["beyond"]}
    assert {"5 × spectral, dropped features", "spectral, rules of rank 4"} < set(beyond)
    assert {"clusters", "spectral, words in clusters", "clusters, words in clusters"} < set(beyond)
    assert all(row["stage"] > 0 for row in beyond.values() if row["states"] == 6)
    assert set(results["stages"]) == set(results["negative"]) == {"2", "3"}
    assert set(results["test"]) == {"PCFG", "EM", "EM + back-off", "spectral"}
    assert all(0 < row["dev"] <= 100 for row in rows)
    assert set(files) == {"table1.svg", "table2.svg", "results.csv"}
    assert len(list(csv.DictReader(io.StringIO(files["results.csv"])))) == len(rows)
    for heading in ("Table 1", "Table 2", "Table 3", "§4.3", "Beyond"):
        assert heading in page
    best = max(row["dev"] for row in em if row["states"] == 3)
    assert f"{best:.2f}" in page


def test_a_folder_without_a_treebank_is_named(tmp_path):
    with pytest.raises(DataError, match=r"train\.mrg does not exist"):
        reproduce(tmp_path)
