"""What every model has besides its parameters: its provenance, and a line about its size.

Neither changes the results of a model.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Provenance:
    """The learner and its fields, the data's digest and size, the time it took, and what was seen on the way.

    `trace` has one mapping of names to numbers per iteration or stage.
    """

    learner: str = ""
    fields: dict[str, object] = field(default_factory=dict)
    data_digest: str = ""
    data_size: int = 0
    seconds: float = 0.0
    trace: tuple[dict[str, float], ...] = ()

    def _repr_html_(self) -> str:
        """What was said to the learner, and the learning curves, in a notebook."""
        from latentgram.view.notebook import provenance_html

        return provenance_html(self)


class Summarised:
    """A base of dataclasses of large arrays, which a `repr` would write out: what they print is a line about them.

    >>> import latentgram as lg
    >>> lg.fit(lg.SHAG, lg.demo_dependencies(50), by=lg.Counting())
    <SHAG: split head-automata grammar: 25 symbols (joined), 2 deterministic states, 144 operators, 19 relations>
    """

    def summary(self) -> str:
        """One line about the size."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary()}>"

    def _repr_html_(self) -> str:
        """The summary, the arrays and how it was learned, in a notebook."""
        from latentgram.view.notebook import model_html

        return model_html(self, self.summary())
