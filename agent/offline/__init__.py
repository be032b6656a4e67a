"""The offline translator: answers plain questions by grammar, with no model and no download."""

from .translator import OfflineTranslator

__all__ = ["OfflineTranslator"]
