"""Compare runs: what changed, by how much, and what did not.

What a run is *compared against* is a value: an earlier run, another model (`Side`), or
texts before they were rewritten. All of these become sums by prompt (`Sums`), the sums
of both become a `Change` by one function (`changes_against`), and everything else is built on it.
"""
