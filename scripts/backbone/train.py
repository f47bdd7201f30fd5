"""Trains a backbone on the training classes. Keeps the state that is best at few-shot tasks of the validation classes."""
import json
import math
import os
import time

import numpy as np
import torch
from torch.nn import functional

from networks import NETWORKS, Network

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's pictures, by channel


def normalised(pixels):
    """A batch of bytes, B x H x W x 3, as the network takes it: B x 3 x H x W in channels-last memory."""
    x = pixels.permute(0, 3, 1, 2).to(memory_format=torch.channels_last).float() / 255
    mean, deviation = (torch.tensor(v, device=x.device).view(1, 3, 1, 1) for v in (MEAN, DEVIATION))
    return (x - mean) / deviation


def resized(x, side):
    return x if x.shape[-1] == side else functional.interpolate(x, size=(side, side), mode="bicubic", antialias=True, align_corners=False)


def augmented(pixels, side, smallest, random):
    """Random crops, scaled to side x side. They have smallest to all of the area and a shape of 3/4 to
    4/3. One half is mirrored. Brightness, contrast and saturation are drawn within 40 percent."""
    n = len(pixels)

    def draw(low, high, *shape):
        return torch.rand(shape or (n,), generator=random, device=pixels.device) * (high - low) + low
    area, shape = draw(smallest, 1).sqrt(), draw(-0.2877, 0.2877).div(2).exp()
    wide, high = (area * shape).clamp(max=1), (area / shape).clamp(max=1)
    theta = torch.zeros(n, 2, 3, device=pixels.device)
    theta[:, 0, 0], theta[:, 1, 1] = wide * draw(0, 2).floor().mul(2).sub(1), high
    theta[:, 0, 2], theta[:, 1, 2] = draw(-1, 1) * (1 - wide), draw(-1, 1) * (1 - high)
    x = normalised(pixels)
    x = functional.grid_sample(x, functional.affine_grid(theta, (n, 3, side, side), align_corners=False), padding_mode="reflection", align_corners=False)
    x = x * draw(0.6, 1.4, n, 1, 1, 1) + draw(-0.4, 0.4, n, 1, 1, 1)
    grey = x.mean(1, keepdim=True)
    x = torch.lerp(grey, x, draw(0.6, 1.4, n, 1, 1, 1))
    middle = grey.mean((2, 3), keepdim=True)
    return torch.lerp(middle, x, draw(0.6, 1.4, n, 1, 1, 1)).contiguous(memory_format=torch.channels_last)


def turned(x, random):
    """The batch with its quarters turned by 0, 90, 180 and 270 degrees (Gidaris et al., 2018), and the turns."""
    turns = torch.arange(len(x), device=x.device) * 4 // len(x)
    return torch.cat([torch.rot90(x[turns == k], k, (2, 3)) for k in range(4)]).contiguous(memory_format=torch.channels_last), turns


@torch.no_grad()
def embed(network, pixels, side, batch=512):
    """The features of every picture, N x width."""
    device = next(network.parameters()).device
    network.eval()
    rows = []
    for i in range(0, len(pixels), batch):
        x = resized(normalised(torch.as_tensor(pixels[i:i + batch]).to(device)), side)
        with torch.autocast(device.type, torch.bfloat16):
            rows.append(network(x).float())
    return torch.cat(rows)


def nearest_centroid(features, labels, mean, shots, tasks=1000, ways=5, queries=15, seed=0):
    """Accuracy of few-shot tasks by nearest centroid after centring and scaling to length 1 (CL2N), for each number of shots."""
    features = functional.normalize(features - mean, dim=1)
    of = [np.flatnonzero(labels == c) for c in np.unique(labels)]
    random, found = np.random.default_rng(seed), []
    for shot in shots:
        rows = torch.as_tensor(np.stack([np.stack([random.choice(of[c], shot + queries, replace=False)
                                                   for c in random.choice(len(of), min(ways, len(of)), replace=False)]) for _ in range(tasks)]))
        right = 0
        for part in rows.split(200):
            x = features[part.to(features.device)]  # tasks x ways x (shot + queries) x width
            nearest = torch.cdist(x[:, :, shot:].flatten(1, 2), x[:, :, :shot].mean(2)).argmin(2)
            right += int((nearest.view(x.shape[0], x.shape[1], -1) == torch.arange(x.shape[1], device=x.device)[:, None]).sum())
        found.append(right / (rows.shape[0] * rows.shape[1] * queries))
    return found


