"""scikit-learn's base classes and checks of input if it is installed (1.6 or newer), otherwise
a few lines that replace them."""
import inspect

import numpy as np

from .errors import MetaqdaError

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.multiclass import check_classification_targets as check_targets
    from sklearn.utils.validation import validate_data
except ImportError:
    class NotFittedError(ValueError, AttributeError):
        pass

    class ClassifierMixin:
        def score(self, X, y):
            """Returns the accuracy."""
            return float(np.mean(self.predict(X) == np.asarray(y)))

    class BaseEstimator:
        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

        def set_params(self, **params):
            for name, value in params.items():
                if name not in self.get_params():
                    raise MetaqdaError('argument', f'There is no parameter {name!r}: choose among {", ".join(self.get_params())}.')
                setattr(self, name, value)
            return self

        def __getstate__(self):
            return self.__dict__.copy()

        def __setstate__(self, state):
            self.__dict__.update(state)

    def check_targets(y):
        if y.dtype.kind == 'f' and (y != np.floor(y)).any():
            raise ValueError('Unknown label type: continuous. Give names or whole numbers of classes.')

    def validate_data(estimator, X, y=None, reset=True, dtype=None, order=None):
        X = np.asarray(X, dtype, order)
        if X.ndim != 2 or 0 in X.shape:
            raise ValueError(f'X has the shape {X.shape}: it must be two-dimensional, with a row for each example. Reshape your data.')
        if not np.isfinite(X).all():
            raise ValueError(f'Row {np.argmin(np.isfinite(X).all(1))} of X has a number that is NaN, infinite or above 3.4e38: leave it out.')
        if reset:
            estimator.n_features_in_ = X.shape[1]
        elif X.shape[1] != getattr(estimator, 'n_features_in_', X.shape[1]):
            raise ValueError(f'X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features as input.')
        if y is None:
            return X
        y = np.asarray(y)
        if y.shape != X.shape[:1]:
            raise ValueError(f'y has the shape {y.shape} and X the shape {X.shape}: give one label for each row.')
        return X, y


def unlabelled(y):
    """Returns the first row without a label, None if all have one. scikit-learn checks numbers, but
    its messages about None and missing values of pandas name no row."""
    if (nulls := getattr(y, 'isna', None) or getattr(y, 'is_null', None)) is not None:  # pandas; polars and pyarrow
        missing = np.asarray(nulls()).ravel()
    elif getattr(y, 'dtype', None) == object or isinstance(y, (list, tuple)):
        missing = [missing_label(label) for label in y]
    else:
        return None
    return int(np.argmax(missing)) if np.any(missing) else None


def plain(labels):
    """Returns an object array without text, such as one of numbers, as an array of their type. Other
    labels stay as they are."""
    if getattr(labels, 'dtype', None) == object and not any(isinstance(label, str) for label in labels):
        return np.asarray(list(labels))
    return labels


def one_kind(labels):
    """Returns labels of one kind, and refuses others."""
    try:
        np.unique(labels)
    except TypeError as error:
        raise MetaqdaError('label', 'Some labels are text and others are numbers: use one kind.') from error
    return labels


def missing_label(label):
    """Returns whether a label is None, NaN, NaT or pandas.NA."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA
        return True
    except ValueError:  # an array
        return False


class Unfitted(MetaqdaError, NotFittedError):
    """A call before fit."""


NO_LABELS = object()


def checked(estimator, X, y=NO_LABELS, reset=False):
    """Returns X as float32 rows, with y if it is given. Errors are of the class MetaqdaError."""
    try:
        with np.errstate(over='ignore'):  # becomes infinity, which is refused
            if y is NO_LABELS:
                return validate_data(estimator, X, reset=reset, dtype=np.float32, order='C')
            if y is None:
                raise ValueError('fit requires y to be passed, but the target y is None: give a label for each row.')
            if (row := unlabelled(y)) is not None:
                raise ValueError(f'Input y contains NaN or None: row {row} has no label. Give it one, or leave the row out.')
            if hasattr(getattr(y, 'dtype', None), 'numpy_dtype'):  # pandas' Int64, which would become float64
                y = y.to_numpy(y.dtype.numpy_dtype)
            X, y = validate_data(estimator, X, plain(y), reset=reset, dtype=np.float32, order='C')
            check_targets(one_kind(y))
            return X, y
    except MetaqdaError:
        raise
    except ValueError as error:  # a TypeError stays one, as check_estimator requires
        raise MetaqdaError('dimension' if 'features, but' in str(error) else 'value', str(error)) from error
