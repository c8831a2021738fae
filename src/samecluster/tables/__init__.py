"""Tables in and out: files and data frames to a matrix, keys of items, results back to files.

Nothing here knows of questions or clusters.
"""

from samecluster.tables.dialect import Asked, Dialect
from samecluster.tables.files import read_table
from samecluster.tables.frames import as_table
from samecluster.tables.keys import item_keys
from samecluster.tables.preparation import Preparation
from samecluster.tables.table import Table
from samecluster.tables.wanted import Wanted

__all__ = [
    "Asked",
    "Dialect",
    "Preparation",
    "Table",
    "Wanted",
    "as_table",
    "item_keys",
    "read_table",
]
