"""Names of types that many modules use."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

Say = Callable[[str], None]
"""Takes one line of progress for people to read."""
