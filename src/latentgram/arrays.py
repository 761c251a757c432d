"""The types of arrays, named by their numbers: annotations say `Floats` where they mean doubles.

A module that has more to say of its arrays gives them names of its own (`Numbers`, `Tags`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Reals = NDArray[np.floating]
"""Of either precision."""
Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Ints16 = NDArray[np.int16]
Integers = NDArray[np.integer]
"""Of any width."""
Codes = NDArray[np.uint64]
"""What words and features are hashed to, and sets of bits."""
Flags = NDArray[np.bool_]
