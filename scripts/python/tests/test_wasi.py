import os
import re
import shutil
import subprocess
import unittest

import numpy as np
import wasmtime

from common import Case, FewShotClassifier, ROOT

DOCUMENT = (ROOT / 'web/library/WASI.md').read_text()
ENGINE = ROOT / 'build/metaqda.wasi.wasm'
FOLDER = ROOT / 'build/wasi'  # kept: dependencies are compiled once
LONG = os.environ.get('METAQDA_LONG')


def block(language):
    """Returns the only program of the document in a language."""
    program, = re.findall(f'^```{language}\n(.*?)^```$', DOCUMENT, re.S | re.M)
    return program


class Wasi(Case):
    def test_the_document_has_every_function_of_the_engine(self):
        module = wasmtime.Module.from_file(wasmtime.Engine(), str(ENGINE))
        types = {e.name: e.type for e in module.exports if isinstance(e.type, wasmtime.FuncType)}
        listed = dict(re.findall(r'^\| `(mq_\w+)\(([^`]*)`', DOCUMENT, re.M))
        self.assertEqual(set(listed), {name for name in types if name.startswith('mq_')})
        for name, signature in listed.items():
            parameters, _, result = signature.partition(')')
            self.assertEqual([p.split()[1] for p in parameters.split(', ') if p], [str(t) for t in types[name].params], name)
            self.assertEqual(result.removeprefix(' → '), ' '.join(str(t) for t in types[name].results), name)
        self.assertEqual({i.module for i in module.imports}, {'wasi_snapshot_preview1'})

    def test_programs_have_at_most_sixty_lines(self):
        for language in ['rust', 'java']:
            self.assertLessEqual(len(block(language).splitlines()), 60)

    def answers(self, *command, folder):
        """Runs a program of the document and compares what it prints and saves with this package."""
        session = self.folder / 'session'
        printed = subprocess.run([*command, ENGINE, session], cwd=folder, check=True, capture_output=True, text=True).stdout
        self.assertEqual(printed, block('text'))
        c = FewShotClassifier().fit([[9, 1, 0, 1, 0, 1], [8, 2, 1, 0, 1, 0], [1, 0, 9, 2, 0, 1], [0, 1, 8, 1, 1, 0]], ['cup', 'cup', 'pen', 'pen'])
        queries = [[8, 1, 1, 1, 0, 0], [0, 0, 0, 0, 9, 9]]
        none = c.predict_none(queries)
        want = np.c_[none, c.predict_proba(queries) * (1 - none)[:, None]]
        np.testing.assert_allclose(np.array(re.findall(r'[\d.]+', printed), float).reshape(2, 3), want, atol=1e-9)
        c.save(self.folder / 'own')
        self.assertEqual(session.read_bytes(), (self.folder / 'own').read_bytes())

    def prepared(self, name, files, *command):
        """Writes the files of a program, and gets what it needs. Skips where that cannot be had."""
        if not LONG:
            self.skipTest('long: make test-all')
        if not shutil.which(command[0]):
            self.skipTest(f'{command[0]} is missing: the program in {name} of WASI.md is not run')
        folder = FOLDER / name
        for file, text in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        got = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if got.returncode and re.search('(?i)could not (transfer|resolve|connect)|failed to (download|get)|unable to update|rustc .* is not supported', got.stdout + got.stderr):
            self.skipTest(f'what the program in {name} of WASI.md needs cannot be had here: {(got.stdout + got.stderr).strip().splitlines()[-1]}')
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        return folder

    def test_the_rust_program(self):
        folder = self.prepared('rust', {'Cargo.toml': block('toml'), 'src/main.rs': block('rust')}, 'cargo', 'build', '--release', '--quiet')
        self.answers('target/release/few-shot', folder=folder)

    def test_the_java_program(self):
        folder = self.prepared('java', {'pom.xml': block('xml'), 'FewShot.java': block('java')}, 'mvn', '-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=jars')
        self.answers('java', '-cp', 'jars/*', 'FewShot.java', folder=folder)


if __name__ == '__main__':
    unittest.main()
