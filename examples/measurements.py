"""Measurements in different units: three species of shells that grow alike and differ a little.

Length in millimetres, mass in milligrams, width in millimetres: nearly all the spread is growth,
which all species share. k-means looks for round clouds, so it cuts across the species, whether the
columns are standardised or not. A few answers are enough to find them exactly.

The shells are made up. They are written to shells.csv; examples/shells.csv is this file.

    python examples/measurements.py
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans

from samecluster import clustering_error, recover
from samecluster.oracles import LabelOracle

SPECIES = ("flat", "plain", "ridged")
SHELLS = 3000
"""Picked among 1,200, 1,500, 2,000 and 3,000. With nothing declared the smaller two ask 26 or about
136 questions, depending on the seed: long clouds look like several, so proofs seem not to pay."""
APART = 2.6
"""How far apart neighbouring species are, where each has a radius of 1 across its growth."""


def write_shells(path: str) -> None:
    rng = np.random.default_rng(1)
    ball = rng.normal(size=(SHELLS, 3))
    ball *= rng.random((SHELLS, 1)) ** (1 / 3) / np.linalg.norm(ball, axis=1, keepdims=True)
    species = rng.integers(len(SPECIES), size=SHELLS)
    growth, across, other = ball.T
    across = across + APART * species
    length = 35 + 20 * growth + 0.5 * other
    mass = 5200 + 3000 * growth + 220 * across
    width = 14 + 6.5 * growth - 0.35 * across + 0.4 * other
    with open(path, "w") as file:
        print("shell,length_mm,mass_mg,width_mm,species", file=file)
        for number in range(SHELLS):
            row = f"{length[number]:.2f},{mass[number]:.1f},{width[number]:.2f}"
            print(f"S{number:04},{row},{SPECIES[species[number]]}", file=file)


def main() -> None:
    write_shells("shells.csv")
    X = np.loadtxt("shells.csv", delimiter=",", skiprows=1, usecols=(1, 2, 3))
    species = np.loadtxt("shells.csv", delimiter=",", skiprows=1, usecols=4, dtype=str)

    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    for name, columns in (("as they are", X), ("standardised", standardised)):
        guessed = KMeans(n_clusters=len(SPECIES), n_init=10, random_state=0).fit(columns).labels_
        print(f"k-means, columns {name}: {clustering_error(guessed, species):.1%} wrong")

    # Units do not matter here: every cluster has an ellipsoidal distance of its own.
    found = recover(X, LabelOracle(species), random_state=0)
    wrong = clustering_error(found.labels, species)
    print(f"samecluster, nothing declared: {wrong:.1%} wrong, {found.n_questions} questions")
    print(f"- {found.search}")

    declared = recover(X, LabelOracle(species), n_clusters=3, margin=1.0, random_state=0)
    wrong = clustering_error(declared.labels, species)
    print(f"samecluster, margin 1 declared: {wrong:.1%} wrong, {declared.n_questions} questions")
    print(f"- {declared.explain(0)}")


if __name__ == "__main__":
    main()
