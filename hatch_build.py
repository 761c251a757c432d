"""What building adds: a wheel that ships compiled kernels is one for this Python and system, without them one for
all; and the description for package indexes is the README, with links and pictures that work away from here.

Where the sources are published is not written down in the package: it is the `origin` of the clone that a release
is built from, or what LATENTGRAM_SOURCE says (https://…). Without either, no address is claimed: links become
their text, and pictures are left out.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)]+)\)")
"""A link to, or a picture in, a file of the repository."""
ADDRESS = re.compile(r"(?:https://|(?:ssh://)?git@)([\w.-]+)[:/]([\w.~/-]+?)(?:\.git)?/?")
"""Of a repository, as git writes it."""


class CompiledKernels(BuildHookInterface):
    """Looks for what `latentgram warm-up --ship` has left in the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Mark the wheel as one for this platform if there is compiled code to go into it."""
        if Path(self.root, "src", "latentgram", "_compiled").is_dir():
            build_data["pure_python"] = False
            build_data["infer_tag"] = True


class Description(MetadataHookInterface):
    """The README for package indexes, and the addresses of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Make relative links absolute where it is known what they are relative to."""
        source = published_at(self.root)
        if source:
            metadata["urls"] = {
                "Source": source,
                "Documentation": f"{source}/blob/main/docs/index.md",
                "Changelog": f"{source}/blob/main/CHANGELOG.md",
            }
        text = described(Path(self.root, "README.md").read_text("utf-8"), source)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def described(readme: str, source: str) -> str:
    """The README with links that work elsewhere: pages to look at, pictures as they are."""

    def elsewhere(link: re.Match[str]) -> str:
        picture, text, place = link.groups()
        if not source:
            return "" if picture else text
        return f"{picture}[{text}]({source}/{'raw' if picture else 'blob'}/main/{place})"

    return RELATIVE.sub(elsewhere, readme)


def published_at(root: str) -> str:
    """The address of the repository for a browser; nothing where there is none that others can open."""
    origin = os.environ.get("LATENTGRAM_SOURCE", "")
    if not origin and Path(root, ".git").exists():
        asked = ["git", "-C", root, "remote", "get-url", "origin"]
        try:
            origin = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        except OSError:  # there is no git
            origin = ""
    known = ADDRESS.fullmatch(origin)
    return f"https://{known[1]}/{known[2]}" if known else ""
