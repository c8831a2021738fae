"""What follows from the events so far: votes, items, numbers of clusters, items set apart."""
