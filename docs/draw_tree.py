"""A parse and how sure the grammar is of each part: the picture of the README.

Learns a grammar from the generated demo treebank and draws `docs/_static/tree.svg`.
"""

from pathlib import Path

import latentgram as lg
from latentgram.view.trees import draw

PICTURE = Path(__file__).parent / "_static" / "tree.svg"


def main() -> None:
    grammar = lg.fit(lg.LPCFG, lg.demo_treebank(5000, seed=0), by=lg.Spectral(states=16))
    parse = lg.Parser(grammar).parse("The doctors thanked the captain of the village after the songs .")
    PICTURE.write_text(draw(parse.tree, parse.confidence.tolist()), "utf-8")


if __name__ == "__main__":
    main()
