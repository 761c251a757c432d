"""Where the real corpora lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def corpora() -> Path:
    folder = os.environ.get("LATENTGRAM_DATA")
    if not folder:
        pytest.skip("LATENTGRAM_DATA does not point to the real corpora")
    return Path(folder)
