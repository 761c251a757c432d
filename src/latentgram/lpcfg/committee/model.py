"""`Committee`: several `ChartCRF`s of one treebank that parse together.

Layers over grammars with other binarisations or other seeds make different mistakes. A committee is their mixture,

    p(tree | sentence) = (1/G) Σ_g p_g(tree | sentence),        p(sentence) = (1/G) Σ_g p_g(sentence),

the second over all grammars below the layers, as in an `Ensemble`. So the posterior of a treebank node is the mean
of the members', and a sample is drawn from a randomly chosen member. A member whose grammar cannot derive the
sentence is left out of the first mean. The members need not have any symbol in common: what they share are the
nodes of treebank trees.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from latentgram.data.provenance import Provenance, Summarised
from latentgram.errors import SettingError
from latentgram.lpcfg.crf.model import ChartCRF
from latentgram.lpcfg.inspect.inspection import GrammarInspection
from latentgram.lpcfg.surprisal import BEAM, Surprisal


@dataclass(frozen=True, repr=False)
class Committee(Summarised):
    """Conditional random fields over the charts of different grammars of one treebank.

    >>> import latentgram as lg
    >>> learner = lg.Gradient(layers=2, states=2, passes=1, bits=12)
    >>> committee = lg.fit(lg.Committee, lg.demo_treebank(40, seed=0), by=learner)
    >>> [crf.grammars[0].binarisation.direction for crf in committee.layers]
    ['left', 'right']
    >>> lg.Parser(committee).parse("The dog sleeps .").tree.words
    ('The', 'dog', 'sleeps', '.')
    """

    layers: tuple[ChartCRF, ...]
    provenance: Provenance = field(default_factory=Provenance)

    def __post_init__(self) -> None:
        if not self.layers:
            raise SettingError("a committee needs at least one layer")
        roots = {crf.grammars[0].binarisation.root for crf in self.layers}
        if len(roots) > 1:
            raise SettingError(
                f"the layers of a committee have different roots ({', '.join(map(str, roots))}); "
                "learn all of them from the same trees"
            )

    def summary(self) -> str:
        """Its members, in one line."""
        directions = ", ".join(crf.grammars[0].binarisation.direction for crf in self.layers)
        return f"committee of {len(self.layers)} ({directions}); the first: {self.layers[0].summary()}"


def read_words(model: Committee, *, exact: bool = False, entropies: bool = True) -> Surprisal:
    """What reads sentences word by word: p of words is the mean of the grammars'."""
    grammars = tuple(grammar for crf in model.layers for grammar in crf.grammars)
    return Surprisal(grammars, beam=0.0 if exact else BEAM, entropies=entropies)


def inspection(model: Committee) -> GrammarInspection:
    """The symbols and hidden states of the first grammar."""
    return GrammarInspection(model.layers[0].grammar)
