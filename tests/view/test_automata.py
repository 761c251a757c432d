"""Pictures are well-formed and show what they should."""

import xml.etree.ElementTree as ET
from itertools import combinations

import numpy as np

import latentgram as lg
from latentgram.view.automata import draw_dfa
from latentgram.view.plots import line_plot


def test_an_automaton_is_drawn(tmp_path):
    bank = lg.demo_dependencies(200, seed=2)
    shag = lg.fit(lg.SHAG, bank, by=lg.Spectral(states=4))
    dfa = shag["NN", lg.LEFT].to_dfa(clusters=4)
    dfa.draw(tmp_path / "nn.svg")
    root = ET.parse(tmp_path / "nn.svg").getroot()
    shown = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any(text.startswith("I") for text in shown)
    assert any("DT" in text for text in shown)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == (dfa.visits >= 0.004).sum()
    rows = dfa.step.sum(1) + dfa.stop
    np.testing.assert_allclose(rows, 1.0)


def test_a_plot_has_a_line_for_each_series():
    drawing = line_plot({"a & b": [(1, 2.0), (2, 3.0)], "level": [(1, 2.5)]}, title="t", x_label="x", y_label="y")
    root = ET.fromstring(drawing)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) == 2


def test_labels_do_not_cover_each_other():
    shag = lg.fit(lg.SHAG, lg.demo_dependencies(300, seed=0), by=lg.Spectral(states=6))
    seen = 0
    for head in shag.symbols.alphabet:
        picture = draw_dfa(shag[head, lg.LEFT].to_dfa(clusters=6))
        boxes = [
            tuple(float(each.attrib[name]) for name in ("x", "y", "width", "height"))
            for each in ET.fromstring(picture).iter()
            if each.tag.endswith("rect") and each.get("height") == "18"
        ]
        seen += len(boxes)
        for (x, y, width, height), (left, top, wide, high) in combinations(boxes, 2):
            assert x + width <= left + 1 or left + wide <= x + 1 or y + height <= top + 1 or top + high <= y + 1
    assert seen > 10
