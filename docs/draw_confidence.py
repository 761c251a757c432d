"""How sure is the parser, what else could it be, and what if it is told this much: the pictures of the guide.

Learns a grammar from the generated demo treebank, calibrates it on other trees, and draws, into `docs/_static`, a
sentence as it is parsed (`confidence-free.svg`) and as it is parsed under a constraint (`confidence-told.svg`),
its reliability before and after calibration, F1 of the most confident sentences, and the surprisal of each word.
"""

from pathlib import Path

import latentgram as lg
from latentgram.lpcfg.surprisal import Surprisal
from latentgram.view.plots import line_plot, reliability_plot
from latentgram.view.trees import draw

FOLDER = Path(__file__).parent / "_static"
SENTENCE = "The doctors thanked the captain of the village after the songs ."


def save(name: str, picture: str) -> None:
    (FOLDER / f"confidence-{name}.svg").write_text(picture, "utf-8")


def main() -> None:
    plain = lg.Parser(lg.fit(lg.LPCFG, lg.demo_treebank(2000, seed=0), by=lg.Counting()))
    parser = lg.calibrate(plain, lg.demo_treebank(500, seed=1))
    free = parser.parse(SENTENCE)
    print(f"log p(sentence) {free.logprob:.2f}, p(tree | sentence) {free.probability:.3f}")
    print(f"entropy {free.entropy:.2f} nats, expected F1 {free.expected:.3f}")
    save("free", draw(free.tree, free.confidence.tolist()))
    told = parser.parse(SENTENCE, spans=[(3, 11, "NP")])
    save("told", draw(told.tree, told.confidence.tolist()))
    for number, parse in enumerate(plain.nbest(SENTENCE, 4), 1):
        print(f"{number}. p = {parse.probability:.3f}  {parse.tree}")
    unseen = lg.demo_treebank(500, seed=2)
    before, after = lg.reliability(plain, unseen), lg.reliability(parser, unseen)
    save("before", reliability_plot(before.reliability, "Before calibration"))
    save("after", reliability_plot(after.reliability, "After calibration on other trees"))
    curve = [(100 * share, score) for share, score in after.selective()]
    save(
        "selective", line_plot({"F1": curve}, title="The most confident sentences", x_label="% kept", y_label="F1")
    )
    bits = list(enumerate(Surprisal.of(plain.model)(SENTENCE).tolist(), 1))
    save("surprisal", line_plot({"bits": bits}, title="Surprisal", x_label="word", y_label="bits"))


if __name__ == "__main__":
    main()
