"""Reads a TensorFlow Lite network of convolutions without TensorFlow, as far as MobileNetV2 needs it.

The file is a flatbuffer of the schema tensorflow/lite/schema/schema.fbs; the numbers of fields below
are that schema's.
"""
import struct

import numpy as np

from layers import Layer, Network

ADD, CONV_2D, DEPTHWISE_CONV_2D, MEAN, QUANTIZE = 0, 3, 4, 40, 114
TYPES = {2: "<i4", 3: "u1", 9: "i1"}
SAME, RELU6 = 0, 3


class Table:
    """A table of a flatbuffer: its first number leads to the list of where each field is, 0 for those left out."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]

    def _place(self, field):
        slot = 4 + 2 * field
        if slot >= struct.unpack_from("<H", self.data, self.fields)[0]:
            return 0
        offset = struct.unpack_from("<H", self.data, self.fields + slot)[0]
        return offset and self.at + offset

    def _follow(self, place):
        return place + struct.unpack_from("<I", self.data, place)[0]

    def number(self, field, form="<i", default=0):
        place = self._place(field)
        return struct.unpack_from(form, self.data, place)[0] if place else default

    def table(self, field):
        place = self._place(field)
        return Table(self.data, self._follow(place)) if place else None

    def array(self, field, kind):
        place = self._place(field)
        if not place:
            return np.zeros(0, kind)
        start = self._follow(place)
        return np.frombuffer(self.data, kind, struct.unpack_from("<I", self.data, start)[0], start + 4)

    def tables(self, field):
        place = self._place(field)
        if not place:
            return []
        start = self._follow(place)
        count = struct.unpack_from("<I", self.data, start)[0]
        return [Table(self.data, self._follow(start + 4 + 4 * i)) for i in range(count)]


class Graph:
    """The first subgraph of a file: its tensors and operators."""

    def __init__(self, data):
        if data[4:8] != b"TFL3":
            raise ValueError("this is not a TensorFlow Lite file")
        model = Table(data, struct.unpack_from("<I", data, 0)[0])
        # A code stands in one byte where that holds it, and in four beside it.
        self.codes = [max(code.number(0, "<b"), code.number(3)) for code in model.tables(1)]
        graph = model.tables(2)[0]
        self.tensors, self.operators, self.buffers = graph.tables(0), graph.tables(3), model.tables(4)

    def code(self, operator):
        return self.codes[operator.number(0, "<I")]

    def values(self, number):
        """A constant tensor's whole numbers and their scales."""
        tensor = self.tensors[number]
        kind = TYPES[tensor.number(1, "<b")]
        stored = self.buffers[tensor.number(2, "<I")].array(0, np.uint8)
        return stored.view(kind).reshape(tensor.array(0, "<i4")), tensor.table(4).array(2, "<f4")


def mobilenet_v2(file):
    """The network of an open .tflite file up to the mean before its classifier.

    A byte v is fed as v / 127.5 - 1; the file's zero point, 127, is the whole number below.
    """
    graph = Graph(file.read())
    layers, made = [], {}  # made: the layer that answers a tensor
    for operator in graph.operators:
        code, inputs, (output,) = graph.code(operator), operator.array(1, "<i4"), operator.array(2, "<i4")
        if code in (CONV_2D, DEPTHWISE_CONV_2D):
            layers.append(_convolution(graph, operator, code == DEPTHWISE_CONV_2D, len(layers)))
        elif code == ADD:
            (layers[-1].add,) = (made[number] for number in inputs if made[number] != len(layers) - 1)
        elif code == MEAN:
            return Network(layers, mean=127.5, std=127.5)
        elif code != QUANTIZE:
            raise ValueError(f"operator {code} is none of MobileNetV2's")
        made[output] = len(layers) - 1
    raise ValueError("the network has no mean")


def _convolution(graph, operator, depthwise, number):
    _, weights, bias = operator.array(1, "<i4")
    options = operator.table(4)
    activation = options.number(4 if depthwise else 3, "<b")
    if options.number(0, "<b") != SAME or activation not in (0, RELU6):
        raise ValueError(f"convolution {number} is padded or cut off in another way than MobileNetV2's")
    whole, scales = graph.values(weights)  # out x height x width x in, depthwise 1 x height x width x channels
    floats = whole * (scales if depthwise else scales.reshape(-1, 1, 1, 1))
    added, unit = graph.values(bias)
    return Layer(
        f"conv{number}", np.ascontiguousarray(floats.transpose(1, 2, 3, 0)).astype(np.float32), (added * unit.astype(np.float64)).astype(np.float32),
        stride=options.number(1), relu6=activation == RELU6, depthwise=depthwise, scales=scales,
    )

