"""Writes a network as a TensorFlow.js graph model with 8-bit weights."""
import base64
import json

import numpy as np

from layers import SLOPE, Pool, quantised


def write_graph(network):
    """Returns the contents of model.json and weights.bin.

    Weights have the format that web/extractor/weights.js reads: float32 scales, one for each output
    channel, then int8 numbers; or half floats.
    """
    nodes, specs, stored = [_placeholder(network.input)], [], []

    def constant(name, values, **spec):
        nodes.append({"name": name, "op": "Const", "attr": {"dtype": FLOAT}})
        specs.append({"name": name, **spec})
        stored.extend(value.astype(value.dtype.newbyteorder("<")).tobytes() for value in values)

    def combined(op, *inputs):
        output = f"{inputs[0]}/{'add' if op == 'AddV2' else 'floor'}"
        nodes.append({"name": output, "op": op, "input": list(inputs), "attr": {"T": FLOAT}})
        return output

    outputs = []
    for i, layer in enumerate(network.layers):
        source = i - 1 if layer.source is None else layer.source
        fed = outputs[source] if source >= 0 else INPUT
        if isinstance(layer, Pool):
            nodes.append(_pool(layer, fed))
        else:
            stored_as, values = {"dtype": "float16", "original_dtype": "float32"}, [layer.weights.astype(np.float16)]
            if i >= network.halves:
                whole, scales = quantised(layer)
                stored_as, values = {"dtype": "int8", "axis": layer.axis}, [scales, whole]
            constant(f"{layer.name}/weights", values, shape=list(layer.weights.shape), dtype="float32", quantization=stored_as)
            constant(f"{layer.name}/bias", [layer.bias], shape=list(layer.bias.shape), dtype="float32")
            nodes.append(_convolution(layer, fed))
        output = layer.name
        if layer.add is not None:
            output = combined("AddV2", output, outputs[layer.add])
        if layer.floor is not None:
            if FLOOR not in (spec["name"] for spec in specs):
                constant(FLOOR, [np.array(layer.floor, np.float32)], shape=[], dtype="float32")
            output = combined("Maximum", output, FLOOR)
        outputs.append(output)
    model = {
        "format": "graph-model",
        "modelTopology": {"node": nodes, "library": {}, "versions": {}},
        "weightsManifest": [{"paths": ["weights.bin"], "weights": specs}],
    }
    return json.dumps(model, separators=(",", ":")).encode() + b"\n", b"".join(stored)


INPUT, FLOOR = "pixels", "floor"
FLOAT = {"type": "DT_FLOAT"}


def _placeholder(shape):
    # Pictures may have any size: a network may be used with other sizes than it was trained on.
    height, width, channels = ("-1", "-1", "3") if shape[2] == 3 else map(str, shape)
    return {"name": INPUT, "op": "Placeholder", "attr": {"dtype": FLOAT, "shape": {"shape": {"dim": [{"size": size} for size in ("-1", height, width, channels)]}}}}


def _convolution(layer, source):
    explicit = not isinstance(layer.padding, str)
    zeros = {"list": {"i": [str(n) for n in (0, 0, *layer.padding, 0, 0)]}} if explicit else {"list": {}}
    attributes = {
        "T": FLOAT,
        "data_format": _text("NHWC"),
        "padding": _text("EXPLICIT" if explicit else layer.padding),
        "strides": _numbers(1, layer.stride, layer.stride, 1),
        "dilations": _numbers(1, 1, 1, 1),
        "explicit_paddings": zeros,
        "num_args": {"i": "1"},
        "fused_ops": {"list": {"s": [_text(op)["s"] for op in (["BiasAdd", layer.activation] if layer.activation else ["BiasAdd"])]}},
    }
    if layer.activation == "LeakyRelu":
        attributes["leakyrelu_alpha"] = {"f": SLOPE}
    return {
        "name": layer.name,
        "op": "FusedDepthwiseConv2dNative" if layer.depthwise else "_FusedConv2D",
        "input": [source, f"{layer.name}/weights", f"{layer.name}/bias"],
        "attr": attributes,
    }


def _pool(layer, source):
    window = _numbers(1, *layer.size, 1)
    return {"name": layer.name, "op": "MaxPool", "input": [source], "attr": {"T": FLOAT, "data_format": _text("NHWC"), "padding": _text(layer.padding), "ksize": window, "strides": window, "explicit_paddings": {"list": {}}}}


def _numbers(*numbers):
    return {"list": {"i": [str(number) for number in numbers]}}


def _text(text):
    return {"s": base64.b64encode(text.encode()).decode()}
