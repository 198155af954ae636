#!/usr/bin/env python3
"""golden_families.py - logits of the tests' models by another implementation

    golden_families.py MAKE_MODEL >unit/golden_families.h

Builds for each family the model of the transformers library that its files
are converted from, puts the weights of MAKE_MODEL's file into it (undoing what
the conversion to GGUF does to them), and writes some logits. Needs gguf,
numpy, torch and transformers; not run by `make check`.
"""

import subprocess
import sys
import tempfile

import gguf
import numpy as np
import torch

# The library computes angles, norms and softmax in float32 whatever the
# weights are. Its formulas are wanted here, not its roundings.
torch.set_default_dtype(torch.float64)
torch.float32 = torch.float = torch.float64
torch.Tensor.float = torch.Tensor.double

import transformers  # noqa: E402

POSITIONS = [0, 1, 17, 40, 99, 109]
IDS = [0, 42, 85, 128, 171, 214, 257, 299]
LONG = 140  # ids: more than phi3's original context, as the models' own is


def some_ids(n, n_vocab):
    """As fill_ids() in unit/session_test.h."""
    return [(i * 37 + i * i * 11) % n_vocab for i in range(n)]


class File:
    """The keys and tensors of a GGUF file of F32 weights."""

    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.arch = reader.get_field("general.architecture").contents()
        self.keys = {k: f.contents() for k, f in reader.fields.items()}
        self.left = {t.name: torch.tensor(np.array(t.data), dtype=torch.float64)
                     for t in reader.tensors}
        self.fold_scales()
        self.n_layer = self.key("block_count")
        self.n_embd = self.key("embedding_length")
        self.n_head = self.key("attention.head_count")
        self.n_kv = self.key("attention.head_count_kv", self.n_head)
        if isinstance(self.n_kv, list):
            self.n_kv, = set(self.n_kv)
        self.d = self.key("attention.key_length", self.n_embd // self.n_head)
        self.n_rot = self.key("rope.dimension_count", self.d)
        self.n_vocab = len(self.keys["tokenizer.ggml.tokens"])

    def fold_scales(self):
        """The library has no scales: matrices are multiplied by them."""
        for name in list(self.left):
            if name.endswith(".input_scale"):
                self.left.pop(name)
            elif name.endswith(".scale"):
                base = name.removesuffix(".scale").removesuffix(".weight")
                w = self.left[f"{base}.weight"]
                s = self.left.pop(name)
                if len(s) > 1:
                    s = s.reshape(-1, 1, 1)
                self.left[f"{base}.weight"] = w * s

    def key(self, name, other=None):
        return self.keys.get(f"{self.arch}.{name}", other)

    def take(self, name):
        return self.left.pop(name)


def interleaved(w, n_head):
    """Undoes the converter's order of a head's rows for pairs (2i, 2i + 1)."""
    rest = w.shape[1:]
    return (w.reshape(n_head, w.shape[0] // n_head // 2, 2, *rest)
            .swapaxes(1, 2).reshape(w.shape))


def grouped(w, f):
    """Queries, keys, values to groups of a key head's queries, key, value."""
    rest, n = w.shape[1:], f.n_head // f.n_kv
    q, k, v = w.split([f.n_head * f.d, f.n_kv * f.d, f.n_kv * f.d])
    parts = [q.reshape(f.n_kv, n, f.d, *rest),
             k.reshape(f.n_kv, 1, f.d, *rest), v.reshape(f.n_kv, 1, f.d, *rest)]
    return torch.cat(parts, 1).reshape(w.shape)


# ---- names of tensors ------------------------------------------------------

COMMON = {"token_embd": "model.embed_tokens", "output_norm": "model.norm",
          "output": "lm_head"}
LAYER = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj",
         "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
         "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
         "attn_k_norm": "self_attn.k_norm", "attn_sinks": "self_attn.sinks",
         "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj",
         "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
         "ffn_gate_inp": "mlp.gate",
         "ffn_gate_inp_shexp": "mlp.shared_expert_gate",
         "ffn_gate_shexp": "mlp.shared_expert.gate_proj",
         "ffn_up_shexp": "mlp.shared_expert.up_proj",
         "ffn_down_shexp": "mlp.shared_expert.down_proj"}
POST_NORMS = {"post_attention_norm": "post_attention_layernorm",
              "ffn_norm": "pre_feedforward_layernorm",
              "post_ffw_norm": "post_feedforward_layernorm"}
NEOX = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
        "attn_qkv": "attention.query_key_value",
        "attn_output": "attention.dense", "ffn_up": "mlp.dense_h_to_4h",
        "ffn_down": "mlp.dense_4h_to_h"}
