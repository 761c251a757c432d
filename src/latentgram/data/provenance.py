"""`Provenance`: where a model came from. It travels with the model and changes nothing it computes."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Provenance:
    """The learner and its fields, the data's digest and size, the time it took, and what was seen on the way.

    `trace` has one mapping of names to numbers an iteration or stage.
    """

    learner: str = ""
    fields: dict[str, object] = field(default_factory=dict)
    data_digest: str = ""
    data_size: int = 0
    seconds: float = 0.0
    trace: tuple[dict[str, float], ...] = ()
