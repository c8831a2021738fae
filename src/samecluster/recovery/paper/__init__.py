"""The paper's algorithms: RECUR, SCQ-k-means, one cluster up to an error, asking everything."""
