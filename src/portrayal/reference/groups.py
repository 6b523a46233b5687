"""The group labels that every part of the package uses, in the order it uses them."""

RACES = ("White", "Latine", "Black", "Asian", "AI/AN", "MENA", "NH/PI")
"""The seven categories of the 2023 OMB proposal, as Shieh et al. label them (Section 4.4)."""

GENDERS = ("F", "M", "NB")
"""Feminized, masculinized and non-binary references (Shieh et al., Table S6a)."""

PAIRS = ("F-M", "F-F", "M-M", "NB-F", "NB-M", "NB-NB")
"""Gender pairs of romantic relationships (Shieh et al., Table S9c)."""
