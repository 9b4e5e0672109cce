"""The vector index, its cache, the keyword index, and what keeps them in step with the catalog."""
