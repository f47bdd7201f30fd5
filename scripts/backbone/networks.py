"""ResNet-18 and WRN-28-10 as few-shot learning uses them: a first layer of 3x3 without pooling, so that small pictures
keep their pixels (Wang et al., SimpleShot, 2019; Mangla et al., S2M2, 2020)."""
import torch
from torch import nn
from torch.nn import functional


def conv(inputs, outputs, size, stride=1):
    return nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)


class Basic(nn.Module):
    """Two convolutions beside a shortcut (He et al., 2016, figure 2)."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = conv(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = conv(outputs, outputs, 3), nn.BatchNorm2d(outputs)
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else nn.Sequential(conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        h = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(h)) + self.shortcut(x))


class Wide(nn.Module):
    """The same with normalisation before each convolution (Zagoruyko and Komodakis, 2016)."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(inputs), conv(inputs, outputs, 3, stride)
        self.bn2, self.conv2 = nn.BatchNorm2d(outputs), conv(outputs, outputs, 3)
        self.shortcut = None if inputs == outputs else conv(inputs, outputs, 1, stride)

    def forward(self, x):
        h = functional.relu(self.bn1(x))
        beside = x if self.shortcut is None else self.shortcut(h)
        return self.conv2(functional.relu(self.bn2(self.conv1(h)))) + beside


NETWORKS = {  # block, channels of the first layer, channels of each stage, blocks of a stage
    "resnet18": (Basic, 64, (64, 128, 256, 512), 2),
    "wrn28-10": (Wide, 16, (160, 320, 640), 4),
    "tiny": (Basic, 8, (8, 16), 1),  # for tests
}


class Network(nn.Module):
    """Features and two linear heads: the class, and by how many quarters the picture is turned."""

    def __init__(self, name, classes):
        super().__init__()
        block, first, widths, blocks = NETWORKS[name]
        stem = [conv(3, first, 3)]
        if block is Basic:
            stem += [nn.BatchNorm2d(first), nn.ReLU()]
        self.stem, stages, inputs = nn.Sequential(*stem), [], first
        for i, width in enumerate(widths):
            stages.append(nn.ModuleList())
            for j in range(blocks):
                stages[-1].append(block(inputs, width, 2 if i and not j else 1))
                inputs = width
        self.stages, self.width = nn.ModuleList(stages), inputs
        self.last = nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU()) if block is Wide else nn.Identity()
        self.classes, self.turns = nn.Linear(inputs, classes), nn.Linear(inputs, 4)
        self.faster = {}
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def compile(self):
        """Compiles the blocks for training only. For features they run uncompiled."""
        torch._dynamo.config.cache_size_limit = 256
        blocks = [b for stage in self.stages for b in stage]
        self.faster = {b: torch.compile(b, dynamic=False) for b in blocks}

    def forward(self, x, mix=None):
        """Features of a batch, batch x width. mix = (stage, order, share) blends them before that stage with those
        of the batch in another order: manifold mixup (Verma et al., 2019), of the pictures themselves for stage 0."""
        for i in range(len(self.stages) + 1):
            if mix is not None and mix[0] == i:
                x = torch.lerp(x[mix[1]], x, mix[2])
            if i == 0:
                x = self.stem(x)
            if i < len(self.stages):
                for block in self.stages[i]:
                    x = (self.faster.get(block, block) if self.training else block)(x)
        return self.last(x).mean((2, 3))
