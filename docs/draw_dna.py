"""Hidden Markov models where the symbols are not words: islands in DNA.

DNA has stretches, called islands, that are rich in C and G. We draw sequences from a model with two hidden states,
sea and island, and hide the states. An HMM learned from the bare letters finds them again: the picture
(`docs/_static/dna-islands.svg`) shows where it sees an island in a new sequence, learned with the states of a few
sequences known and without. The number of states, the next letter and a letter never seen (N) are asked for on the
way.
"""

from pathlib import Path

import numpy as np

import latentgram as lg
from latentgram.view.plots import line_plot

FOLDER = Path(__file__).parent / "_static"
STATES, LETTERS = ("island", "sea"), "ACGT"
STAY = {"island": 0.97, "sea": 0.99}
EMITS = {"island": (0.1, 0.4, 0.4, 0.1), "sea": (0.3, 0.2, 0.2, 0.3)}


def drawn(sequences: int, length: int, seed: int) -> list[list[tuple[str, str]]]:
    """Sequences of (letter, state)."""
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(sequences):
        state, sequence = "sea", []
        for _ in range(length):
            sequence.append((LETTERS[rng.choice(4, p=EMITS[state])], state))
            if rng.random() > STAY[state]:
                state = "sea" if state == "island" else "island"
        result.append(sequence)
    return result


def main() -> None:
    train, (test,) = drawn(60, 400, seed=1), drawn(1, 400, seed=2)
    letters = [[letter for letter, _ in sequence] for sequence in train]
    bare = lg.fit(lg.HMM, letters, by=lg.EM(states=2, iterations=80, start="spectral", unknown="class"))
    chosen = lg.fit(lg.HMM, letters, by=lg.EM(states="auto", iterations=30))
    print(f"states chosen by held-out likelihood: {chosen.states}")
    some = [*train[:3], *letters[3:]]
    known = lg.fit(lg.HMM, some, by=lg.EM(known_tags=True, iterations=80, unknown="class"))
    sequence, truth = [letter for letter, _ in test], np.array([state == "island" for _, state in test])
    rich = max(range(2), key=lambda state: bare.emit_prob[(bare.emit_tag == state + 1)][[1, 2]].sum())
    curves = {
        "truth": truth.astype(float),
        "no state known": bare.tag_posteriors(sequence)[:, rich],
        "states of 3 sequences known": known.tag_posteriors(sequence)[:, known.tags.index("island") - 1],
    }
    for name, curve in list(curves.items())[1:]:
        print(f"{name}: {100 * np.mean((curve > 0.5) == truth):.1f} % of the letters right")
    likely = list(known.next_words(sequence[:50]).items())[:2]
    print("after 50 letters:", ", ".join(f"{letter} {p:.2f}" for letter, p in likely))
    print(f"log p with a letter never seen: {known.logprob([*sequence[:5], 'N']):.2f}")
    picture = line_plot(
        {name: list(enumerate(curve.tolist())) for name, curve in curves.items()},
        title="p(island) along a sequence", x_label="letter", y_label="p",
    )  # fmt: skip
    (FOLDER / "dna-islands.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    main()
