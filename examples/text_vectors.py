"""Texts by their vectors: messages to a help desk, grouped by what they are about.

Whatever turns a text into a vector will do. Here it is TF-IDF and a truncated SVD to 64 numbers,
which needs no model and no net; with embeddings of a language model the rest is the same. Few texts
in 64 columns say little about shapes, so `--reduce 8` keeps the principal components that matter
most. Labels are predicted here, not proven: `--audit 0.05` would ask on until a bound holds.

The messages are made up of phrases. Somebody who reads two of them can say whether they are about
the same thing; here the known topic answers.

    python examples/text_vectors.py
"""

from __future__ import annotations

import csv
import subprocess
import sys

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

MESSAGES = 800
OPENINGS = ("hello", "dear all", "good morning", "quick one", "sorry to bother you", "once more")
TOPICS = {
    "parcel": "parcel late courier depot tracking number address doorstep box delivery van label",
    "refund": "refund money account bank charged twice invoice amount payment card receipt balance",
    "password": "password login locked reset code email screen username sign attempt session link",
    "warranty": "broken screen repair warranty crack replace technician spare part noise seal",
}


def write_messages(texts: str, vectors: str) -> None:
    rng = np.random.default_rng(0)
    topics = rng.choice(list(TOPICS), size=MESSAGES)
    messages = []
    for topic in topics:
        words = rng.choice(TOPICS[topic].split(), size=rng.integers(7, 11), replace=False)
        messages.append(f"{rng.choice(OPENINGS)}, {' '.join(words)}")
    with open(texts, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["message", "text", "topic"])
        for number, row in enumerate(zip(messages, topics, strict=True)):
            rows.writerow([f"M{number:04}", *row])
    weighted = TfidfVectorizer().fit_transform(messages)
    reduced = TruncatedSVD(n_components=min(64, weighted.shape[1] - 1), random_state=0)
    np.save(vectors, reduced.fit_transform(weighted))


def main() -> None:
    write_messages("messages.csv", "vectors.npy")
    command = "cluster messages.csv --id message --vectors vectors.npy --reduce 8 --truth topic"
    print(f"$ samecluster {command} -o grouped.csv", flush=True)
    words = [*command.split(), "--no-session", "-o", "grouped.csv"]
    subprocess.run(
        [sys.executable, "-m", "samecluster", *words], check=True, stderr=subprocess.STDOUT
    )


if __name__ == "__main__":
    main()
