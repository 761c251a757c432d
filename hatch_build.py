"""What building adds: a wheel that ships compiled kernels is one for this Python and system, without them one for
all; and the description for package indexes is the README, with links and pictures that work away from here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"\]\((?!https?://|#)([^)]+)\)")
"""A link to, or a picture in, a file of the repository."""
PICTURES = (".svg", ".png")


class CompiledKernels(BuildHookInterface):
    """Looks for what `latentgram warm-up --ship` has left in the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Mark the wheel as one for this platform if there is compiled code to go into it."""
        if Path(self.root, "src", "latentgram", "_compiled").is_dir():
            build_data["pure_python"] = False
            build_data["infer_tag"] = True


class Description(MetadataHookInterface):
    """The README for package indexes."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Make relative links absolute: pages to look at, pictures as they are."""
        source = self.config["source"]

        def absolute(link: re.Match[str]) -> str:
            kind = "raw" if link[1].endswith(PICTURES) else "blob"
            return f"]({source}/{kind}/main/{link[1]})"

        text = RELATIVE.sub(absolute, Path(self.root, "README.md").read_text("utf-8"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
