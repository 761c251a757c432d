"""A wheel that ships compiled kernels is one for this Python and system; without them it is one for all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):
    """Looks for what `latentgram warm-up --ship` has left in the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Mark the wheel as one for this platform if there is compiled code to go into it."""
        if Path(self.root, "src", "latentgram", "_compiled").is_dir():
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
