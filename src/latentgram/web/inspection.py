"""What there is to see inside a model: its symbols, what their hidden states mean, spectra, automata."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property

from latentgram.errors import SettingError, a_or_an
from latentgram.kinds.protocols import Inspection as InsideOf
from latentgram.kinds.protocols import Model
from latentgram.kinds.registry import kind_of
from latentgram.web.schemas import ModelAnswer, SymbolAnswer, SymbolInfo


@dataclass(frozen=True, eq=False)
class Inspection:
    """Looks into one model."""

    model: Model

    @cached_property
    def _inside(self) -> InsideOf | None:
        kind = kind_of(self.model)
        return kind.inspection()(self.model) if kind.inspect else None

    def describe(self) -> ModelAnswer:
        """The model and its symbols, the most frequent first."""
        made_by = self.model.provenance
        symbols = self._inside.symbols() if self._inside is not None else []
        return ModelAnswer(
            summary=self.model.summary(),
            learner=made_by.learner,
            settings=dict(made_by.fields),
            data_size=made_by.data_size,
            seconds=made_by.seconds,
            symbols=[SymbolInfo(**asdict(symbol)) for symbol in symbols],
        )

    def look(self, symbol: str, direction: str, clusters: int) -> SymbolAnswer:
        """The hidden states of one symbol, or of one head and direction."""
        if self._inside is None:
            raise SettingError(f"{a_or_an(type(self.model).__name__)} has no hidden states to look at")
        return SymbolAnswer.model_validate(asdict(self._inside.look(symbol, direction, clusters)))
