"""Names of types that many modules use; numpy is loaded with the first array type only."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]
else:

    def __getattr__(name: str) -> Any:
        """Make an array type when a module first asks for it."""
        kind = {"FloatArray": "float64", "IntArray": "int64", "BoolArray": "bool_"}.get(name)
        if kind is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import numpy as np
        from numpy.typing import NDArray

        return NDArray[getattr(np, kind)]


Say = Callable[[str], None]
"""Takes one line of progress for people to read."""
