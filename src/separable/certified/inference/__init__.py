"""Statistical inference: standard errors, existence of estimates, calibration."""
