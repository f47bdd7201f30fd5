"""The error of this package."""

__all__ = ['MetaqdaError']


class MetaqdaError(ValueError):
    """A mistake in the arguments. `code` is a short word for programs: 'unfitted' before fit, else
    one of the npm package's (dimension, value, label, limit, memory, empty, prior, format, ...).
    The message says what happened and what to do."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return type(self), (self.code, str(self))
