"""`Summarised`: models hold large arrays, so what they print is their kind and a line about their size."""

from __future__ import annotations


class Summarised:
    """A base of dataclasses without a `repr` of their own, which would write out every array.

    >>> import latentgram as lg
    >>> lg.fit(lg.SHAG, lg.demo_dependencies(50), by=lg.Counting())
    <SHAG: split head-automata grammar: 25 symbols (joined), 2 deterministic states, 144 operators, 19 relations>
    """

    def summary(self) -> str:
        """One line about the size."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary()}>"
