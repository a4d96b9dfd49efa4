# Compiled: what it has is wrapped, and typed, by the modules beside it.
from typing import Any

def __getattr__(name: str) -> Any: ...
