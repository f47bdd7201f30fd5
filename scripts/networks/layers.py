"""A network of convolutions, independent of its file format."""
from dataclasses import dataclass

import numpy as np


@dataclass
class Layer:
    """One convolution with its bias, and what follows it.

    weights     float32: height x width x in x out, of a depthwise one height x width x channels x 1
    scales      float32, one for each output channel: the weights are whole multiples of them, -127 to 127
    bias        float32, one for each output channel
    stride      1 or 2
    activation  "Relu6", "Relu", "LeakyRelu" (slope SLOPE below 0) or None
    floor       lower bound of the output, after the activation, or None
    add         number of the layer whose output is added to this one's, or None
    source      number of the layer that feeds this one, -1 for the input, None for the layer before it
    padding     TensorFlow's "SAME" or "VALID", or the numbers of zeros (top, bottom, left, right)
    """

    name: str
    weights: np.ndarray
    bias: np.ndarray
    stride: int = 1
    activation: str | None = None
    depthwise: bool = False
    add: int | None = None
    scales: np.ndarray | None = None
    floor: float | None = None
    source: int | None = None
    padding: str | tuple[int, int, int, int] = "SAME"

    @property
    def axis(self):
        """The axis of the output channels."""
        return 2 if self.depthwise else 3


SLOPE = 0.2


@dataclass
class Pool:
    """Max pooling with windows of size (height, width) that do not overlap."""

    name: str
    size: tuple[int, int]
    padding: str
    source: int | None = None
    add: None = None
    floor: None = None


@dataclass
class Network:
    """Layers, the shape of the input, the layers of the outputs, and mean and std of the pixels.

    An output is the mean over the cells of its layer. The weights of the first `halves` layers are stored
    as half floats: they are few, and their errors affect all later layers.
    """

    layers: list[Layer | Pool]
    input: tuple[int, int, int]
    outputs: list[int]
    mean: float = 0
    std: float = 1
    halves: int = 0


def fold(weights, axis, gamma, beta, mean, variance, epsilon):
    """Batch norm gamma (x - mean) / sqrt(variance + epsilon) + beta, put into the weights before it and a bias."""
    gain = gamma.astype(np.float64) / np.sqrt(variance.astype(np.float64) + epsilon)
    shape = [1] * weights.ndim
    shape[axis] = -1
    return (weights * gain.reshape(shape)).astype(np.float32), (beta - mean * gain).astype(np.float32)


def quantised(layer):
    """The weights as int8 with one scale s for each output channel: round(w / s), s = max |w| / 127."""
    others = tuple(i for i in range(4) if i != layer.axis)
    scales = layer.scales
    if scales is None:
        scales = np.abs(layer.weights).max(axis=others).astype(np.float32) / np.float32(127)
    scales = np.where(scales > 0, scales, 1).astype(np.float32)
    shape = [1] * 4
    shape[layer.axis] = -1
    return np.clip(np.rint(layer.weights / scales.reshape(shape)), -127, 127).astype(np.int8), scales
