"""Decoders by the names that the command line knows."""

from __future__ import annotations

from typing import Any

from latentgram.errors import SettingError
from latentgram.kinds.decoders import MBR, Viterbi
from latentgram.lpcfg.decoders import Brackets, Goodman, MaxRule

DECODERS: dict[str, Any] = {
    "viterbi": Viterbi(),
    "goodman": Goodman(),
    "max-rule": MaxRule(),
    "recall": Brackets("recall"),
    "f1": Brackets("f1"),
    "unlabelled-recall": Brackets("recall", labelled=False),
    "unlabelled-f1": Brackets("f1", labelled=False),
    "mbr": MBR(),
    "mbr-sum": MBR("sum"),
}
"""What each name stands for: the last two are for dependency trees, `viterbi` for both, the others for phrases."""


def decoder_named(name: str) -> Any:
    """The decoder of a name.

    >>> decoder_named("f1")
    Brackets(gain='f1', labelled=True)
    """
    if name not in DECODERS:
        raise SettingError(f"there is no decoder {name!r}; known are {', '.join(DECODERS)}")
    return DECODERS[name]
