"""Writes the checkpoint of train.py as a GGUF file, its matrices as Q8_0.

    python export.py --work /tmp/gg-demo gg-story.gguf
"""
import argparse
import json
import pathlib

import gguf
import numpy as np

import bpe
import model


def add_model(w, c):
    w.add_name("gg story")
    w.add_description("A small model that writes stories for children, "
                      "trained from scratch for gg.")
    w.add_license("MIT")
    w.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    w.add_quantization_version(gguf.GGML_QUANT_VERSION)
    w.add_context_length(c.context)
    w.add_embedding_length(c.embd)
    w.add_block_count(c.layers)
    w.add_feed_forward_length(c.ff)
    w.add_head_count(c.heads)
    w.add_head_count_kv(c.kv_heads)
    w.add_layer_norm_rms_eps(c.eps)
    w.add_rope_dimension_count(c.head_dim)
    w.add_rope_freq_base(c.rope_base)
    w.add_vocab_size(c.vocab)


def add_vocabulary(w, path):
    """Tokens stand in the file as GPT-2 writes them: one letter a byte."""
    bpe_model = json.loads(path.read_text())["model"]
    ids = dict(bpe_model["vocab"])
    end = ids[bpe.END] = len(ids)
    tokens = sorted(ids, key=ids.get)
    types = [gguf.TokenType.NORMAL] * end + [gguf.TokenType.CONTROL]
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list(tokens)
    w.add_token_types(types)
    w.add_token_merges([" ".join(pair) for pair in bpe_model["merges"]])
    w.add_bos_token_id(end)
    w.add_eos_token_id(end)
    w.add_add_bos_token(True)


def add_tensors(w, checkpoint):
    q8_0 = gguf.GGMLQuantizationType.Q8_0
    with np.load(checkpoint) as z:
        names = [k[2:] for k in z.files if k.startswith("p/")]
        for name in names:
            data = z["p/" + name].astype(np.float32)
            if data.ndim == 1:
                w.add_tensor(name, data)
            else:
                w.add_tensor(name, gguf.quants.quantize(data, q8_0),
                             raw_dtype=q8_0)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--work", type=pathlib.Path, required=True)
    p.add_argument("output", type=pathlib.Path)
    args = p.parse_args()
    w = gguf.GGUFWriter(args.output, "llama")
    add_model(w, model.Config())
    add_vocabulary(w, args.work / "tokenizer.json")
    add_tensors(w, args.work / "checkpoint.npz")
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if __name__ == "__main__":
    main()
