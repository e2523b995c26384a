"""Certificates: dual points and the gaps that they prove."""
