import http.server
import sys
import threading
import unittest

from common import ROOT

sys.path.append(str(ROOT / 'scripts/networks'))
from original import fetched  # noqa: E402


class NotThere(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


class Originals(unittest.TestCase):
    def test_what_cannot_be_fetched_is_named_with_a_way_out(self):
        with http.server.HTTPServer(('127.0.0.1', 0), NotThere) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            missing = f'http://127.0.0.1:{server.server_port}/network.pth'
            for url, why in {missing: '404', 'http://127.0.0.1:1/network.pth': 'refused', 'nonsense://network.pth': 'unknown url type'}.items():
                with self.assertRaisesRegex(OSError, f'{url} cannot be fetched .*{why}.*--from FILE'):
                    fetched({'url': url})
            server.shutdown()


if __name__ == '__main__':
    unittest.main()