def train(pixels, labels, names, splits, options):
    """Trains, and writes OUT/log.jsonl and once a minute OUT/state.pt: the best state so far, the last one, and the optimiser's.
    A run that finds state.pt continues from it. Returns the best network."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(options.seed)
    torch.backends.cudnn.benchmark = True
    number = {c: i for i, c in enumerate(names)}
    local = np.full(len(names), -1)
    local[[number[c] for c in splits["train"]]] = np.arange(len(splits["train"]))
    rows = np.flatnonzero(local[labels] >= 0)
    asked = np.flatnonzero(np.isin(labels, [number[c] for c in splits["val"]]))
    data, truth = torch.as_tensor(pixels[rows]).to(device), torch.as_tensor(local[labels[rows]]).to(device)

    network = Network(options.network, len(splits["train"])).to(device, memory_format=torch.channels_last)
    if device.type == "cuda" and hasattr(torch, "compile"):
        network.compile()
    optimiser = torch.optim.SGD(network.parameters(), lr=options.rate, momentum=0.9, nesterov=True, weight_decay=options.decay)
    each = len(rows) // options.batch
    steps = each * options.epochs if not options.steps else options.steps
    sizes, test_size = [int(s) for s in options.sizes.split(",")], int(options.test_size.split(",")[0])
    state, log = os.path.join(options.out, "state.pt"), os.path.join(options.out, "log.jsonl")
    first, best, spent = 0, {"score": -1.0}, 0.0
    if os.path.exists(state):
        kept = torch.load(state, map_location=device)
        network.load_state_dict(kept["network"])
        optimiser.load_state_dict(kept["optimiser"])
        first, best, spent = kept["step"], kept["best"], kept["seconds"]
        if options.minutes:
            steps, options.epochs = kept["steps"], kept["epochs"]
    begun = saved = mark = time.monotonic()
    sums, counted = torch.zeros(3, device=device), 0

    def save(step):
        torch.save({"step": step, "steps": steps, "epochs": options.epochs, "network": network.state_dict(), "optimiser": optimiser.state_dict(), "best": best,
                    "seconds": spent + time.monotonic() - begun}, state + ".part")
        os.replace(state + ".part", state)

    step = first - 1
    while step + 1 < steps:
        step += 1
        epoch, place = divmod(step, each)
        if step == first or place == 0:
            order = torch.from_numpy(np.random.default_rng((options.seed, epoch)).permutation(len(rows))).to(device)
        random = torch.Generator(device).manual_seed(options.seed * 1_000_003 + step)
        dice = np.random.default_rng((options.seed, step, 1))
        done = step / steps
        rate = options.rate * min(done / 0.15, 0.5 * (1 + math.cos(math.pi * max(0, done - 0.15) / 0.85)))
        for group in optimiser.param_groups:
            group["lr"] = max(rate, 1e-4 * options.rate)
        chosen = order[place * options.batch:(place + 1) * options.batch]
        x, y = augmented(data[chosen], sizes[min(len(sizes) - 1, int(done * len(sizes)))], options.crop, random), truth[chosen]
        turns = torch.zeros_like(y)
        if options.turn:
            x, turns = turned(x, random)
        network.train()
        mix = other = None
        if options.mix and dice.random() < options.mix:
            other = torch.randperm(len(x), generator=random, device=device)
            mix = (int(dice.integers(len(network.stages) + 1)), other, float(dice.beta(2, 2)))
        with torch.autocast(device.type, torch.bfloat16):
            features = network(x, mix)
            class_scores, turn_scores = network.classes(features), network.turns(features)

        def loss(scores, wanted, smooth):
            of = functional.cross_entropy(scores.float(), wanted, label_smoothing=smooth)
            return of if mix is None else mix[2] * of + (1 - mix[2]) * functional.cross_entropy(scores.float(), wanted[other], label_smoothing=smooth)
        class_loss = loss(class_scores, y, options.smooth)
        turn_loss = loss(turn_scores, turns, 0.0) if options.turn else class_loss * 0
        optimiser.zero_grad(set_to_none=True)
        (class_loss + options.turn * turn_loss).backward()
        optimiser.step()
        if step - first in (20, 40):  # by then everything is compiled
            if device.type == "cuda":
                torch.cuda.synchronize()
            now = time.monotonic()
            if step - first == 40:
                cost = (now - mark) / 20 * each
                print("%.1f seconds an epoch at %d pixels" % (cost, x.shape[-1]), flush=True)
                if options.minutes and not first:
                    options.epochs = max(2, int(60 * options.minutes / cost * sizes[0] ** 2 / np.mean(np.square(sizes))))
                    steps = each * options.epochs
                    print("%d epochs" % options.epochs, flush=True)
            mark = now
        sums += torch.stack([class_loss.detach(), turn_loss.detach(), (class_scores.argmax(1) == y).float().mean()])
        counted += 1

        last = step + 1 == steps
        if last or (place + 1 == each and (epoch + 1) % max(1, options.epochs // 5) == 0):
            mean = embed(network, data[::10].cpu(), test_size).mean(0)
            score = nearest_centroid(embed(network, pixels[asked], test_size), labels[asked], mean, (1, 5), tasks=600)
            seconds = spent + time.monotonic() - begun
            line = {"step": step + 1, "epoch": round((step + 1) / each, 2), "seconds": round(seconds, 1), "loss": sums[0].item() / counted,
                    "turn_loss": sums[1].item() / counted, "right": sums[2].item() / counted, "val_1": score[0], "val_5": score[1]}
            sums.zero_()
            counted = 0
            if sum(score) > best["score"]:
                best = {"score": sum(score), "step": step + 1, "network": {k: v.clone() for k, v in network.state_dict().items()}}
            with open(log, "a") as f:
                f.write(json.dumps(line) + "\n")
            print(json.dumps(line), flush=True)
        if last or time.monotonic() - saved > 60:
            save(step + 1)
            saved = time.monotonic()
    network.load_state_dict(best["network"])
    return network
