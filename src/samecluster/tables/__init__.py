"""Tables in and out: files and data frames to a matrix, keys of items, results back to files.

Nothing here imports questions, oracles, recovery or sessions: answers that a file holds and labels
that are written into one are plain words and numbers.
"""

from samecluster.tables.features.options import FeatureOptions
from samecluster.tables.features.preparation import Preparation
from samecluster.tables.item_keys import item_keys
from samecluster.tables.reading.detect import read_table
from samecluster.tables.reading.dialect import CsvOptions, Dialect
from samecluster.tables.reading.frames import as_table
from samecluster.tables.table import Table

__all__ = [
    "CsvOptions",
    "Dialect",
    "FeatureOptions",
    "Preparation",
    "Table",
    "as_table",
    "item_keys",
    "read_table",
]

Asked, Wanted = CsvOptions, FeatureOptions  # older names, still importable
