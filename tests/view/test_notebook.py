"""What values show of themselves in a notebook is well-formed, escaped, and readable in light and dark."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import latentgram as lg
from latentgram.evaluate.calibration import calibration


@pytest.fixture(scope="module")
def parser() -> lg.Parser:
    return lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(80, seed=0), by=lg.EM(states=2, iterations=3)))


def shown(value: object) -> ElementTree.Element:
    """What a notebook would show: HTML first, a picture else."""
    html = getattr(value, "_repr_html_", None) or value._repr_svg_  # type: ignore[attr-defined]
    return ElementTree.fromstring(f"<div>{html()}</div>")


def drawings(page: ElementTree.Element) -> list[ElementTree.Element]:
    return list(page.iter("{http://www.w3.org/2000/svg}svg"))


def test_trees_and_parses(parser: lg.Parser) -> None:
    parse = parser.parse("the <old> man sleeps .")
    for value in (parse, parse.tree, lg.demo_dependencies(1)[0]):
        (picture,) = drawings(shown(value))
        assert picture.get("class") == "latentgram"
        assert "prefers-color-scheme:dark" in ElementTree.tostring(picture, "unicode")


def test_lists_name_rank_and_probability(parser: lg.Parser) -> None:
    parses = parser.nbest("the man saw the old boat .", 3)
    page = shown(parses)
    assert len(drawings(page)) == len(parses)
    captions = [caption.text for caption in page.iter("figcaption")]
    assert captions[0] == f"1: p = {parses[0].probability:.3g}"
    assert isinstance(parser.sample("the man sleeps .", 2), lg.NBest)


def test_models_show_arrays_and_learning_curves(parser: lg.Parser) -> None:
    page = shown(parser.model)
    cells = [cell.text for cell in page.iter("td")]
    assert "rule_tensor" in cells
    assert cells[cells.index("rules") + 2] == f"{len(parser.model.rules)} × 3"
    curves = lg.learning_curves(parser.model)
    assert curves
    assert "round" not in curves
    assert curves["bound"].series["bound"][0][0] == 1.0
    assert len(drawings(page)) == len(curves) == len(drawings(shown(parser.model.provenance)))
    assert len(drawings(shown(curves))) == len(curves)


def test_spectra() -> None:
    grammar = lg.fit(lg.LPCFG, lg.demo_treebank(80, seed=0), by=lg.Spectral(states=3))
    curve = lg.spectrum(grammar, "NP")
    assert [value for _, value in curve.series["NP"]] == list(grammar.spectra["NP"])
    drawings(shown(curve))
    heads = lg.fit(lg.SHAG, lg.demo_dependencies(60), by=lg.Spectral(states=3))
    symbol = heads.symbols.alphabet[0]
    assert lg.spectrum(heads, symbol, "left").y_label == "singular value"


def test_scores_and_calibration(parser: lg.Parser) -> None:
    score = parser.evaluate(lg.demo_treebank(10, seed=3))
    cells = [cell.text for cell in shown(score).iter("td")]
    assert cells[cells.index("f1") + 1] == f"{score.f1:.2f}"
    assert cells[cells.index("short f1") + 1] == f"{score.short.f1:.2f}", "no mapping is written out"
    assert len(drawings(shown(calibration([0.9, 0.4], [True, False])))) == 1


def test_counts_show_their_most_frequent_n_grams() -> None:
    page = shown(lg.NGramCounts.of(lg.Text.of(["a <b> a", "a <b>"]), order=2))
    cells = [cell.text for cell in page.iter("td")]
    assert cells[:4] == ["<s> a", "2", "a <b>", "2"]


def test_a_style_does_not_leave_its_drawing() -> None:
    style = drawings(shown(lg.demo_treebank(1)[0]))[0].find("{http://www.w3.org/2000/svg}style")
    assert style is not None
    rules = (style.text or "").replace("@media(prefers-color-scheme:dark){", "").split("}")
    selectors = [name for rule in rules if "{" in rule for name in rule.split("{")[0].split(",")]
    assert selectors
    assert all(name.startswith(":where(.latentgram) ") for name in selectors)


def test_words_with_surprisal_and_with_tags(parser: lg.Parser) -> None:
    reading = lg.Surprisal.of(parser.model).read("the <old> man sleeps .")
    rows = [[cell.text for cell in row.iter("td")] for row in shown(reading).iter("tr")][1:]
    assert [row[0] for row in rows] == [*reading.sentence.words, "(end)"]
    assert [row[1] for row in rows] == [f"{bits:.2f}" for bits in (*reading.surprisal, reading.ending)]
    hmm = lg.fit(lg.HMM, [["<a>", "b"], ["b"]], by=lg.EM(states=2, iterations=2))
    tagging = hmm.tag(["<a>", "b"])
    rows = [[cell.text for cell in row.iter("td")] for row in shown(tagging).iter("tr")][1:]
    assert [tuple(row[:2]) for row in rows] == list(zip(tagging.words, tagging.tags, strict=True))


def test_a_prompt_shows_one_readable_line(parser: lg.Parser) -> None:
    parse = parser.parse("the man sleeps .")
    assert repr(parse.tree) == f"<Tree {parse.tree}>"
    assert repr(parse).startswith(f"<Parse: {parse.tree}, log p(sentence) = ")
    assert repr(lg.Surprisal.of(parser.model).read("the man")).startswith("<Reading: the ")
    tree = lg.demo_dependencies(1)[0]
    parsed = lg.Parse(tree.sentence, tree, float("nan"), float("nan"), parse.confidence, parse.confidence)
    arcs = zip(tree.words, tree.heads, tree.deprels, strict=True)
    assert repr(parsed) == f"<Parse: {' '.join(f'{word}←{head}({name})' for word, head, name in arcs)}>"
