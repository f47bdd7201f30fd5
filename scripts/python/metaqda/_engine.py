"""The engine, WebAssembly behind functions of numbers. wasm/exports is the other side, and
web/library/WASI.md describes the calls."""
import contextlib
import ctypes
import functools
import lzma
import os
import struct
import threading
import weakref
from pathlib import Path

import numpy as np

from .errors import MetaqdaError

LIMIT = 2**31 - 1  # bytes of one input: the engine's lengths have 32 bits
WORKING = 1  # mq_step returns it while there is more to do
MOST_CLASSES = 2000  # as core/model/classifier.go
DECISION = 3  # numbers after the probabilities of an answer to a job


@functools.cache
def _module():
    """Returns wasmtime's engine, linker and the compiled module. The first process on a machine
    compiles for some seconds; wasmtime keeps the result in the user's cache."""
    try:
        import wasmtime
    except ImportError as error:
        raise ImportError('metaqda needs the package wasmtime: pip install wasmtime') from error
    file = Path(__file__).with_name('engine.wasm.xz')
    if not file.exists():
        raise ImportError(f'{file} is missing: install the wheel that `make wheel` builds')
    config = wasmtime.Config()
    try:
        config.cache = True
    except wasmtime.WasmtimeError:  # no place for a cache: every process compiles
        config = wasmtime.Config()
    engine = wasmtime.Engine(config)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    return engine, linker, wasmtime.Module(engine, lzma.decompress(file.read_bytes()))


_loading = threading.RLock()  # also held while an instance is made
_engines = weakref.WeakSet()
_held = []


def _hold():
    """Waits until no thread is in a call. Otherwise a forked process would have locks that
    nobody releases, and instances in the middle of a call."""
    _loading.acquire()
    _held[:] = _engines
    for engine in _held:
        engine.lock.acquire()


def _let_go():
    while _held:
        _held.pop().lock.release()
    _loading.release()


if hasattr(os, 'register_at_fork'):  # not on Windows
    os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_let_go)


