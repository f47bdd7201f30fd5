"""A watch: what comes and goes in a stream of vectors. core/watch has the model."""
import time
from collections import namedtuple

import numpy as np

from .errors import MetaqdaError

__all__ = ['Watch', 'WatchEvent']

WatchEvent = namedtuple('WatchEvent', 'label here since probability')
WatchEvent.__doc__ = """The class `label` has come, or has gone if `here` is False. `since` is when that
began, in the seconds given to `next`. `probability` is the probability of this event, by all answers so far."""


class Watch:
    """Follows one stream. `FewShotClassifier.watch` makes it. The classifier may be taught more
    meanwhile, by partial_fit; after fit it needs another watch."""

    def __init__(self, classifier, false_events_per_hour):
        self._classifier, self._engine = classifier, classifier._engine
        self._here, self._decision, self._headline = None, None, ''
        with self._engine.lock:
            self._number = self._engine.watch(false_events_per_hour)

    def __del__(self):
        if hasattr(self, '_number'):
            self._engine.unused.append(self._number)

    def next(self, x, seconds=None):
        """Takes the next vector, of shape (n_features) or (1, n_features), or None if there was nothing to
        predict, such as no hand. Returns the `WatchEvent`s, mostly none. Call it about four times
        a second; more often changes little. `seconds` is the time on any clock that never runs
        backwards, by default time.monotonic()."""
        seconds = time.monotonic() if seconds is None else seconds
        if x is not None:
            x = np.asarray(x)
            if x.ndim != 1 and not (x.ndim == 2 and len(x) == 1):
                raise MetaqdaError('argument', f'A watch takes one vector at a time, and this has the shape {x.shape}: call next for each row.')
            x = self._classifier._checked(x.reshape(1, -1))
        with self._engine.lock:
            if self._classifier._engine is not self._engine:
                raise MetaqdaError('disposed', 'The classifier was fitted anew since this watch began: call watch again.')
            p = None if x is None else self._engine.predict(x)[0, 1:]
            events, here, shown, self._headline = self._engine.next(self._number, seconds, p)
            self._here, self._decision = (self._label(text) if text else None for text in [here, shown])
            return [WatchEvent(self._label(event[0]), *event[1:]) for event in events]

    @property
    def here(self):
        """The class that is here after the last vector, or None."""
        return self._here

    @property
    def shown(self):
        """The answer to show in a live view, where single answers flicker: a class, or None for
        none of these, and its headline. It is the class that is here. While none is here, a moving
        average of the answers decides."""
        return self._decision, self._headline

    def _label(self, text):
        c = self._classifier
        return next(k for k in c.classes_ if c._names[str(k)] == text)
