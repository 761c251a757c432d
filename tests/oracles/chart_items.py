"""Every item that a chart over some words could have, for charts that nothing has pruned."""

from __future__ import annotations

from typing import Any

import numpy as np


def complete_items(length: int, leaf_begin: Any, leaf_symbol: Any, interminals: int) -> tuple[Any, Any]:
    """All interminals in every cell of two words and more, the given preterminals over the words.

    Cells go by width, then by first word; `cell_begin` says where the items of each begin.
    """
    wider = length * (length - 1) // 2
    cell_begin = np.append(leaf_begin, leaf_begin[-1] + interminals * np.arange(1, wider + 1))
    item_symbol = np.append(leaf_symbol, np.tile(np.arange(interminals), wider))
    return cell_begin.astype(np.int32), item_symbol.astype(np.int32)
