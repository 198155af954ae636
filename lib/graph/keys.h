/* keys.h - reading a model's numbers from its file */
#ifndef GRAPH_KEYS_H
#define GRAPH_KEYS_H

#include "gguf/reader.h"
#include "graph/hparams.h"

enum {
    MODEL_MAX_KEY = 96, /* bytes of a key with its end */
};

/* Reads values of one file; keys begin with the architecture's name. The
 * first failure sticks: what follows reads nothing, and `status` and `err`
 * tell of it. */
struct model_keys {
    const struct gguf_context *gguf;
    const char *arch;
    enum gg_status status;
    struct gg_error *err;
    int32_t n_layer; /* of the file, once that is known: elements of an array
                        with a value for each */
    int32_t n_after; /* of these MTP layers, which some arrays leave out */
    bool headless;   /* heads are the family's to read: no layer attends */
    bool drafts;     /* a drafter's, whose layers all are its own */
};

/* ARCH.name into buf, of MODEL_MAX_KEY bytes; returned. */
const char *
graph_key_name(const struct model_keys *keys, const char *name, char *buf);

/* ARCH.name, which must lie in min..max. Without a value in the file: `other`,
 * or failure where that is below `min`. An array for the layers must have the
 * same integer for all. 0 in graph_key_float_or_zero() and
 * graph_key_int_or_zero() stands for `other`: programs write it where a number
 * is not known. */
int32_t
graph_key_int(struct model_keys *keys, const char *name, int32_t min,
              int32_t max, int32_t other);
float
graph_key_float(struct model_keys *keys, const char *name, float min, float max,
                float other);

int32_t
graph_key_int_or_zero(struct model_keys *keys, const char *name, int32_t max,
                      int32_t other);
float
graph_key_float_or_zero(struct model_keys *keys, const char *name, float min,
                        float max, float other);

/* Whether the file has it. */
bool
graph_key_exists(const struct model_keys *keys, const char *name);

bool
graph_key_bool(struct model_keys *keys, const char *name, bool other);

/* Its text, not NUL-ended, if the file has it. */
void
graph_key_str(struct model_keys *keys, const char *name, struct gguf_str *out);

/* Whether ARCH.name is this text; false without such a key. */
bool
graph_key_is(struct model_keys *keys, const char *name, const char *text);

/* Fails because of ARCH.name, unless reading has failed already. */
__attribute__((format(printf, 4, 5))) void
graph_key_refuse(struct model_keys *keys, enum gg_status status,
                 const char *name, const char *fmt, ...);
/* "3 exceeds 2": two numbers of a file that do not go together. */
void
graph_key_mismatch(struct model_keys *keys, const char *name, const char *what,
                   int32_t a, int32_t b);

/* Keys that every family has: lengths, counts, heads, the norms' epsilon
 * (n_head_kv, d_key, d_value default as is the custom). n_vocab comes from the
 * embedding's shape. Heads and feed-forward lengths may be arrays with a number
 * for each layer. */
void
graph_keys_common(struct model_keys *keys, struct model_hparams *hp,
                  enum model_norms norms);

/* Attention's window, of all layers; 0 where the file gives none. */
void
graph_keys_window(struct model_keys *keys, struct model_hparams *hp);

/* Windowed layers have other lengths of latent rows and heads: after
 * graph_keys_latent(), absorbed, and graph_keys_windows(). */
void
graph_keys_latent_local(struct model_keys *keys, struct model_hparams *hp);

/* Attention's window, `other` where the file gives none; and its layers: as
 * the file says, or all but the last of every `period` layers. */
void
graph_keys_windows(struct model_keys *keys, struct model_hparams *hp,
                   int32_t other, int32_t period);

/* As graph_keys_windows(); without a list in the file all but the first of
 * every `period`. */
void
graph_keys_windows_after(struct model_keys *keys, struct model_hparams *hp,
                         int32_t other, int32_t period);

/* Heads of windowed layers have lengths of their own, if the file gives any. */
void
graph_keys_heads_local(struct model_keys *keys, struct model_hparams *hp);

/* The last layers read the keys and values of others: of the last one before
 * them that sees as much; `other` layers where the file does not say how many.
 * To be called when all else about attention is known. */
