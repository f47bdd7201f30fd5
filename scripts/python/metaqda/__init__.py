"""Few-shot classification with probabilities: teach two to five examples of each class.

    X = metaqda.embed(paths)                    # of pictures; or vectors of any network
    c = metaqda.FewShotClassifier('pictures').fit(X, y)   # a scikit-learn classifier
    c.predict_proba(X_new)                      # n×C, in the order of c.classes_
    c.predict_none(X_new)                       # n: probability of none of the classes
    c.explain(metaqda.cells(paths))             # which places of the pictures speak for the answer
    c.save('session.safetensors')               # the page and the npm package open it

`metaqda.load` reads a classifier that was exported as plain numbers, with numpy alone.
"""
from .classifier import Anomaly, Answers, Explanation, FewShotClassifier, Influence, Need, Sets
from .errors import MetaqdaError
from .exported import Classifier, load
from .pictures import Cells, cells, embed
from .watch import Watch, WatchEvent

__version__ = '0.1.0'
__all__ = ['Anomaly', 'Answers', 'Cells', 'Classifier', 'Explanation', 'FewShotClassifier', 'Influence', 'MetaqdaError', 'Need', 'Sets', 'Watch', 'WatchEvent',
           'cells', 'embed', 'load']
