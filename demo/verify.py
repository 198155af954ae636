"""Reads the GGUF file itself and lets it tell stories, in plain NumPy.

    python verify.py gg-story.gguf

Neither the model nor the tokens come from the training code: what this prints
is what the file says. The loss is over held-out stories of another seed.
"""
import argparse
import itertools
import re

import gguf
import numpy as np

import stories
from train import HELD_OUT_SEED

PROMPTS = ["Once upon a time", "Tom had a red ball.",
           "In a small village by the sea", "There was a little fox",
           "Anna and Ben were good friends.", "One day, Zorbi the rabbit"]
# GPT-2's splitting, letters and digits being all of ASCII here.
SPLIT = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[A-Za-z]+| ?[0-9]+"
                   r"| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")


def byte_letters():
    """GPT-2's letter for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = (b for b in range(256) if b not in plain)
    letters = {b: chr(b) for b in plain}
    letters.update({b: chr(256 + i) for i, b in enumerate(other)})
    return letters


class Vocabulary:
    def __init__(self, reader):
        def strings(key):
            return reader.get_field(key).contents()
        self.tokens = strings("tokenizer.ggml.tokens")
        self.ids = {t: i for i, t in enumerate(self.tokens)}
        merges = strings("tokenizer.ggml.merges")
        self.ranks = {tuple(m.split(" ")): i for i, m in enumerate(merges)}
        self.end = strings("tokenizer.ggml.eos_token_id")
        self.letters = byte_letters()
        self.bytes = {c: b for b, c in self.letters.items()}
        self.known = {}

    def word(self, text):
        """Merges the pair of the lowest rank until there is none."""
        if text not in self.known:
            parts = [self.letters[b] for b in text.encode()]
            while len(parts) > 1:
                ranked = [(self.ranks.get(pair, 1 << 30), i) for i, pair
                          in enumerate(itertools.pairwise(parts))]
                rank, i = min(ranked)
                if rank == 1 << 30:
                    break
                parts[i:i + 2] = [parts[i] + parts[i + 1]]
            self.known[text] = [self.ids[p] for p in parts]
        return self.known[text]

    def encode(self, text):
        words = SPLIT.findall(text)
        return [self.end] + [i for w in words for i in self.word(w)]

    def decode(self, ids):
        text = "".join(self.tokens[i] for i in ids if i != self.end)
        return bytes(self.bytes[c] for c in text).decode(errors="replace")


class Llama:
    """The model, with a cache of keys and values: feed() takes more tokens."""

    def __init__(self, reader):
        def number(key):
            return reader.get_field("llama." + key).contents()
        self.w = {t.name: gguf.quants.dequantize(t.data, t.tensor_type)
                  .astype(np.float32) for t in reader.tensors}
        self.layers = number("block_count")
        self.heads = number("attention.head_count")
        self.kv_heads = number("attention.head_count_kv")
        self.eps = number("attention.layer_norm_rms_epsilon")
        self.dim = number("rope.dimension_count")
        self.context = number("context_length")
        self.base = number("rope.freq_base")
        self.clear()

    def clear(self):
        self.keys = [np.zeros((0, self.kv_heads, self.dim), np.float32)
                     for _ in range(self.layers)]
        self.values = list(self.keys)

    def norm(self, x, name):
        scale = np.sqrt(np.mean(x * x, -1, keepdims=True) + self.eps)
        return x / scale * self.w[name + ".weight"]

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T

    def rope(self, x, past):
        freq = self.base ** (-np.arange(0, self.dim, 2) / self.dim)
        angle = np.outer(np.arange(past, past + len(x)), freq)[:, None]
        cos, sin = np.cos(angle), np.sin(angle)
        even, odd = x[..., 0::2], x[..., 1::2]
        out = np.empty_like(x)
        out[..., 0::2] = even * cos - odd * sin
        out[..., 1::2] = even * sin + odd * cos
        return out

    def attention(self, n, x):
        past, length = len(self.keys[n]), len(x)

        def heads(name, count):
            y = self.linear(x, f"blk.{n}.attn_{name}")
            return y.reshape(length, count, self.dim)
        q = self.rope(heads("q", self.heads), past)
        k = self.rope(heads("k", self.kv_heads), past)
        self.keys[n] = np.concatenate([self.keys[n], k])
        self.values[n] = np.concatenate(
            [self.values[n], heads("v", self.kv_heads)])
        group = self.heads // self.kv_heads
        k = self.keys[n].repeat(group, 1)
        v = self.values[n].repeat(group, 1)
        score = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(self.dim)
        seen = np.arange(past + length) <= past + np.arange(length)[:, None]
        score = np.where(seen, score, -np.inf)
        prob = np.exp(score - score.max(-1, keepdims=True))
        prob /= prob.sum(-1, keepdims=True)
        out = np.einsum("hqk,khd->qhd", prob, v).reshape(length, -1)
        return self.linear(out, f"blk.{n}.attn_output")

    def feed_forward(self, n, x):
        gate = self.linear(x, f"blk.{n}.ffn_gate")
        up = self.linear(x, f"blk.{n}.ffn_up")
        return self.linear(gate / (1 + np.exp(-gate)) * up,
                           f"blk.{n}.ffn_down")

    def feed(self, ids):
        """The logits after each of ids."""
        x = self.w["token_embd.weight"][ids]
        for n in range(self.layers):
            x = x + self.attention(n, self.norm(x, f"blk.{n}.attn_norm"))
            x = x + self.feed_forward(n, self.norm(x, f"blk.{n}.ffn_norm"))
        return self.linear(self.norm(x, "output_norm"), "token_embd")


def sample(logits, rng, temperature=0.8, top_k=40, top_p=0.95):
    order = np.argsort(-logits)[:top_k]
    prob = np.exp((logits[order] - logits[order[0]]) / temperature)
    prob /= prob.sum()
    keep = np.cumsum(prob) - prob < top_p
    prob = prob * keep
    return int(rng.choice(order, p=prob / prob.sum()))


def tell(llama, vocab, prompt, rng):
    """The prompt and what the model makes of it, to the story's end."""
    llama.clear()
    ids = vocab.encode(prompt)
    logits = llama.feed(ids)
    while len(ids) < llama.context:
        token = sample(logits[-1].astype(np.float64), rng)
        if token == vocab.end:
            break
        ids.append(token)
        logits = llama.feed([token])
    return vocab.decode(ids)


def held_out_loss(llama, vocab, count):
    """Mean nats a token of whole stories, their end included."""
    total = tokens = 0
    for text in itertools.islice(stories.stories(HELD_OUT_SEED), count):
        ids = (vocab.encode(text) + [vocab.end])[:llama.context + 1]
        llama.clear()
        logits = llama.feed(ids[:-1]).astype(np.float64)
        top = logits.max(-1)
        norm = top + np.log(np.exp(logits - top[:, None]).sum(-1))
        hit = logits[np.arange(len(ids) - 1), ids[1:]]
        total += float((norm - hit).sum())
        tokens += len(ids) - 1
    return total / tokens, tokens


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("model")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=100, help="held-out stories")
    p.add_argument("--prompt", action="append")
    args = p.parse_args()
    reader = gguf.GGUFReader(args.model)
    llama, vocab = Llama(reader), Vocabulary(reader)
    loss, tokens = held_out_loss(llama, vocab, args.count)
    print(f"held-out loss: {loss:.4f} nats/token over {tokens} tokens of "
          f"{args.count} stories\n")
    rng = np.random.default_rng(args.seed)
    for prompt in args.prompt or PROMPTS:
        print(tell(llama, vocab, prompt, rng), end="\n\n")


if __name__ == "__main__":
    main()
