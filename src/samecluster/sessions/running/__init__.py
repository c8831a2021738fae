"""The run behind a session: engine, leases, what is open to a person, second looks, drivers."""
