"""The engine, WebAssembly behind functions of numbers. wasm/wasi is the other side, and
web/library/WASI.md describes the calls."""
import ctypes
import functools
import json
import lzma
import threading
from pathlib import Path

import numpy as np

from .errors import MetaqdaError

LIMIT = 2**31 - 1  # bytes of one input: the engine's lengths have 32 bits


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


_loading = threading.Lock()


class Engine:
    """One instance of the engine with one classifier. Threads may share it: calls wait for each
    other. Instances run beside each other, since a call releases the interpreter's lock."""

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
        self.handle = None

    def create(self, **options):
        """Makes the classifier of this instance."""
        self.handle = self._call('create', self._write(_json(options)))

    def open(self, file, **options):
        """Makes the classifier of this instance from a file."""
        options = _json(options)
        self._write(file, options)
        self.handle = self._call('open', len(file), len(options))

    def prior(self, file):
        """Hands over a prior file and returns what it says of itself."""
        return json.loads(self._reply(self._call('prior', self._write(file))))

    def configure(self, none_prior):
        self._call('configure', self.handle, float(none_prior))

    def add(self, X, **what):
        what = _json(what)
        self._write(X, what)
        return json.loads(self._reply(self._call('add', self.handle, *X.shape, len(what))))

    def describe(self):
        return json.loads(self._reply(self._call('describe', self.handle)))

    def answers(self, question, X=None):
        """Returns n×(1+C) probabilities: of none, and of each class."""
        if X is None:
            n = self._call(question, self.handle)
        else:
            self._write(X)
            n = self._call(question, self.handle, *X.shape)
        return np.frombuffer(self._reply(n))

    def suggest(self, X, count):
        self._write(X)
        return json.loads(self._reply(self._call('suggest', self.handle, *X.shape, count)))['rows']

    def watch(self, per_hour):
        return self._call('watch', self.handle, float(per_hour))

    def next(self, watch, seconds, p):
        """Gives a watch its next probabilities, None where there was nothing to ask about."""
        if p is not None:
            self._write(p)
        return json.loads(self._reply(self._call('next', watch, float(seconds), -1 if p is None else len(p))))

    def file(self, kind):
        return self._reply(self._call(kind, self.handle))

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

    def _call(self, name, *args):
        try:
            n = self._exports['mq_' + name](self._store, *args)
        except self._trap as error:
            raise MetaqdaError('failed', f'The engine stopped ({str(error).splitlines()[0]}): fit the classifier again, with fewer or shorter vectors.') from error
        if n < 0:
            error = json.loads(self._reply(-n))
            raise MetaqdaError(error['code'], error['message'])
        return n

    def _reply(self, n):
        return ctypes.string_at(self._memory() + (self._exports['mq_reply'](self._store) & 0xFFFFFFFF), n)


def _json(what):
    return json.dumps({k: v for k, v in what.items() if v is not None}, ensure_ascii=False).encode('utf8', 'surrogatepass')
