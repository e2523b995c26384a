"""Convex learners with a certificate: a bound on the suboptimality, from the duality gap."""