void
graph_keys_shared(struct model_keys *keys, struct model_hparams *hp,
                  int32_t other);

/* How sparse the gates of each layer are; where the file does not say it,
 * `other` in the first `n` layers. */
void
graph_keys_sparsity(struct model_keys *keys, struct model_hparams *hp,
                    int32_t n, float other);

/* A number for each layer, in 0..max, into *out and what lies `stride` bytes
 * after each; the file has an array or one number. `other` where it has
 * neither, or failure where that is below 0. */
void
graph_keys_layers(struct model_keys *keys, const char *name, int32_t max,
                  int32_t other, int32_t *out, size_t stride);

/* As graph_keys_layers(), of numbers with fractions, in min..max; 0 where the
 * file has none. */
void
graph_keys_layer_floats(struct model_keys *keys, const char *name, float min,
                        float max, float *out, size_t stride);

/* A truth for each layer from an array of the file, or for each but MTP layers,
 * whose own stay as they are; false: it has none. */
bool
graph_keys_layer_flags(struct model_keys *keys, const char *name, bool *out,
                       size_t stride);

/* Pairs of texts, where the file's vocabulary is BERT's own, whose tokenizer
 * tells the second text from the first. */
void
graph_keys_pairs(struct model_keys *keys, struct model_hparams *hp);

/* The file's id for padding; 0, where it does not say. */
void
graph_keys_pad(const struct gguf_context *gguf, struct model_hparams *hp);

/* Reads the place that a classifier reads: the first id, or as the file says;
 * the last id in decoders. And the function that its first layer ends in. */
void
graph_keys_rank(struct model_keys *keys, struct model_hparams *hp);

/* Which keys an id sees: those before it, or, of encoders, all. Fails where a
 * file wants it otherwise. */
void
graph_keys_causal(struct model_keys *keys, const struct model_hparams *hp);

/* Heads of an indexer, their length, and how many keys it chooses: of
 * hp.indexer n_head, d_key and n_best. After graph_keys_rope(). */
void
graph_keys_indexer_sizes(struct model_keys *keys, struct model_hparams *hp);
/* An indexer in each layer without a window, whose rotated pairs are of that
 * mode; of MTP layers in those for which the file has one. After
 * graph_keys_latent(). */
void
graph_keys_indexer(struct model_keys *keys, struct model_hparams *hp, int mode);
/* Layers for which the array of that name says no have none of their own. */
void
graph_keys_indexer_types(struct model_keys *keys, struct model_hparams *hp,
                         const char *name);
/* After these: keys of indexers stand for pools of positions each. */
void
graph_keys_indexer_pools(struct model_keys *keys, struct model_hparams *hp);

/* An indexer in each layer from `first` on, of attention with heads: for each
 * head of keys it chooses blocks of them. To be called after
 * graph_keys_rope(). */
void
graph_keys_block_indexer(struct model_keys *keys, struct model_hparams *hp,
                         int32_t first);

/* Rotary positions of that mode. */
void
graph_keys_rope(struct model_keys *keys, struct model_hparams *hp, int mode);

/* To be called after graph_keys_rope(): pairs of sections take turns, where the
 * file has any. */
void
graph_keys_interleaved_sections(struct model_hparams *hp);

/* To be called after graph_keys_rope(): windowed layers turn unscaled: by the
 * file's base for them; else by `other`; 0: by that of the others. */
void
graph_keys_rope_local(struct model_keys *keys, struct model_hparams *hp,
                      float other);

/* To be called after graph_keys_rope_local(): of windowed layers' heads as many
 * values are rotated as the file says for them; else `other`. */
void
graph_keys_rotated_local(struct model_keys *keys, struct model_hparams *hp,
                         int32_t other);

/* To be called after graph_keys_rope(): all layers turn by the same base; fails
 * where the file has another one for those that are windowed. */
void
graph_keys_rope_same(struct model_keys *keys, const struct model_hparams *hp);

/* The numbers of experts, and the length of one's vector. Without `required` a
 * file may have none. Where it does not say the length, or says 0: n_ff, or, of
 * families that must have experts, n_ff shared by those that are used. */
