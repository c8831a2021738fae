"""Points in a Dask array: the same questions and labels as in memory, without bringing it here.

Blocks are worked on where Dask computes them: here in threads, or on the workers of the client that
is current. Needs the extra: pip install samecluster[dask]
"""

import dask.array as da
import numpy as np

from samecluster import clustering_error, recover_large
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle

made = make_ellipsoids(n=60_000, d=3, k=4, margin=1.0, random_state=0)
points = da.from_array(made.X, chunks=(7_000, 3))

found = recover_large(points, LabelOracle(made.labels), n_clusters=4, margin=1.0, random_state=0)
in_memory = recover_large(
    made.X, LabelOracle(made.labels), n_clusters=4, margin=1.0, random_state=0
)

labels = np.asarray(found.labels)
print(f"{points.npartitions} blocks, {found.n_questions} questions")
print(f"wrong labels: {clustering_error(labels, made.labels):.1%}")
print(f"the same as in memory: {bool((labels == np.asarray(in_memory.labels)).all())}")
