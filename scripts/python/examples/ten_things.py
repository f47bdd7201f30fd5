"""Enrols things, judges a folder of new pictures, and shows whether the probabilities hold.

    build/venv/bin/python scripts/python/examples/ten_things.py TAUGHT NEW SESSION

TAUGHT has a folder of pictures for each thing. NEW has new pictures in folders of the same names, which
serve to check the answers. SESSION is a file to write: open it in the page, Sessions, "Open a saved
session". TAUGHT may also be a session that the page saved. The cells (# %%) run one by one in an
editor for notebooks.
"""
# %% Enrol a few pictures of each thing.
import sys
from pathlib import Path

import numpy as np

import metaqda

taught, new, session = map(Path, sys.argv[1:])


def pictures(folder):
    """Returns paths of pictures, and the names of their folders."""
    paths = sorted(path for path in folder.glob('*/*') if path.is_file())
    return paths, [path.parent.name for path in paths]


if taught.is_dir():
    paths, labels = pictures(taught)
    c = metaqda.FewShotClassifier('pictures', name=taught.name).fit(metaqda.embed(paths), labels)
else:
    c = metaqda.FewShotClassifier.load(taught)
print(f'{len(c.classes_)} things: {", ".join(map(str, c.classes_))}')

# %% How well does it know its own examples? Each is judged as if it had not been taught.
left = c.leave_one_out()
print(f'{np.mean(left.proba.max(1)):.0%} sure of its own examples, in the mean')

# %% Judge the folder, one by one and all together.
paths, labels = pictures(new)
X, labels = metaqda.embed(paths), np.array(labels)
p, none, together = c.predict_proba(X), c.predict_none(X), c.judge_together(X)
top = p.max(1)
for path, label, sure, n in zip(paths, c.predict(X), top, none):
    print(f'{path.parent.name}/{path.name:24} {label:12} {sure:4.0%}, none of them {n:4.0%}')
right = c.predict(X) == labels
print(f'{right.mean():.1%} right one by one, {np.mean(together.labels == labels):.1%} together')

# %% Are answers of 80 % right in 80 % of the cases? Every row is a fifth of the answers.
print('\nsure  right  (calibration; the bar is how often it is right, | how sure it is)')
for part in np.array_split(np.argsort(top), 5):
    if len(part):
        sure, hit = top[part].mean(), right[part].mean()
        bar = list(f'{"#" * round(40 * hit):41}')
        bar[round(40 * sure)] = '|'
        print(f'{sure:4.0%}   {hit:4.0%}  {"".join(bar)}')

# %% Which three of them should be labelled next?
print('label next:', ', '.join(f'{paths[i].parent.name}/{paths[i].name}' for i in c.suggest(X, 3)))

# %% Save the session for the page.
c.save(session)
