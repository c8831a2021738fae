"""The paper's figures and statements as experiments: ``samecluster reproduce``.

One module an experiment: it says which tasks it needs, makes tables of their results, and judges
what the paper states. `running` carries tasks out, `plots` draws, `report` writes.
"""