FALCON = {**NEOX, "attn_qkv": "self_attention.query_key_value",
          "attn_output": "self_attention.dense"}
# arch: prefix of layers, names that differ
NAMES = {
    "gpt2": ("transformer.h", {
        "token_embd": "transformer.wte", "position_embd": "transformer.wpe",
        "output_norm": "transformer.ln_f", "attn_norm": "ln_1",
        "attn_qkv": "attn.c_attn", "attn_output": "attn.c_proj",
        "ffn_norm": "ln_2", "ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}),
    "gptj": ("transformer.h", {
        "token_embd": "transformer.wte", "output_norm": "transformer.ln_f",
        "attn_norm": "ln_1", "attn_q": "attn.q_proj", "attn_k": "attn.k_proj",
        "attn_v": "attn.v_proj", "attn_output": "attn.out_proj",
        "ffn_up": "mlp.fc_in", "ffn_down": "mlp.fc_out"}),
    "gptneox": ("gpt_neox.layers", {
        "token_embd": "gpt_neox.embed_in",
        "output_norm": "gpt_neox.final_layer_norm", **NEOX}),
    "falcon": ("transformer.h", {
        "token_embd": "transformer.word_embeddings",
        "output_norm": "transformer.ln_f", **FALCON}),
    "phi2": ("model.layers", {
        "output_norm": "model.final_layernorm",
        "attn_output": "self_attn.dense", "ffn_up": "mlp.fc1",
        "ffn_down": "mlp.fc2"}),
    "phi3": ("model.layers", {"attn_qkv": "self_attn.qkv_proj",
                              "ffn_up": "mlp.gate_up_proj"}),
    "starcoder2": ("model.layers", {"ffn_up": "mlp.c_fc",
                                    "ffn_down": "mlp.c_proj"}),
    "gpt-oss": ("model.layers", {
        "post_attention_norm": "post_attention_layernorm",
        "ffn_gate_inp": "mlp.router"}),
    "gemma2": ("model.layers", POST_NORMS),
    "gemma3": ("model.layers", POST_NORMS),
    "olmo2": ("model.layers", POST_NORMS),
}


def split_qkv(f, i):
    """phi2: three tensors from one."""
    for suffix in ("weight", "bias"):
        w = f.take(f"blk.{i}.attn_qkv.{suffix}")
        for name, part in zip("qkv", w.chunk(3)):
            f.left[f"blk.{i}.attn_{name}.{suffix}"] = part


def fuse_experts(f, i, state, to):
    """Stacks gates and ups; gpt-oss: interleaved, and all transposed."""
    base, oss = f"blk.{i}.ffn_", f.arch == "gpt-oss"
    for suffix, end in (("weight", ""), ("bias", "_bias"))[:2 if oss else 1]:
        gate = f.take(f"{base}gate_exps.{suffix}")
        up = f.take(f"{base}up_exps.{suffix}")
        down = f.take(f"{base}down_exps.{suffix}")
        both = torch.cat((gate, up), 1)
        if oss:
            both = torch.stack((gate, up), 2).flatten(1, 2)
        if oss and suffix == "weight":
            both, down = both.transpose(1, 2), down.transpose(1, 2)
        state[f"{to}.mlp.experts.gate_up_proj{end}"] = both
        state[f"{to}.mlp.experts.down_proj{end}"] = down


def is_granite4(f):
    return f.key("rope.scaling.finetuned") is False


def fuse_gates(f, i, state, to):
    """Granite 4's feed forward."""
    gate, up, down = (f.take(f"blk.{i}.ffn_{n}.weight")
                      for n in ("gate", "up", "down"))
    state[f"{to}.shared_mlp.input_linear.weight"] = torch.cat((gate, up), 0)
    state[f"{to}.shared_mlp.output_linear.weight"] = down


def as_transformers(f, name, w):
    """One tensor's values in the order that the library has them."""
    if f.arch in ("llama", "granite", "smollm3") and "attn_q." in name:
        return interleaved(w, f.n_head)
    if f.arch in ("llama", "granite", "smollm3") and "attn_k." in name:
        return interleaved(w, f.n_kv)
    if f.arch in ("gptneox", "falcon") and "attn_qkv" in name:
        return grouped(w, f)
    if f.arch.startswith("gemma") and "norm" in name:
        return w - 1
    if f.arch == "gpt2" and w.dim() == 2 and "blk" in name:
        return w.T
    return w.reshape(1, -1) if "ffn_gate_inp_shexp" in name else w


def state_of(f):
    layers, own = NAMES.get(f.arch, ("model.layers", {}))
    common, layer, state = {**COMMON, **own}, {**LAYER, **own}, {}
    if "blk.0.attn_norm_2.weight" in f.left:
        layer.update(attn_norm="ln_mlp", attn_norm_2="ln_attn")
    for i in range(f.n_layer):
        if f.arch == "phi2" and f"blk.{i}.attn_qkv.weight" in f.left:
            split_qkv(f, i)
        if f"blk.{i}.ffn_up_exps.weight" in f.left:
            fuse_experts(f, i, state, f"{layers}.{i}")
        if is_granite4(f):
            fuse_gates(f, i, state, f"{layers}.{i}")
    for name in [n for n in f.left if not n.startswith("rope_f")]:
        w = as_transformers(f, name, f.take(name))
        parts = name.split(".")
        if parts[0] == "blk":
            full = f"{layers}.{parts[1]}.{layer[parts[2]]}"
        else:
            full = common[parts[0]]
        state[full if "sinks" in name else f"{full}.{parts[-1]}"] = w
    return state


# ---- configurations --------------------------------------------------------

def rotary(f):
    """rope_parameters of one kind of layers."""
    r = {"rope_type": "default", "rope_theta": f.key("rope.freq_base", 1e4)}
    if f.n_rot != f.d:
        r["partial_rotary_factor"] = f.n_rot / f.d
    kind = f.key("rope.scaling.type")
    if kind:
        r.update(rope_type=kind, factor=f.key("rope.scaling.factor"))
    if kind == "yarn":
        r.update(original_max_position_embeddings=f.key(
                     "rope.scaling.original_context_length"),
                 beta_fast=32, beta_slow=1, truncate=f.arch != "gpt-oss")
    if "rope_freqs.weight" in f.left:  # as models.c has it
        f.take("rope_freqs.weight")
        r.update(rope_type="llama3", factor=8, low_freq_factor=1,
                 high_freq_factor=4, original_max_position_embeddings=64)
    if "rope_factors_long.weight" in f.left:
        r.update(rope_type="longrope",
                 long_factor=f.take("rope_factors_long.weight").tolist(),
                 short_factor=f.take("rope_factors_short.weight").tolist(),
                 original_max_position_embeddings=f.key(
                     "rope.scaling.original_context_length"))
    return r


def config_of(f):
    """The class of the model and the settings of its configuration."""
    rms = f.key("attention.layer_norm_rms_epsilon")
    eps = f.key("attention.layer_norm_epsilon")
    window = f.key("attention.sliding_window") or None
    tied = "output.weight" not in f.left
    c = dict(vocab_size=f.n_vocab, hidden_size=f.n_embd,
             intermediate_size=f.key("feed_forward_length"),
             num_hidden_layers=f.n_layer, num_attention_heads=f.n_head,
             num_key_value_heads=f.n_kv, tie_word_embeddings=tied,
             max_position_embeddings=f.key("context_length"),
             rms_norm_eps=rms, rope_parameters=rotary(f),
             pad_token_id=0, bos_token_id=0, eos_token_id=0)
    experts = f.key("expert_count")
    used = f.key("expert_used_count")
    if f.arch in ("gpt2", "gptj"):
        c.update(n_embd=f.n_embd, n_layer=f.n_layer, n_head=f.n_head,
                 n_inner=f.key("feed_forward_length"), rotary_dim=f.n_rot,
                 n_positions=f.key("context_length"), layer_norm_epsilon=eps)
        for k in ("hidden_size", "num_hidden_layers", "num_attention_heads",
                  "intermediate_size", "max_position_embeddings"):
            del c[k]
        return {"gpt2": "GPT2LMHeadModel", "gptj": "GPTJForCausalLM"}[f.arch], c
    if f.arch == "llama" and experts:
        c.update(num_local_experts=experts, num_experts_per_tok=used)
        return "MixtralForCausalLM", c
    if f.arch == "llama" and window:
        c.update(sliding_window=window, head_dim=f.d)
        return "MistralForCausalLM", c
    if f.arch == "llama":
        return "LlamaForCausalLM", c
    if f.arch == "qwen2":
        return "Qwen2ForCausalLM", c
    if f.arch in ("qwen2moe", "qwen3moe"):
        c.update(num_experts=experts, num_experts_per_tok=used,
                 moe_intermediate_size=f.key("expert_feed_forward_length"),
                 shared_expert_intermediate_size=f.key(
                     "expert_shared_feed_forward_length"),
                 norm_topk_prob=f.arch == "qwen3moe")
        if f.arch == "qwen3moe":
            c.update(head_dim=f.d)
            return "Qwen3MoeForCausalLM", c
        return "Qwen2MoeForCausalLM", c
    if f.arch == "qwen3":
        c.update(head_dim=f.d)
        return "Qwen3ForCausalLM", c
    if f.arch == "gemma":
        c.update(head_dim=f.d)
        return "GemmaForCausalLM", c
    if f.arch in ("gemma2", "gemma3"):
        deep = f.n_layer in (46, 62)  # those of 27 billion
        c.update(head_dim=f.d, sliding_window=window,
                 attn_logit_softcapping=f.key("attn_logit_softcapping"),
                 final_logit_softcapping=f.key("final_logit_softcapping"),
                 query_pre_attn_scalar=f.n_embd // f.n_head if deep else f.d)
        if f.arch == "gemma2":
            return "Gemma2ForCausalLM", c
        c["rope_parameters"] = {
            "full_attention": c["rope_parameters"],
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}
        return "Gemma3ForCausalLM", c
    if f.arch == "phi2":
        c.update(layer_norm_eps=eps)
        return "PhiForCausalLM", c
    if f.arch == "phi3":
        original = f.key("rope.scaling.original_context_length")
        c.update(original_max_position_embeddings=original,
                 sliding_window=window)
        return "Phi3ForCausalLM", c
    if f.arch == "gptneox":
        c.update(layer_norm_eps=eps,
                 use_parallel_residual=f.key("use_parallel_residual"))
        return "GPTNeoXForCausalLM", c
    if f.arch == "falcon":
        new = "blk.0.attn_norm_2.weight" in f.left
        c.update(layer_norm_epsilon=eps, num_kv_heads=f.n_kv,
                 ffn_hidden_size=f.key("feed_forward_length"),
                 new_decoder_architecture=new, multi_query=not new,
                 parallel_attn=True, bias=False, alibi=False)
        return "FalconForCausalLM", c
    if f.arch == "smollm3":
        return "SmolLM3ForCausalLM", c
    if f.arch == "gpt-oss":
        c.update(head_dim=f.d, sliding_window=window, num_local_experts=experts,
                 num_experts_per_tok=used,
                 intermediate_size=f.key("expert_feed_forward_length"))
        return "GptOssForCausalLM", c
    if f.arch == "starcoder2":
        c.update(norm_epsilon=eps, use_bias=True)
        return "Starcoder2ForCausalLM", c
    if f.arch == "olmo2" and window:
        kinds = ("full_attention", "sliding_attention")
        c.update(sliding_window=window, layer_types=[
            kinds[w] for w in f.key("attention.sliding_window_pattern")])
        c["rope_parameters"] = {
            "full_attention": c["rope_parameters"],
            "sliding_attention": {"rope_type": "default",
                                  "rope_theta": f.key("rope.freq_base")}}
        return "Olmo3ForCausalLM", c
    if f.arch == "olmo2":
        return "Olmo2ForCausalLM", c
    if f.arch == "granite":
        c.update(attention_multiplier=f.key("attention.scale"),
                 embedding_multiplier=f.key("embedding_scale"),
                 residual_multiplier=f.key("residual_scale"),
                 logits_scaling=f.key("logit_scale"))
        if is_granite4(f):
            c.update(shared_intermediate_size=c["intermediate_size"],
                     layer_types=["attention"] * f.n_layer,
                     num_local_experts=0, num_experts_per_tok=0,
                     position_embedding_type=None)
            return "GraniteMoeHybridForCausalLM", c
        return "GraniteForCausalLM", c
    raise SystemExit(f"{f.arch}: not known here")


def logits_of(path, n):
    f = File(path)
    name, settings = config_of(f)
    cls = getattr(transformers, name)
    config = cls.config_class(**settings)
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    model = cls(config).double().eval()
    state = state_of(f)
    if settings["tie_word_embeddings"]:
        state["lm_head.weight"] = state[
            {"gpt2": "transformer.wte.weight",
             "falcon": "transformer.word_embeddings.weight"}.get(
                 f.arch, "model.embed_tokens.weight")]
    model.load_state_dict(state, strict=True)
    assert not f.left, f.left.keys()
    ids = torch.tensor([some_ids(n, f.n_vocab)])
    with torch.no_grad():
        return model(ids, use_cache=False).logits[0].numpy()


def families(make_model):
    said = subprocess.run([make_model], stderr=subprocess.PIPE, text=True)
    return said.stderr.split("families:")[1].split()


def write(family, n_ctx, logits):
    print(f"    {{ \"{family}\",\n      {n_ctx},\n      {{")
    for p in POSITIONS:
        row = ", ".join(f"{logits[p][i]:.17g}" for i in IDS)
        print(f"          {{ {row} }},")
    print("      } },")


def main():
    make_model = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.gguf"
        print("/* golden_families.h - written by golden_families.py\n *\n"
              f" * Origin: transformers {transformers.__version__}, torch "
              f"{torch.__version__}, float64, eager attention.\n"
              " */\n#ifndef GOLDEN_FAMILIES_H\n#define GOLDEN_FAMILIES_H\n\n"
              "/* clang-format off */\n"
              f"enum {{\n    GOLDEN_POSITIONS = {len(POSITIONS)},\n"
              f"    GOLDEN_IDS = {len(IDS)},\n}};\n")
        for what, values in (("positions", POSITIONS), ("ids", IDS)):
            print(f"static const int golden_{what}[] = {{ "
                  f"{', '.join(map(str, values))} }};")
        print("\nstatic const struct golden {\n    const char *family;\n"
              "    int n_ctx; /* 0: the model's own */\n"
              "    double logits[GOLDEN_POSITIONS][GOLDEN_IDS];\n"
              "} goldens[] = {")
        for family in families(make_model):
            subprocess.run([make_model, f"{family}-f32", path], check=True)
            print(family, file=sys.stderr)
            write(family, 0, logits_of(path, LONG))
            if family == "phi3":  # within its original context
                write(family, 128, logits_of(path, 110))
        print("};\n/* clang-format on */\n\n#endif")


if __name__ == "__main__":
    main()
