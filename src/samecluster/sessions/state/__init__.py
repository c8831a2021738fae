"""What follows from the events so far: votes, facts for the run, items, numbers of clusters."""
