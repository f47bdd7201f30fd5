"""Reads the TensorFlow Lite networks of __main__.py without TensorFlow.

The file is a flatbuffer. The numbers of fields below are from tensorflow/lite/schema/schema.fbs.
"""
import struct

import numpy as np

from layers import SLOPE, Layer, Network, Pool

ADD, CONV_2D, DEPTHWISE_CONV_2D, DEQUANTIZE, FULLY_CONNECTED, LOGISTIC, MAX_POOL_2D = 0, 3, 4, 6, 9, 14, 17
RESHAPE, SOFTMAX, PAD, MEAN, SPLIT, MAXIMUM, LEAKY_RELU, QUANTIZE = 22, 25, 34, 40, 49, 55, 98, 114
TYPES = {0: "<f4", 1: "<f2", 2: "<i4", 3: "u1", 9: "i1"}
PADDING, ACTIVATIONS = {0: "SAME", 1: "VALID"}, {0: None, 1: "Relu", 3: "Relu6"}


class Table:
    """A table of a flatbuffer. Its first number leads to the offsets of its fields, 0 for missing ones."""

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
        # A code is in one byte if it fits, and also in four bytes.
        self.codes = [max(code.number(0, "<b"), code.number(3)) for code in model.tables(1)]
        graph = model.tables(2)[0]
        self.tensors, self.operators, self.buffers = graph.tables(0), graph.tables(3), model.tables(4)

    def code(self, operator):
        return self.codes[operator.number(0, "<I")]

    def values(self, number):
        """The numbers of a constant tensor as stored, and the scales of whole numbers."""
        tensor = self.tensors[number]
        kind = TYPES[tensor.number(1, "<b")]
        stored = self.buffers[tensor.number(2, "<I")].array(0, np.uint8)
        quantisation = tensor.table(4)
        return stored.view(kind).reshape(tensor.array(0, "<i4")), quantisation.array(2, "<f4") if quantisation else np.zeros(0, "<f4")


def read_tflite(file, shape, heads=(), rows=None, mean=0, std=1, halves=0):
    """The network of an open .tflite file, to the mean over its cells or else to its last layer.

    heads are the indices of fully connected layers on that mean. They become convolutions of one
    cell each, since a linear layer of a mean is the mean of the linear layer. Each keeps its first
    `rows` rows, or all.
    """
    graph = Graph(file.read())
    layers, connected, pooled = [], [], None
    made, stored, zeros = {}, {}, {}  # by tensor: the layer that computes it, its half floats, the zeros around it
    for operator in graph.operators:
        code, inputs, output = graph.code(operator), operator.array(1, "<i4"), operator.array(2, "<i4")[0]
        source = made.get(inputs[0], -1)
        if code == DEQUANTIZE:
            stored[output] = inputs[0]
        elif code == PAD:
            zeros[output] = tuple(graph.values(inputs[1])[0][1:3].ravel().tolist())
        elif code == FULLY_CONNECTED:
            connected.append(inputs[1:])
        elif code in (CONV_2D, DEPTHWISE_CONV_2D):
            layers.append(_convolution(graph, operator, stored, code == DEPTHWISE_CONV_2D, source, len(layers)))
            layers[-1].padding = zeros.get(inputs[0], layers[-1].padding)
        elif code == MAX_POOL_2D:
            layers.append(_pool(operator.table(4), source, len(layers)))
        elif code == ADD:
            first, second = sorted(made[number] for number in inputs)
            if second != len(layers) - 1 or operator.table(4).number(0, "<b"):
                raise ValueError("a sum is of another form than that of a residual block")
            layers[second].add, source = first, second
        elif code == LEAKY_RELU:
            if abs(operator.table(4).number(0, "<f") - SLOPE) > 1e-6:
                raise ValueError("a leaky ReLU has another slope")
            layers[source].activation = "LeakyRelu"
        elif code == MAXIMUM:
            layers[source].floor = float(graph.values(inputs[1])[0])
        elif code == MEAN:
            if not heads:
                break
            pooled = source
        elif code not in (QUANTIZE, RESHAPE, SPLIT, LOGISTIC, SOFTMAX):
            raise ValueError(f"operator {code} is not supported")
        made[output] = len(layers) - 1 if code in (CONV_2D, DEPTHWISE_CONV_2D, MAX_POOL_2D) else source
    last = len(layers) - 1
    for i in heads:
        weights, bias = (_dequantised(graph, stored, number)[:rows] for number in connected[i])
        layers.append(Layer(f"head{i}", np.ascontiguousarray(weights.T[None, None]), bias, source=pooled))
    return Network(layers, shape, list(range(last, len(layers))), mean, std, halves)


def _convolution(graph, operator, stored, depthwise, source, number):
    _, weights, bias = operator.array(1, "<i4")
    options = operator.table(4)
    whole, scales = graph.values(stored.get(weights, weights))  # out x height x width x in, depthwise 1 x height x width x channels
    added, unit = graph.values(stored.get(bias, bias))
    if len(scales):
        whole = whole * (scales if depthwise else scales.reshape(-1, 1, 1, 1))
        added = added * unit.astype(np.float64)
    return Layer(
        f"conv{number}", np.ascontiguousarray(whole.transpose(1, 2, 3, 0)).astype(np.float32), added.astype(np.float32),
        stride=options.number(1), activation=ACTIVATIONS[options.number(4 if depthwise else 3, "<b")], depthwise=depthwise,
        scales=scales if len(scales) else None, source=source, padding=PADDING[options.number(0, "<b")],
    )


def _dequantised(graph, stored, number):
    values, scales = graph.values(stored.get(number, number))
    return (values * (scales.astype(np.float64) if len(scales) else 1)).astype(np.float32)


def _pool(options, source, number):
    stride, size = (options.number(2), options.number(1)), (options.number(4), options.number(3))
    if stride != size:
        raise ValueError("a pooling has windows that overlap")
    return Pool(f"pool{number}", size, PADDING[options.number(0, "<b")], source)
