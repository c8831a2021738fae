"""The run behind a session: engine, leases, looking ahead, second looks, drivers."""
