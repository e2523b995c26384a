"""Estimators with a certificate, one public class a module."""
