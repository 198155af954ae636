"""Writes shape and vocabulary of the demo model, for train.sh: a GGUF file
whose weights are zeros.

    python shape.py --seed 1 --count 20000 shape.gguf

The vocabulary is a byte-level BPE of GPT-2's splitting, with merges of our own,
from `count` stories of a seed.
"""
import argparse
import itertools
import json

import gguf
import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import stories

END = "<|endoftext|>"
VOCABULARY, WIDTH, BLOCKS, FEED_FORWARD = 1408, 256, 3, 768
HEADS, KV_HEADS, CONTEXT = 4, 2, 512
KV_WIDTH = WIDTH // HEADS * KV_HEADS

# A tensor of a block, and its shape as numpy has it: rows, columns.
BLOCK = {
    "attn_norm": (WIDTH,),
    "attn_q": (WIDTH, WIDTH),
    "attn_k": (KV_WIDTH, WIDTH),
    "attn_v": (KV_WIDTH, WIDTH),
    "attn_output": (WIDTH, WIDTH),
    "ffn_norm": (WIDTH,),
    "ffn_gate": (FEED_FORWARD, WIDTH),
    "ffn_up": (FEED_FORWARD, WIDTH),
    "ffn_down": (WIDTH, FEED_FORWARD),
}


def vocabulary(seed, count):
    """All tokens, END being the last of them, and the merges."""
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - 1, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tok.train_from_iterator(
        itertools.islice(stories.stories(seed), count), trainer)
    bpe = json.loads(tok.to_str())["model"]
    tokens = sorted(bpe["vocab"], key=bpe["vocab"].get) + [END]
    assert len(tokens) == VOCABULARY
    return tokens, [" ".join(pair) for pair in bpe["merges"]]


def add_vocabulary(w, tokens, merges):
    end = len(tokens) - 1
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list(tokens)
    w.add_token_types([gguf.TokenType.NORMAL] * end + [gguf.TokenType.CONTROL])
    w.add_token_merges(merges)
    w.add_bos_token_id(end)
    w.add_eos_token_id(end)
    w.add_add_bos_token(True)


def add_shape(w):
    w.add_name("gg story")
    w.add_description("A small model that writes stories for children, "
                      "trained from scratch for gg.")
    w.add_license("MIT")
    w.add_context_length(CONTEXT)
    w.add_embedding_length(WIDTH)
    w.add_block_count(BLOCKS)
    w.add_feed_forward_length(FEED_FORWARD)
    w.add_head_count(HEADS)
    w.add_head_count_kv(KV_HEADS)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_dimension_count(WIDTH // HEADS)
    w.add_rope_freq_base(10000.0)
    w.add_vocab_size(VOCABULARY)


def add_weights(w):
    shapes = {"token_embd": (VOCABULARY, WIDTH)}
    for i in range(BLOCKS):
        shapes.update({f"blk.{i}.{k}": v for k, v in BLOCK.items()})
    shapes["output_norm"] = (WIDTH,)
    for name, shape in shapes.items():
        w.add_tensor(name + ".weight", np.zeros(shape, np.float32))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=20000)
    p.add_argument("output")
    args = p.parse_args()
    w = gguf.GGUFWriter(args.output, "llama")
    add_shape(w)
    add_vocabulary(w, *vocabulary(args.seed, args.count))
    add_weights(w)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if __name__ == "__main__":
    main()
