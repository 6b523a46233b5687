"""Names of types that many modules use; numpy is loaded with the first array type only."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]
else:
    # The command line's help imports this module, and should not wait for numpy
    def __getattr__(name: str) -> Any:
        """Make an array type when a module first asks for it."""
        kind = {"FloatArray": "float64", "IntArray": "int64", "BoolArray": "bool_"}.get(name)
        if kind is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import numpy as np
        from numpy.typing import NDArray

        return NDArray[getattr(np, kind)]


class ArrowTable(Protocol):
    """A table that speaks the Arrow stream protocol: of pandas, polars, pyarrow, DuckDB, …."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Hand over the table as a capsule."""


Tabular = str | Path | ArrowTable | Iterable[Mapping[str, Any]]
"""A file's path, a DataFrame or other table, or rows: what may be given wherever texts are read."""

Say = Callable[[str], None]
"""Takes one line of progress for people to read."""
