"""Sessions of Spark: the active one, or that of a master."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Any

from separable.errors import InputError, require_packages
from separable.spark.cluster_jobs import PANDAS

__all__ = ["frame_of_files", "session_of"]


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


def frame_of_files(session: Any, path: str) -> Any:
    """Return the DataFrame of files that Spark reads itself, on its executors.

    Parameters
    ----------
    session : SparkSession
    path : str
        CSV with a header, JSON lines or Parquet: a file, a folder or a glob, as executors see it.
    """
    plain = path.rstrip("/").lower().removesuffix(".gz").removesuffix(".zst")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", PANDAS)
        try:
            if plain.endswith((".csv", ".csv*")):
                return session.read.csv(path, header=True, inferSchema=True)
            if plain.endswith((".jsonl", ".ndjson", ".json")):
                return session.read.json(path)
            return session.read.parquet(path)
        except Exception as error:
            first = str(error).strip().splitlines()[0]
            raise InputError(
                f"Spark cannot read {path} as CSV, JSON lines or Parquet: {first:.300} Executors "
                "must see the files under this path; their names say the format."
            ) from error