void
graph_keys_experts(struct model_keys *keys, struct model_hparams *hp,
                   bool required);

/* How experts are chosen, expert_gating_func: `other` where the file does not
 * say it. */
void
graph_keys_gating(struct model_keys *keys, struct model_hparams *hp, int other);

/* Dense layers in front, how experts are chosen and what scales their answers,
 * of families whose files say so: gating is `other` where they don't. */
void
graph_keys_routing(struct model_keys *keys, struct model_hparams *hp,
                   int other);

/* To be called after graph_keys_experts(): n_ff_shared is what the file gives,
 * or that of as many experts as it says that all ids use. */
void
graph_keys_shared_experts(struct model_keys *keys, struct model_hparams *hp);

/* To be called after graph_keys_rope(): latent attention in all layers that
 * have attention; of a key the last d_shared are what heads share. */
void
graph_keys_latent(struct model_keys *keys, struct model_hparams *hp,
                  int32_t d_shared, bool absorbed);
/* Whether the file has the matrices of heads in two parts: early ones have not
 * split them yet. */
bool
graph_is_absorbed(const struct model_keys *keys,
                  const struct model_hparams *hp);

/* YaRN's multiplier of a logarithm, rope.scaling.yarn_log_multiplier, as
 * DeepSeek V2's files have it. */
void
graph_keys_log_multiplier(struct model_keys *keys, struct model_hparams *hp);

/* Layers with a recurrence, as the file says, or all but the last of every
 * `period`: of these n_head and n_head_kv become 0. To be called after
 * graph_keys_common(). */
void
graph_keys_recurrent_layers(struct model_keys *keys, struct model_hparams *hp,
                            int32_t period);

/* Layers without keys and values have a recurrence: their n_head becomes 0. */
void
graph_keys_recurrent_heads(struct model_keys *keys, struct model_hparams *hp);

/* Layers with a recurrence keep only columns of n_channels channels, for a
 * short convolution; the key says how many columns it reads. */
void
graph_keys_short_conv(struct model_keys *keys, struct model_hparams *hp,
                      const char *name, int32_t n_channels);

/* All layers are of a recurrence and nothing else. To be called after
 * graph_keys_common(). */
void
graph_keys_recurrent_alone(struct model_keys *keys, struct model_hparams *hp);

/* hp.ngrams, and what their layer keeps for them. To be called after
 * graph_keys_recurrent_layers() and when hp.n_stream is known. */
void
graph_keys_ngrams(struct model_keys *keys, struct model_hparams *hp);

/* hp.ssm, and what its layers keep for Mamba 1 and 2. */
void
graph_keys_mamba(struct model_keys *keys, struct model_hparams *hp);
void
graph_keys_mamba2(struct model_keys *keys, struct model_hparams *hp);
/* Heads, as of 2, whose steps come from d_rank values, as of 1. */
void
graph_keys_mamba_heads(struct model_keys *keys, struct model_hparams *hp,
                       int32_t d_rank);
/* RWKV's, in all layers: heads of wkv.head_size, and what n_blocks blocks of a
 * layer read of the id before. */
void
graph_keys_rwkv(struct model_keys *keys, struct model_hparams *hp,
                int32_t n_blocks);

/* hp.ssm, and what its layers keep for a gated delta rule whose convolution
 * reads queries, keys and values. */
void
graph_keys_delta_net(struct model_keys *keys, struct model_hparams *hp);

/* hp.ssm of Kimi's delta attention, whose heads, as many as attention's, have a
 * query, a key and a value of d_state each; those layers recur that have no
 * heads of keys. */
void
graph_keys_delta_attention(struct model_keys *keys, struct model_hparams *hp);
/* Its hp.ssm.floor; 0 where the file has none, or, where it is required,
 * failure. */
void
graph_keys_decay_floor(struct model_keys *keys, struct model_hparams *hp,
                       bool required);

/* Adapters that ids switch on; fails without any. */
void
graph_keys_switches(struct model_keys *keys, struct model_hparams *hp);

/* The name of the file's architecture, NUL-ended, into buf. */
enum gg_status
graph_key_architecture(const struct gguf_context *gguf, char *buf, size_t size,
                       struct gg_error *err);

#endif
