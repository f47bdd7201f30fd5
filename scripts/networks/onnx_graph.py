"""Writes a network of pictures as ONNX, for runtimes outside of the browser:

    python3 scripts/networks/onnx_graph.py FOLDER FILE

FOLDER is one that `scripts/networks` filled, such as web/extractor/efficientnet-lite0. The same network
gives the same bytes. Needs numpy and onnx, which `make wheel` installs into build/venv.
"""
import base64
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

OPSET, IR = 13, 8  # the first with weights of 8 bits by channel, and one that onnxruntime reads from 1.10 on


def write_onnx(folder):
    """Returns the bytes of an ONNX model of the network in a folder that [write_graph] wrote. Weights keep
    their 8 bits. The input is `pixels`, n x size x size x 3 numbers in 0..255. The outputs are `embedding`,
    n x dimension, and `cells`, n x rows x columns x dimension. The embedding is the mean of the cells.
    The metadata of the model has the manifest, for callers that prepare pictures."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for file in manifest["files"]:
        if hashlib.sha256((folder / file["name"]).read_bytes()).hexdigest() != file["sha256"]:
            raise ValueError(f"{folder / file['name']} is not the file that its manifest names: convert the network again")
    model = json.loads((folder / "model.json").read_text())
    nodes, constants = _input(manifest)
    tensors = _weights(model["weightsManifest"][0]["weights"], (folder / "weights.bin").read_bytes())
    for node in model["modelTopology"]["node"]:
        if node["op"] not in ("Const", "Placeholder"):
            added, more = _node(node, tensors)
            nodes, constants = nodes + added, constants + more
    (output,) = manifest["outputs"]
    nodes += [helper.make_node("ReduceMean", [output["node"]], ["embedding"], axes=[2, 3], keepdims=0),
              helper.make_node("Transpose", [output["node"]], ["cells"], perm=[0, 2, 3, 1])]
    size = manifest["inputSize"]
    graph = helper.make_graph(
        nodes, manifest["id"],
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", size, size, 3])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["n", manifest["dimension"]]),
         helper.make_tensor_value_info("cells", TensorProto.FLOAT, ["n", None, None, manifest["dimension"]])], constants)
    written = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR, producer_name="metaqda")
    helper.set_model_props(written, {"manifest": json.dumps(manifest, separators=(",", ":"))})
    checker.check_model(written, full_check=True)
    return written.SerializeToString(deterministic=True)


def _input(manifest):
    """Returns the nodes of (pixels - mean) / std, channels first, and the constants of all nodes."""
    numbers = {"mean": manifest["mean"], "std": manifest["std"], "zero": 0, "six": 6}
    constants = [numpy_helper.from_array(np.array(value, np.float32), name) for name, value in numbers.items()]
    return [helper.make_node("Sub", ["pixels", "mean"], ["centred"]),
            helper.make_node("Div", ["centred", "std"], ["fed"]),
            helper.make_node("Transpose", ["fed"], ["input"], perm=[0, 3, 1, 2])], constants


def _weights(specs, stored):
    """Returns the numbers of each tensor, and the scales of 8-bit tensors (graph.py writes them)."""
    tensors, at = {}, 0

    def take(kind, count):
        nonlocal at
        taken = np.frombuffer(stored, kind, count, at)
        at += taken.nbytes
        return taken

    for spec in specs:
        count, kept = int(np.prod(spec["shape"])), spec.get("quantization", {})
        scales = take("<f4", spec["shape"][kept["axis"]]) if kept else None
        tensors[spec["name"]] = take("i1" if kept else "<f4", count).reshape(spec["shape"]), scales
    return tensors


def _node(node, tensors):
    """Returns the nodes and constants for a node of TensorFlow.js."""
    name, inputs = node["name"], ["input" if i == "pixels" else i for i in node["input"]]
    if node["op"] == "AddV2":
        return [helper.make_node("Add", inputs, [name])], []
    if node["op"] not in ("_FusedConv2D", "FusedDepthwiseConv2dNative"):
        raise ValueError(f"only convolutions and sums can be written as ONNX, but {name} is {node['op']}: add it to scripts/networks/onnx_graph.py")
    attributes, depthwise = node["attr"], node["op"] == "FusedDepthwiseConv2dNative"
    (whole, scales), (bias, _) = tensors[inputs[1]], tensors[inputs[2]]
    whole = np.ascontiguousarray(whole.transpose((2, 3, 0, 1) if depthwise else (3, 2, 0, 1)))  # out first
    padding = base64.b64decode(attributes["padding"]["s"]).decode()
    _, activation = ([base64.b64decode(op).decode() for op in attributes["fused_ops"]["list"]["s"]] + [None])[:2]
    if padding != "SAME" or activation not in (None, "Relu6") or scales is None:
        raise ValueError(f"only 8-bit convolutions with SAME padding and ReLU6 can be written as ONNX, and {name} is another: add it to scripts/networks/onnx_graph.py")
    constants = [numpy_helper.from_array(array, f"{name}/{part}") for part, array in (("whole", whole), ("scales", scales), ("bias", bias))]
    nodes = [
        helper.make_node("DequantizeLinear", [f"{name}/whole", f"{name}/scales"], [f"{name}/weights"], axis=0),
        helper.make_node("Conv", [inputs[0], f"{name}/weights", f"{name}/bias"], [f"{name}/conv" if activation else name], auto_pad="SAME_UPPER",
                         group=whole.shape[0] if depthwise else 1, strides=[int(s) for s in attributes["strides"]["list"]["i"][1:3]]),
    ]
    if activation:
        nodes.append(helper.make_node("Clip", [f"{name}/conv", "zero", "six"], [name]))
    return nodes, constants


if __name__ == "__main__":
    try:
        Path(sys.argv[2]).write_bytes(write_onnx(Path(sys.argv[1])))
    except (IndexError, OSError, ValueError) as error:
        sys.exit(f"scripts/networks/onnx_graph.py: {error}: give the folder of a network, and a file to write")
