"""Layers to a TensorFlow.js graph model with 8-bit weights."""
import base64
import json

from layers import quantised


def write_graph(layers):
    """The contents of model.json and weights.bin.

    Weights are kept as web/extractor/weights.js reads them: float32 scales, one for each output
    channel, and int8 numbers.
    """
    nodes, specs, stored = [_placeholder()], [], []

    def constant(name, values, **spec):
        nodes.append({"name": name, "op": "Const", "attr": {"dtype": FLOAT}})
        specs.append({"name": name, **spec})
        stored.extend(value.astype(value.dtype.newbyteorder("<")).tobytes() for value in values)

    answers = []
    for layer in layers:
        whole, scales = quantised(layer)
        constant(f"{layer.name}/weights", [scales, whole], shape=list(whole.shape), dtype="float32", quantization={"dtype": "int8", "axis": layer.axis})
        constant(f"{layer.name}/bias", [layer.bias], shape=list(layer.bias.shape), dtype="float32")
        nodes.append(_convolution(layer, answers[-1] if answers else "pixels"))
        answer = layer.name
        if layer.add is not None:
            answer = f"{layer.name}/add"
            nodes.append({"name": answer, "op": "AddV2", "input": [layer.name, answers[layer.add]], "attr": {"T": FLOAT}})
        answers.append(answer)
    model = {
        "format": "graph-model",
        "modelTopology": {"node": nodes, "library": {}, "versions": {}},
        "weightsManifest": [{"paths": ["weights.bin"], "weights": specs}],
    }
    return json.dumps(model, separators=(",", ":")).encode() + b"\n", b"".join(stored)


FLOAT = {"type": "DT_FLOAT"}


def _placeholder():
    return {"name": "pixels", "op": "Placeholder", "attr": {"dtype": FLOAT, "shape": {"shape": {"dim": [{"size": size} for size in ("-1", "-1", "-1", "3")]}}}}


def _convolution(layer, source):
    return {
        "name": layer.name,
        "op": "FusedDepthwiseConv2dNative" if layer.depthwise else "_FusedConv2D",
        "input": [source, f"{layer.name}/weights", f"{layer.name}/bias"],
        "attr": {
            "T": FLOAT,
            "data_format": _text("NHWC"),
            "padding": _text("SAME"),
            "strides": {"list": {"i": ["1", str(layer.stride), str(layer.stride), "1"]}},
            "dilations": {"list": {"i": ["1", "1", "1", "1"]}},
            "explicit_paddings": {"list": {}},
            "num_args": {"i": "1"},
            "fused_ops": {"list": {"s": [_text(op)["s"] for op in (["BiasAdd", "Relu6"] if layer.relu6 else ["BiasAdd"])]}},
        },
    }


def _text(text):
    return {"s": base64.b64encode(text.encode()).decode()}
