"""The tables of the pages that are made from the code: `make tables` writes them into the pages.

A page asks for one by a comment, `<!-- [[[cog print(tables.settings("preset", "link_schema")) ]]] -->`, and cog puts it
between that and `<!-- [[[end]]] -->`.
"""

from .commands import chat_commands, command_line
from .errors import errors, kinds
from .keys import answer_keys, keys
from .python import python
from .settings import presets, settings

__all__ = ["answer_keys", "chat_commands", "command_line", "errors", "keys", "kinds", "presets", "python", "settings"]
