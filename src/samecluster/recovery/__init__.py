"""The algorithms, each written as a plan: a generator that asks and at last returns a Recovery."""
