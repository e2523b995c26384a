"""Sessions of Spark: the active one, or that of a master."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Any

from separable.errors import require_packages
from separable.spark.cluster_jobs import PANDAS

__all__ = ["session_of"]


def session_of(master: str | None = None) -> Any:
    """Return a session of Spark.

    Parameters
    ----------
    master : str, optional
        ``local[4]``, ``spark://host:7077``, ``yarn``, ``k8s://...``, or ``sc://host:15002`` for
        Spark Connect. None: the active session.
    """
    require_packages("Spark", pyspark="pyspark")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", PANDAS)
        builder: Any = import_module("pyspark.sql").SparkSession.builder
        if master is None:
            active = import_module("pyspark.sql").SparkSession.getActiveSession()
            return builder.getOrCreate() if active is None else active
        if master.startswith("sc://"):
            return builder.remote(master).getOrCreate()
        if master.startswith("local"):  # executors are on this machine
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        return builder.master(master).appName("separable").getOrCreate()
