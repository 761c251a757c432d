"""`latentgram show --symbol`: hidden states of stored grammars."""

import pytest
from typer.testing import CliRunner

import latentgram as lg
from latentgram.cli.main import app


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder, train = tmp_path_factory.mktemp("models"), lg.demo_treebank(120, seed=1)
    for name, learner in (("clusters", lg.Clustering(states=3)), ("spectral", lg.Spectral(states=3))):
        lg.save(lg.Parser(lg.fit(lg.LPCFG, train, by=learner)), folder / f"{name}.lg")
    return folder


def shown(*arguments):
    return CliRunner().invoke(app, ["show", *map(str, arguments)], catch_exceptions=True)


def test_states_of_probabilities_tell_what_they_prefer(models):
    told = shown(models / "clusters.lg", "--symbol", "NP")
    assert told.exit_code == 0
    assert told.stdout.count("  below: ") == told.stdout.count("  above: ") > 1
    assert "become one" in told.stdout
    assert told.stdout.count("  trees: (NP ") > 1
    spectrum = shown(models / "clusters.lg", "--symbol", "NP", "--spectrum")
    assert len(spectrum.stdout.splitlines()) == 8  # the dimensions that were clustered


def test_spectral_states_tell_their_singular_values(models, tmp_path):
    told = shown(models / "spectral.lg", "--symbol", "NP")
    lines = told.stdout.splitlines()
    sizes = [float(line.split("\t")[1]) for line in lines if "\t" in line]
    assert [line for line in lines if line.startswith("coord")] == [f"coordinate {h}" for h in (1, 2, 3)]
    assert sum(line.startswith("  at ") and "%" in line for line in lines) >= 4
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 3
    assert sizes == pytest.approx(lg.load(models / "spectral.lg").model.spectra["NP"], rel=1e-4)
    assert shown(models / "spectral.lg", "--symbol", "NP", "--svg", tmp_path / "a.svg").exit_code == 0
    assert (tmp_path / "a.svg").read_text().startswith("<svg")


def test_unknown_symbols_are_named(models):
    assert "no symbol 'XYZ'" in str(shown(models / "clusters.lg", "--symbol", "XYZ").exception)
