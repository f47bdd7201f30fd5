import contextlib
import io
import re
import unittest

from common import ROOT


class Readme(unittest.TestCase):
    def test_the_example_prints_what_it_says(self):
        text = (ROOT / 'scripts/python/README.md').read_text()
        program = re.search(r'```python\n(.*?)```', text, re.S)[1]
        self.assertEqual(len(program.splitlines()), 5)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, {})
        self.assertEqual(printed.getvalue().splitlines(), re.findall(r'print.*# (.*)', program))


if __name__ == '__main__':
    unittest.main()
