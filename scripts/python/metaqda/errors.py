"""The error of this package."""

__all__ = ['MetaqdaError']


class MetaqdaError(ValueError):
    """A mistake in what was given. `code` is a short word for programs, one of those of the
    npm package (dimension, value, label, limit, memory, empty, prior, format, ...), and
    'unfitted' before fit. The message says what happened and what to do."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return type(self), (self.code, str(self))
