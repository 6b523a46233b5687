"""Pairs with known differences."""

import numpy as np

NOUNS = ("house", "road", "garden", "river", "table", "window", "market", "school", "bridge")


def pairs(n_sources=12, per_source=3, seed=0, *, samples=1, groups=("female", "male")):
    """Texts of pairs: those about the first group are longer by two words and say "need" more."""
    rng = np.random.default_rng(seed)
    rows = []
    for source in range(n_sources):
        for version in range(per_source):
            for group in groups:
                for _ in range(samples):
                    he = "She" if group == "female" else "He"
                    words = list(rng.choice(NOUNS, int(rng.integers(6, 14))))
                    more = " needs care" if group == groups[0] else ""
                    text = f"{he} saw the {' '.join(words)}.{more and ' ' + he + more + '.'}"
                    rows.append(
                        {
                            "pair": f"{source}-{version}",
                            "note": f"n{source}",
                            "gender": group,
                            "model": "m",
                            "size": ("short", "long")[version % 2],
                            "text": text,
                        }
                    )
    return rows
