"""Trains the vocabulary and the model; export.py then makes the GGUF file.

    python train.py --work /tmp/gg-demo

The learning rate warms up, stays, and falls to zero over the last steps. A
run that is stopped (by SIGTERM, or by a loss of power) goes on from its last
checkpoint, and may then be given another number of steps: that only moves the
place where the rate begins to fall.
"""
import argparse
import pathlib
import signal
import time

import jax
import jax.numpy as jnp
import numpy as np

import bpe
import data
import model
import optimizer

VOCAB_SEED, TRAIN_SEED, LONG_SEED, HELD_OUT_SEED = 1, 1, 2, 3
SHORT, LONG = 320, 512  # tokens a row
BATCH = 4096            # tokens a step, at most
WARMUP = 60
SAVE_EVERY = 200


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--work", type=pathlib.Path, required=True)
    p.add_argument("--steps", type=int, default=2040)
    p.add_argument("--fall", type=int, default=1240,
                   help="the last steps, in which the rate falls")
    p.add_argument("--long", type=int, default=240,
                   help="the last steps, which see long rows")
    p.add_argument("--stories", type=int, default=30000)
    p.add_argument("--long-stories", type=int, default=14000)
    return p.parse_args()


def vocabulary(c, work):
    path = work / "tokenizer.json"
    if not path.exists():
        bpe.train(c.vocab, VOCAB_SEED, 20000).save(str(path))
    return bpe.load(path)


def rate(step, steps, fall):
    return min(1.0, (step + 1) / WARMUP, (steps - step) / fall)


def save(work, step, params, state):
    """Writes beside the old checkpoint first: a kill leaves one of them."""
    flat = {f"p/{k}": v for k, v in params.items()}
    for moment in ("first", "second"):
        flat.update({f"{moment}/{k}": v for k, v in state[moment].items()})
    part = work / "part.npz"
    np.savez(part, step=step, count=state["count"], **flat)
    part.rename(work / "checkpoint.npz")


def restore(c, work):
    """The last checkpoint, or a model at random: step, params, state."""
    path = work / "checkpoint.npz"
    if not path.exists():
        params = model.init(c, TRAIN_SEED)
        return 0, params, optimizer.init(params)
    with np.load(path) as z:
        groups = {"p": {}, "first": {}, "second": {}}
        for key in z.files:
            group, _, name = key.partition("/")
            if name:
                groups[group][name] = jnp.asarray(z[key])
        state = {"first": groups["first"], "second": groups["second"],
                 "count": jnp.asarray(z["count"])}
        return int(z["step"]), groups["p"], state


def batches(tok, args):
    """batch(step): short rows, and long ones at the end."""
    turn = args.steps - args.long
    short = data.rows(tok, TRAIN_SEED, args.stories, SHORT, args.work)
    long = data.rows(tok, LONG_SEED, args.long_stories, LONG, args.work)

    def batch(step):
        rows, at = (short, step) if step < turn else (long, step - turn)
        count = BATCH // (rows.shape[1] - 1)
        return np.take(rows, range(at * count, (at + 1) * count), axis=0,
                       mode="wrap").astype(np.int32)
    return batch


def held_out_loss(c, params, rows):
    mean = jax.jit(lambda p, r: model.loss(c, p, r))
    parts = [mean(params, jnp.asarray(rows[i:i + 8], jnp.int32))
             for i in range(0, len(rows) - 7, 8)]
    return float(np.mean(parts))


def main():
    args = arguments()
    args.work.mkdir(parents=True, exist_ok=True)
    c = model.Config()
    tok = vocabulary(c, args.work)
    batch = batches(tok, args)
    held_out = data.rows(tok, HELD_OUT_SEED, 400, SHORT, args.work)[:128]
    step, params, state = restore(c, args.work)

    @jax.jit
    def train_step(params, state, rows, rate):
        value, grads = jax.value_and_grad(
            lambda p: model.loss(c, p, rows))(params)
        return (value, *optimizer.update(params, grads, state, rate))

    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    mark = time.time()
    while step < args.steps and not stop:
        value, params, state = train_step(
            params, state, batch(step), rate(step, args.steps, args.fall))
        step += 1
        if step % 20 == 0:
            now = float(value)  # waits for the steps that are under way
            print(f"step {step} loss {now:.4f} "
                  f"steps/s {20 / (time.time() - mark):.2f}", flush=True)
            mark = time.time()
        if step % SAVE_EVERY == 0:
            save(args.work, step, params, state)
    save(args.work, step, params, state)
    loss = held_out_loss(c, params, held_out)
    print(f"step {step} held-out loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
