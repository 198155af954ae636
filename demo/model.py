"""The LLaMA forward pass in JAX; parameters carry their GGUF names.

A weight has the shape (rows out, columns in), as numpy sees a GGUF tensor, so
that a checkpoint and the exported file differ in nothing but the type.
"""
import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Config:
    vocab: int = 1408
    embd: int = 256
    layers: int = 3
    ff: int = 768
    heads: int = 4
    kv_heads: int = 2
    context: int = 512
    eps: float = 1e-5
    rope_base: float = 10000.0

    @property
    def head_dim(self):
        return self.embd // self.heads


def matrix_shapes(c):
    """Names and shapes of one block's matrices."""
    kv = c.kv_heads * c.head_dim
    return {
        "attn_q": (c.embd, c.embd),
        "attn_k": (kv, c.embd),
        "attn_v": (kv, c.embd),
        "attn_output": (c.embd, c.embd),
        "ffn_gate": (c.ff, c.embd),
        "ffn_up": (c.ff, c.embd),
        "ffn_down": (c.embd, c.ff),
    }


def init(c, seed):
    """Random weights; what writes to the residual stream starts small."""
    rng = np.random.default_rng(seed)

    def normal(shape, std):
        return jnp.asarray(rng.normal(0, std, shape), jnp.float32)

    p = {"token_embd.weight": normal((c.vocab, c.embd), 0.02),
         "output_norm.weight": jnp.ones(c.embd)}
    for n in range(c.layers):
        for name, shape in matrix_shapes(c).items():
            std = 1 / math.sqrt(shape[1])
            if name in ("attn_output", "ffn_down"):
                std /= math.sqrt(2 * c.layers)
            p[f"blk.{n}.{name}.weight"] = normal(shape, 0.6 * std)
        p[f"blk.{n}.attn_norm.weight"] = jnp.ones(c.embd)
        p[f"blk.{n}.ffn_norm.weight"] = jnp.ones(c.embd)
    return p


def norm(x, w, eps):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + eps) * w


def rope_tables(c, length):
    """Cosine and sine, (length, head_dim / 2)."""
    freq = c.rope_base ** (-np.arange(0, c.head_dim, 2) / c.head_dim)
    angle = np.outer(np.arange(length), freq)
    return jnp.float32(np.cos(angle)), jnp.float32(np.sin(angle))


def rope(x, cos, sin):
    """Turns the neighbours (x[2i], x[2i+1]) of x (B, T, heads, dim)."""
    pair = x.reshape(*x.shape[:-1], -1, 2)
    a, b = pair[..., 0], pair[..., 1]
    cos, sin = cos[:, None, :], sin[:, None, :]
    turned = jnp.stack([a * cos - b * sin, a * sin + b * cos], -1)
    return turned.reshape(x.shape)


def attention(c, p, blk, x, tables):
    """Causal attention; each key head serves heads / kv_heads queries."""
    rows, length, _ = x.shape
    group = c.heads // c.kv_heads

    def heads(name, count):
        y = x @ p[f"{blk}.{name}.weight"].T
        return y.reshape(rows, length, count, c.head_dim)

    q = rope(heads("attn_q", c.heads), *tables)
    k = rope(heads("attn_k", c.kv_heads), *tables)
    v = heads("attn_v", c.kv_heads)
    q = q.reshape(rows, length, c.kv_heads, group, c.head_dim)
    # One matrix product a key head: the group's queries lie side by side.
    q = q.transpose(0, 2, 3, 1, 4).reshape(rows, c.kv_heads, -1, c.head_dim)
    score = q @ k.transpose(0, 2, 3, 1) / math.sqrt(c.head_dim)
    score = score.reshape(rows, c.kv_heads, group, length, length)
    causal = np.tril(np.ones((length, length), bool))
    prob = jax.nn.softmax(jnp.where(causal, score, -1e9), -1)
    prob = prob.reshape(rows, c.kv_heads, group * length, length)
    out = prob @ v.transpose(0, 2, 1, 3)
    out = out.reshape(rows, c.heads, length, c.head_dim)
    out = out.transpose(0, 2, 1, 3).reshape(rows, length, c.embd)
    return out @ p[f"{blk}.attn_output.weight"].T


def feed_forward(p, blk, x):
    gate = jax.nn.silu(x @ p[f"{blk}.ffn_gate.weight"].T)
    up = x @ p[f"{blk}.ffn_up.weight"].T
    return (gate * up) @ p[f"{blk}.ffn_down.weight"].T


def forward(c, p, tokens):
    """Logits (rows, length, vocab) of tokens (rows, length)."""
    tables = rope_tables(c, tokens.shape[1])
    x = p["token_embd.weight"][tokens]
    for n in range(c.layers):
        blk = f"blk.{n}"
        cur = norm(x, p[f"{blk}.attn_norm.weight"], c.eps)
        x = x + attention(c, p, blk, cur, tables)
        cur = norm(x, p[f"{blk}.ffn_norm.weight"], c.eps)
        x = x + feed_forward(p, blk, cur)
    x = norm(x, p["output_norm.weight"], c.eps)
    return x @ p["token_embd.weight"].T


def loss(c, p, rows):
    """Mean nats a token of rows (count, length + 1)."""
    logits = forward(c, p, rows[:, :-1])
    top = jax.nn.logsumexp(logits, -1)
    hit = jnp.take_along_axis(logits, rows[:, 1:, None], -1)[..., 0]
    return jnp.mean(top - hit)
