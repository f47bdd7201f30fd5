"""Backbones of the paper: trains ResNet-18 or WRN-28-10 on pictures and writes the features of all classes.

    python3 scripts/backbone pack FOLDER --splits SPLITS.json --out PIECES/NAME
    python3 scripts/backbone train PIECES/NAME-*.zip --splits SPLITS.json --network wrn28-10 --side 84 --sizes 40,56 --test-size 72 --out RUN
    python3 scripts/backbone features PIECES/NAME-*.zip --splits SPLITS.json --network wrn28-10 --side 84 --test-size 72 --out RUN --name NAME
    python3 scripts/backbone join RUN/NAME-*.npz --out build/backbone/NAME

FOLDER holds CLASS/PICTURE at any depth; SPLITS.json the classes of "train", "val" and "test".
Training is by cross-entropy. As in S2M2 (Mangla et al., 2020), it can have mixup of the pictures or
of hidden layers (--mix). A second head can tell how a picture is turned (--turn). Training writes a
checkpoint once a minute, and the same command goes on from it. metaqda train, metaqda eval and make
reproduce read the features. It needs PyTorch 1.13 or later; on an NVIDIA card blocks are compiled.
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def give_up(error):
    sys.exit("backbone: %s is missing: install numpy, pillow and torch, 1.13 or later, and try again" % error.name)


try:
    import numpy as np
    import pictures
except ModuleNotFoundError as error:
    give_up(error)


def parse(arguments):
    top = argparse.ArgumentParser(prog="backbone", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(dest="command", required=True)
    for name, what in (("pack", "pictures to small archives"), ("train", "train a network"), ("features", "features of all classes by a trained network"),
                       ("join", "parts of features to one data set")):
        c = commands.add_parser(name, help=what)
        c.add_argument("paths", nargs="+", help="parts" if name == "join" else "folders or archives of pictures")
        c.add_argument("--out", required=True)
        if name != "join":
            c.add_argument("--splits", required=True)
        if name == "pack":
            c.add_argument("--quality", type=int, default=0, help="of WebP; 0 is lossless")
            c.add_argument("--limit", type=int, default=44 << 20, help="most bytes of an archive")
        if name in ("train", "features"):
            c.add_argument("--network", required=True, help="resnet18 or wrn28-10")
            c.add_argument("--side", type=int, required=True, help="stored pictures have this many pixels a side")
            c.add_argument("--test-size", required=True, help="pixels a side for features; of several, such as 84,96, train uses the first, and features the best on the validation classes")
        if name == "train":
            c.add_argument("--sizes", required=True, help="pixels a side of the crops, each for an equal share of the epochs: 48,64")
            c.add_argument("--epochs", type=int, default=60)
            c.add_argument("--minutes", type=float, default=0, help="train for about this long instead, and print the number of epochs")
            c.add_argument("--steps", type=int, default=0, help="stop after this many steps instead, to try it")
            c.add_argument("--batch", type=int, default=256)
            c.add_argument("--rate", type=float, default=0.1)
            c.add_argument("--decay", type=float, default=5e-4)
            c.add_argument("--smooth", type=float, default=0.1, help="label smoothing")
            c.add_argument("--crop", type=float, default=0.35, help="smallest share of the area in a crop")
            c.add_argument("--turn", type=float, default=0.0, help="weight of the loss of the second head; 0 turns no picture")
            c.add_argument("--mix", type=float, default=0.0, help="share of the steps with mixup")
            c.add_argument("--seed", type=int, default=0)
        if name == "features":
            c.add_argument("--name", required=True)
            c.add_argument("--train-each", type=int, default=600, help="pictures to keep of each training class")
            c.add_argument("--part", type=int, default=15 << 20, help="most bytes of a part")
    return top.parse_args(arguments)


def features(options, splits):
    """Writes OUT/NAME-0.npz, OUT/NAME-1.npz, ...: features as float16 with the classes' names, splits beside them."""
    import torch
    import train
    pixels, labels, names = pictures.load(options.paths, options.side)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = train.Network(options.network, len(splits["train"])).to(device, memory_format=torch.channels_last)
    network.load_state_dict(torch.load(os.path.join(options.out, "state.pt"), map_location=device)["best"]["network"])
    of = {s: np.isin(labels, [i for i, c in enumerate(names) if c in set(splits[s])]) for s in splits}
    scores = {}
    for size in map(int, options.test_size.split(",")):
        rows = train.embed(network, pixels[of["val"]], size)
        scores[size] = sum(train.nearest_centroid(rows, labels[of["val"]], rows.mean(0), (1, 5)))
    size = max(scores, key=scores.get)
    print("at %d pixels" % size, flush=True)
    rows = train.embed(network, pixels, size)
    mean = rows[torch.as_tensor(of["train"], device=device)].mean(0)
    for s in ("val", "test"):
        one, five = train.nearest_centroid(rows[torch.as_tensor(of[s], device=device)], labels[of[s]], mean, (1, 5))
        print("nearest centroid (CL2N), 1,000 five-way tasks of split %s: %.2f / %.2f %%" % (s, 100 * one, 100 * five), flush=True)
    kept = np.concatenate([np.flatnonzero(labels == i)[:options.train_each if of["train"][labels == i][0] else None] for i in range(len(names))])
    values, each = rows.cpu().numpy().astype(np.float16)[kept], options.part // (2 * rows.shape[1] + 8)
    for part, i in enumerate(range(0, len(values), each)):
        np.savez(os.path.join(options.out, "%s-%d.npz" % (options.name, part)), embeddings=values[i:i + each], labels=labels[kept][i:i + each].astype(np.int32))
    with open(os.path.join(options.out, options.name + ".json"), "w") as f:
        json.dump({"name": options.name, "dimension": int(rows.shape[1]), "classes": names, "splits": splits}, f)


def join(paths, out):
    parts = [np.load(p) for p in sorted(paths, key=lambda p: int(p.rsplit("-", 1)[1].split(".")[0]))]
    np.savez(out + ".npz", **{k: np.concatenate([p[k] for p in parts]) for k in ("embeddings", "labels")})


def main(arguments):
    options = parse(arguments)
    if options.command == "join":
        return join(options.paths, options.out)
    splits = pictures.read_splits(options.splits)
    if options.command == "pack":
        return print("\n".join(pictures.pack(options.paths, splits, options.out, options.quality, options.limit)))
    os.makedirs(options.out, exist_ok=True)
    if options.command == "features":
        return features(options, splits)
    import train
    train.train(*pictures.load(options.paths, options.side), splits, options)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ModuleNotFoundError as error:
        give_up(error)