class Engine:
    """One instance of the engine with one classifier. Threads may share it: calls wait for each
    other. Instances run in parallel, since a call releases the interpreter's lock."""

    def __init__(self):
        with _loading:
            engine, linker, module = _module()
            import wasmtime
            self._trap = wasmtime.Trap, wasmtime.WasmtimeError
            self.lock = threading.RLock()
            self._store = wasmtime.Store(engine)
            self._store.set_wasi(wasmtime.WasiConfig())
            self._exports = dict(linker.instantiate(self._store, module).exports(self._store).items())
            self._exports['_initialize'](self._store)
            self.handle, self.unused = None, []
            _engines.add(self)

    def create(self, none_prior, prior, name, scale, extractor):
        """Makes the classifier of this instance."""
        texts = [_text(prior), _text(name, 'name'), _text(scale, 'scale')]
        self._write(*texts)
        self.handle = self._call('create', _number(none_prior, 'none_prior'), *map(len, texts))
        if extractor:
            texts = [_text(extractor.get(k), f'{k} of the extractor') for k in ('id', 'sha256')]
            self._write(*texts)
            self._call('identify', self.handle, *map(len, texts))

    def open(self, file, prior=None):
        """Makes the classifier of this instance from a file. prior is the sha256 of another prior to use."""
        prior = _text(prior)
        self._write(file, prior)
        self.handle = self._call('open', len(file), len(prior))

    def prior(self, file):
        """Passes a prior file to the engine and returns its sha256."""
        return self._text(self._call('prior', self._write(file)))

    def configure(self, none_prior):
        self._call('configure', self.handle, _number(none_prior, 'none_prior'))

    def add(self, X, labels, of, groups=None, there=()):
        """Adds rows to classes, all or none: `of` has an index into `labels` for each. Adds the
        labels without a row, too. `there` are the labels of the classes so far. Returns the
        ids of the rows, and the labels as the classes have them."""
        self._write_texts(labels)
        kept = self._text(self._call('labels', self.handle, len(labels))).split('\n')
        there = set(there)
        if len(there.union(kept)) > MOST_CLASSES:
            raise MetaqdaError('limit', f'A classifier holds at most {MOST_CLASSES} classes: divide them among several.')
        bulk = self._call('add_begin', self.handle, *X.shape)
        try:
            self._write(X)
            self._call('add_rows', bulk, X.size)
            groups = [''] if groups is None else groups
            self._write_texts([kept[i] for i in of] + groups)
            self._call('add_labels', bulk, len(of), len(groups))
            ids = self._text(self._call('add_end', self.handle, bulk)).split('\n')
        finally:
            self._end('add_stop', bulk)
        there.update(kept[i] for i in of)
        for label in kept:
            if label not in there:
                self._call('add_class', self.handle, self._write(_text(label)))
        return ids, kept

    def describe(self):
        """Returns a description of the classifier; `classes` are pairs of a label and the ids of its examples."""
        reply = self._reply(self._call('describe', self.handle))
        dimension, none_prior, scaled, n = struct.unpack_from('<IdII', reply)
        sizes = struct.unpack_from(f'<{n}I', reply, 20)
        undo, redo, *lines = reply[20 + 4 * n:].decode().split('\n')
        lines = iter(lines)
        classes = [(next(lines), [next(lines) for _ in range(size)]) for size in sizes]
        return {'dimension': dimension, 'none_prior': none_prior, 'scale': 'standardise' if scaled else None, 'classes': classes}

    def about(self):
        """Returns the name, the extractor's id and sha256, and the prior's sha256."""
        return [self._text(self._call('about', self.handle, what)) for what in range(4)]

    def unscaled(self):
        """Returns whether the columns need a scale."""
        return self._call('unscaled', self.handle) == 1

    def predict(self, X):
        """Returns n×(1+C) probabilities: of none, and of each class."""
        self._write(X)
        return self._numbers(self._call('predict', self.handle, *X.shape)).reshape(len(X), -1)

    def sets(self, X, coverage):
        """Returns for each row the indices of the classes in its set, -1 for none. Also returns the
        number of examples that the sets rest on, and whether these are too few."""
        found, examples, few = [], 0, False
        for x in X:
            self.predict(x[None])
            n = self._call('set', self.handle, _number(coverage, 'coverage'))
            examples, few, *places = self._numbers(2 + n)
            found.append([int(i) for i in places])
        return found, int(examples), bool(few)

    def classify(self, X):
        """As predict, for rows that are judged together."""
        self._write(X)
        numbers = np.concatenate([numbers for numbers, _ in self._job('classify', *X.shape)])
        return numbers.reshape(len(X), -1)[:, :-DECISION]

    def leave_one_out(self):
        """As predict, for the examples, each left out, in the order of describe."""
        classes = self.describe()['classes']
        answers = {}
        for numbers, lines in self._job('leave_one_out'):
            bursts = numbers.reshape(-1, 4 + len(classes) + DECISION)
            ids = iter(lines[len(bursts):])  # after the headlines
            for size, _, asked, *answer in bursts:
                if not asked:
                    raise MetaqdaError('empty', 'There is only one example, or only frames of one burst: add another example to compare with.')
                answers.update((next(ids), answer[:-DECISION]) for _ in range(int(size)))
        if not answers:
            raise MetaqdaError('empty', 'No class has an example yet: add at least one to a class.')
        return np.array([answers[i] for _, ids in classes for i in ids])

    def suggest(self, X, count):
        """Returns which rows to label next, at most count of them."""
        self._write(X)
        return np.concatenate([numbers for numbers, _ in self._job('suggest', *X.shape, count)]).astype(int)

    def influence(self, most):
        """Returns the class that needs an example, the one that it is confused with, and its doubt;
        and for each example that another class fits better its ids and the numbers of the engine."""
        [(numbers, lines)] = self._job('influence', most)
        ids, found = iter(lines), []
        for size, own, like, *figures in numbers[3:].reshape(-1, 7):
            found.append(([next(ids) for _ in range(int(size))], int(own), int(like), figures))
        return (int(numbers[0]), int(numbers[1]), float(numbers[2])), found

    def explain(self, cells, of, against):
        """Returns the score of a class against another, the part that belongs to no cell, and the part
        of each of the cells (n, d). -1 is none of the classes."""
        self._write(cells)
        score, rest, *parts = self._numbers(self._call('explain', self.handle, *cells.shape, of, against))
        return score, rest, parts

    def set_cells(self, id, cells):
        """Sets the cells (n, d) of the picture of an example."""
        id = _text(id)
        self._write(cells, id)
        self._call('set_cells', self.handle, *cells.shape, len(id))

    def anomaly(self, cells):
        """Returns the probability that something is wrong with a picture of cells (n, d). Also
        returns the number of examples it was compared with, and how far each cell is from theirs."""
        self._write(cells)
        wrong, good, *far = self._numbers(self._call('anomaly', self.handle, *cells.shape))
        return wrong, int(good), far

    def watch(self, per_hour):
        while self.unused:  # watches no longer in use; the garbage collector may find them during a call
            self._end('unwatch', self.unused.pop())
        return self._call('watch', self.handle, _number(per_hour, 'false_events_per_hour'))

    def next(self, watch, seconds, p):
        """Gives a watch its next probabilities, None if there was nothing to predict. Returns the
        events (label, here, since, probability), the label that is here, the label to show, each ''
        for none, and the headline."""
        if p is not None:
            self._write(p)
        n = self._call('next', watch, _number(seconds, 'seconds'), -1 if p is None else len(p))
        numbers = self._numbers(3 * n + 1)
        *labels, here, shown, headline = self._text(int(numbers[-1])).split('\n')
        return [(label, here == 1, since, probability) for label, (here, since, probability) in zip(labels, numbers[:-1].reshape(-1, 3).tolist())], here, shown, headline

    def file(self, kind):
        return self._reply(self._call(kind, self.handle))

    def _job(self, name, *args):
        """Runs a job, and yields the numbers and lines of each piece of its answers."""
        job, step = self._call(name, self.handle, *args), WORKING
        try:
            while step:
                step = self._call('step', job)
                if step != WORKING:
                    n, length = map(int, self._numbers(2))
                    yield self._numbers(2 + n)[2:], self._text(length).split('\n')
        finally:
            self._end('stop', job)

    def _memory(self):
        return ctypes.addressof(self._exports['memory'].data_ptr(self._store).contents)

    def _write(self, *parts):
        """Writes bytes and arrays one after the other, and returns their length."""
        arrays = [p if isinstance(p, np.ndarray) else np.frombuffer(p, np.uint8) for p in parts]
        n = sum(a.nbytes for a in arrays)
        if n > LIMIT:
            raise MetaqdaError('memory', f'This input has {n} bytes, and at most {LIMIT} are possible: hand over fewer rows at once.')
        at = self._call('room', n) + self._memory()
        for a in arrays:
            ctypes.memmove(at, a.ctypes.data, a.nbytes)
            at += a.nbytes
        return n

    def _write_texts(self, texts):
        """Writes the lengths of texts and then the texts."""
        parts = [_text(t) for t in texts]
        self._write(np.array([len(p) for p in parts], np.uint32), *parts)

    def _call(self, name, *args):
        try:
            n = self._exports['mq_' + name](self._store, *args)
        except self._trap as error:
            raise MetaqdaError('failed', f'The engine stopped ({str(error).splitlines()[-1].strip()}): fit the classifier again, with fewer or shorter vectors.') from error
        if n < 0:
            raise MetaqdaError(*self._text(-n).split('\n', 1))
        return n

    def _end(self, name, number):
        """Frees a job, a bulk or a watch. An engine that has stopped needs none of this."""
        with contextlib.suppress(*self._trap):
            self._exports['mq_' + name](self._store, number)

    def _reply(self, n):
        return self._at('reply', n)

    def _text(self, n):
        return self._reply(n).decode()

    def _numbers(self, n):
        return np.frombuffer(self._at('answer', 8 * n))

    def _at(self, what, n):
        return ctypes.string_at(self._memory() + (self._exports['mq_' + what](self._store) & 0xFFFFFFFF), n)


def _number(value, what):
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise MetaqdaError('value', f'{what} is {value!r}, which is not a number: give a number in its place.') from error


def _text(text, what='text'):
    """Returns UTF-8, empty for None. Half of a surrogate pair becomes U+FFFD."""
    if text is None:
        text = ''
    if not isinstance(text, str):
        raise MetaqdaError('argument', f'{what} is {text!r}, which is not text: give a str in its place, or None.')
    return text.encode('utf8', 'surrogatepass').decode('utf8', 'replace').encode()
