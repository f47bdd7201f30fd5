"""What a network of convolutions is, whatever file it came from."""
from dataclasses import dataclass

import numpy as np


@dataclass
class Layer:
    """One convolution with its bias, and what follows it.

    weights  float32: height x width x in x out, of a depthwise one height x width x channels x 1
    scales   float32, one for each output channel: the weights are whole multiples of them, -127 to 127
    bias     float32, one for each output channel
    stride   1 or 2; the padding is TensorFlow's SAME
    relu6    whether the answer is cut off at 0 and 6
    add      number of the layer whose answer is added to this one's, or None
    """

    name: str
    weights: np.ndarray
    bias: np.ndarray
    stride: int
    relu6: bool
    depthwise: bool = False
    add: int | None = None
    scales: np.ndarray | None = None

    @property
    def axis(self):
        """The axis of the output channels."""
        return 2 if self.depthwise else 3


@dataclass
class Network:
    """A chain of layers, whose last answer's mean over the cells is the embedding, and what it is fed."""

    layers: list[Layer]
    mean: float
    std: float


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
