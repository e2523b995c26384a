"""Models as scoring code that needs no separable: Python, JavaScript, C, SQL and ONNX."""

from separable.export.exporting import export
from separable.export.languages.language_registry import LANGUAGES
from separable.export.onnx_model import to_onnx
from separable.export.plan.plan import ExportError

__all__ = ["LANGUAGES", "ExportError", "export", "to_onnx"]
