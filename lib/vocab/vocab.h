/* vocab.h - what a struct gg_vocab is made of
 *
 * It points into the GGUF file that it was read from, so that opening one
 * copies only what must be looked up fast, into a few flat arrays: nothing is
 * allocated per token. */
#ifndef VOCAB_VOCAB_H
#define VOCAB_VOCAB_H

#include <stdatomic.h>
#include <string.h>

#include "gguf/reader.h"
#include "vocab/charsmap.h"
#include "vocab/pieces.h"
#include "vocab/special.h"
#include "vocab/split.h"
#include "vocab/trie.h"

enum vocab_kind {
    VOCAB_BPE,   /* "gpt2": bytes, merged by rank within words */
    VOCAB_SPM,   /* "llama": characters, merged by score; "gemma4": by rank */
    VOCAB_WPM,   /* "bert": the longest pieces of words */
    VOCAB_UGM,   /* "t5": the most likely pieces */
    VOCAB_WORLD, /* "rwkv": the longest pieces of the text */
};

/* Where ranked SPM cuts a text, and what is a word whole if it is a token. */
enum vocab_cuts {
    VOCAB_CUTS_LINES,        /* at lines; ends of lines are whole */
    VOCAB_CUTS_MERGED_LINES, /* at lines; ends of lines merge */
    /* At lines, whose ends are whole, and in front of each blank. A blank goes
     * in front of each line, and of a text after any token. */
    VOCAB_CUTS_BLANKS,
    VOCAB_CUTS_WORDS, /* at white space, which is dropped */
};

enum {
    VOCAB_MAX_TOKENS = 1 << 24,
    VOCAB_MAX_TOKEN_BYTES = 65535,
    VOCAB_MERGE_BITS = 4, /* for each slot of the table of merges */
    VOCAB_BATCH = 16,     /* look-ups that wait for memory together */
    /* A token that merging may make: a normal or unused one. Not control,
     * unknown and byte tokens, nor what the user defined, which is found in
     * the text before merging. */
    VOCAB_PIECE = 0x80,
    /* A control token that takes the white space after it. */
    VOCAB_STRIPS = 0x40,
    VOCAB_LEADS = 0x10, /* and one that takes the white space before it */
    /* WordPiece: decoding leaves out the blank that it begins with. */
    VOCAB_ATTACHED = 0x20,
    VOCAB_TYPE = 0x07, /* the type itself */

    VOCAB_SLACK = 16, /* bytes that can be read after all tokens' */
};

/* One merge of BPE: a slot of the table from pairs to what they
 * become. */
struct vocab_merge {
    int32_t left, right; /* the ids of the pair */
    uint32_t made;       /* 1 + the id of what it becomes; 0: free */
    uint32_t rank;
};

/* A slot of the table from bytes to ids. */
struct vocab_slot {
    uint64_t key; /* up to 8 bytes themselves; of more, their hash */
    uint32_t len;
    uint32_t code; /* twice (1 + the id), and 1 if it is a piece; 0: free */
};

/* Result of merging the bytes of a token: found out at need. */
enum vocab_whole {
    VOCAB_WHOLE_UNKNOWN,
    VOCAB_WHOLE_YES, /* they become that token again */
    VOCAB_WHOLE_NO,  /* they become others */
};

/* Marks of what is around a gap that is to be filled in; `prefix` is -1: there
 * are none; `middle` is: the prefix comes last, and needs none. */
struct vocab_infill {
    int32_t prefix, suffix, middle;
    bool suffix_first;
};

#define VOCAB_CHAT "tokenizer.chat_template"

struct gg_vocab {
    struct gguf_file file; /* empty where the file is someone else's */
    const char *name;      /* of the kind, in the file */
    enum vocab_kind kind;
    bool ranked; /* SPM: merges have ranks, as those of BPE, and no scores */
    enum vocab_cuts cuts; /* of ranked SPM */
    int32_t n;
    const struct gguf_str *tokens; /* as the file writes them */
    uint8_t *types;                /* enum gg_token_type, | VOCAB_... */
    /* The bytes that token i stands for: bytes[at[i]] to bytes[at[i + 1]].
     * VOCAB_SLACK bytes more can be read than there are. */
    uint8_t *bytes;
    uint32_t *at;
    size_t max_bytes; /* of a piece */

    /* From bytes to ids: pieces (what merging may make) by the bytes that
     * they stand for, other tokens as the file writes them. */
    struct vocab_slot *slots;
    size_t slot_mask;
    bool twins;             /* pieces that stand for the same bytes */
    uint64_t seed;          /* of the hashes: no file can know it */
    int32_t byte_ids[256];  /* what a single byte becomes; -1: nothing */
    _Atomic uint8_t *whole; /* enum vocab_whole */
    struct cache_store *caches;

    /* BPE; the merges are those of ranked SPM, too */
    split_rule split;
    split_group group;  /* or NULL */
    const char *ends;   /* what a letter precedes where a word ends */
    bool ignore_merges; /* a word that is a token is never merged */
    bool takes_space;   /* a token has VOCAB_STRIPS or VOCAB_LEADS */
    struct vocab_merge *merges;
    size_t merge_mask;
    /* A bit for each merge, by its hash: what has none is no merge. Most pairs
     * are none, and this is small enough to be at hand. */
    uint8_t *merge_bits;
    /* SPM, UGM */
    struct gguf_array scores;
    uint8_t *joined; /* where pieces go over: see vocab_joined() */
    bool add_blank;  /* in front of a text; WPM: only decoding drops it */
    /* WPM */
    struct trie trie;   /* of the pieces; of the World vocabulary, too */
    bool lower;         /* lower case without accents; others: with them */
    int32_t alone[128]; /* of punctuation of ASCII */
    /* WPM, UGM: what a byte does, each in its own way */
    uint8_t plain[256];
    /* UGM */
    bool no_punctuation; /* that of ASCII is dropped */
    struct pieces pieces;
    float unk_score; /* of a character that is no piece */
    bool squeeze;    /* runs of blanks become one, those around none */
    bool words;      /* all ways pass the places in front of blanks */
    struct charsmap charsmap;

    struct special_set user, all; /* without, with the control tokens */
    struct special_set contents;  /* `user` without what markup is made of */
    struct gguf_str chat;         /* the model's chat template, or empty */
    const struct gguf_context *gguf;
    int32_t bos, eos; /* or -1 */
    /* The token of unknown text, which is no control token; or -1: such text is
     * left out. Byte-level BPE has none. */
    int32_t unk;
    bool add_bos, add_eos;
    int32_t start;    /* what a decoder's ids begin with, after the text of its
                         encoder; or -1 */
    int32_t pad;      /* or -1 */
    int32_t n_padded; /* ids of a text that EOS ends, at least */
    int32_t *eog;
    size_t n_eog;
    int32_t *suppressed; /* ids that are never drawn, in ascending order */
    size_t n_suppressed;
    char *sampling; /* of gg_vocab_sampling(); or NULL */
    struct vocab_infill infill;

    char note[256]; /* of gg_vocab_note(); or empty */

    /* No token has a text, as the file has no vocabulary of a known kind: why;
     * or empty. The tokens, all empty, are the vocabulary's own then. */
    char textless[256];
    struct gguf_str *empty;
};

/* CLIP's byte-level BPE: white space parts words and is dropped, and the last
 * byte of a word and VOCAB_END are one symbol, as tokens that end words have
 * it. */
#define VOCAB_END "</w>"
static inline bool
vocab_marks_ends(const struct gg_vocab *v)
{
    return v->kind == VOCAB_BPE && v->cuts == VOCAB_CUTS_WORDS;
}

/* Bytes of VOCAB_END that a token ends with. */
static inline size_t
vocab_end_length(const struct gg_vocab *v, const uint8_t *p, size_t len)
{
    const size_t n = sizeof(VOCAB_END) - 1;

    return vocab_marks_ends(v) && len > n &&
                   memcmp(p + len - n, VOCAB_END, n) == 0
               ? n
               : 0;
}

/* The source of the chat template: the default one, where `name` is NULL, or
 * the one of the name. Empty: there is none. */
struct gguf_str
vocab_chat_source(const struct gg_vocab *v, const char *name);

/* Reads the vocabulary of `gguf`, which must outlive it. gg_vocab_free() it. */
enum gg_status
vocab_load(const struct gguf_context *gguf, struct gg_vocab **out,
           struct gg_error *err);

/* Like vocab_load(), with n tokens where the file has no vocabulary of a known
 * kind: ids can be counted, compared and ended, but have no text. */
enum gg_status
vocab_load_or_textless(const struct gguf_context *gguf, int32_t n,
                       struct gg_vocab **out, struct gg_error *err);

/* split, group, ends: those of the name. */
void
vocab_set_split(struct gg_vocab *v, const struct vocab_split_name *name);

/* ---- the steps of vocab_load() ---- */

/* tokens, types, bytes, at, max_bytes: tokens.c */
enum gg_status
vocab_load_tokens(struct gg_vocab *v, const struct gguf_context *gguf,
                  struct gg_error *err);
/* In place of these and of what follows for a kind: textless.c */
enum gg_status
vocab_load_textless(struct gg_vocab *v, const struct gguf_context *gguf,
                    int32_t n, struct gg_error *err);
/* slots, byte_ids, whole, caches: lookup.c */
enum gg_status
vocab_index(struct gg_vocab *v, struct gg_error *err);
/* merges: merges.c */
enum gg_status
vocab_load_merges(struct gg_vocab *v, const struct gguf_context *gguf,
                  struct gg_error *err);
/* joined: spm.c */
enum gg_status
vocab_load_joints(struct gg_vocab *v, struct gg_error *err);
/* scores, joined: spm.c */
enum gg_status
vocab_load_scores(struct gg_vocab *v, const struct gguf_context *gguf,
                  struct gg_error *err);
/* pieces: pieces.c */
enum gg_status
vocab_load_pieces(struct gg_vocab *v, struct gg_error *err);
void
vocab_clear_pieces(struct gg_vocab *v);
/* trie; where equal pieces are, of the first: trie.c */
enum gg_status
vocab_load_trie(struct gg_vocab *v, const struct gguf_context *gguf,
                struct gg_error *err);
/* joined, trie: world.c */
enum gg_status
vocab_load_world(struct gg_vocab *v, const struct gguf_context *gguf,
                 struct gg_error *err);
/* lower, trie: wordpiece.c */
enum gg_status
vocab_load_wordpiece(struct gg_vocab *v, const struct gguf_context *gguf,
                     struct gg_error *err);
/* scores, unk_score, squeeze, words, charsmap, pieces, plain: unigram_load.c */
enum gg_status
vocab_load_unigram(struct gg_vocab *v, const struct gguf_context *gguf,
                   struct gg_error *err);
/* The file's values of sampling: sampling.c. */
enum gg_status
vocab_load_sampling(struct gg_vocab *v, const struct gguf_context *gguf,
                    struct gg_error *err);
/* Loads bos, eos, unk, eog, their types, VOCAB_STRIPS, VOCAB_LEADS (ids.c).
 * Where the metadata says nothing of BOS, `defaults` counts, if not NULL. */
enum gg_status
vocab_load_ids(struct gg_vocab *v, const struct gguf_context *gguf,
               const struct vocab_split_name *defaults, struct gg_error *err);

/* Where the key is there, *id is set to its value. */
enum gg_status
vocab_read_id(const struct gg_vocab *v, const struct gguf_context *gguf,
              const char *key, int32_t *id, struct gg_error *err);

/* Sets v->infill; after the ids. */
enum gg_status
vocab_load_infill(struct gg_vocab *v, const struct gguf_context *gguf,
                  struct gg_error *err);

/* ---- encoding ---- */

/* Where ids go. */
struct vocab_out {
    int32_t *ids;
    size_t cap, n;   /* n may exceed cap: the rest is only counted */
    size_t left_out; /* bytes that have no token */
    uint8_t without; /* the first of them */
    /* In place of ids, which are known, what they stand for; or NULL. */
    struct gg_range *ranges;
    const int32_t *known;
    bool differs; /* they are others */
};

static inline void
vocab_emit(struct vocab_out *out, int32_t id)
{
    if (out->n < out->cap)
        out->ids[out->n] = id;
    out->n++;
}

/* p[0..len) has no token, nor is there one for what is unknown. */
static inline void
vocab_leave_out(struct vocab_out *out, const uint8_t *p, size_t len)
{
    if (out->left_out == 0)
        out->without = *p;
    out->left_out += len;
}

static inline void
vocab_emit_range(struct vocab_out *out, int32_t id, size_t begin, size_t end)
{
    if (!out->ranges) {
        vocab_emit(out, id);
        return;
    }
    if (out->n < out->cap && out->known[out->n] == id)
        out->ranges[out->n] = (struct gg_range){ begin, end };
    else
        out->differs = true;
    out->n++;
}

/* The last id stands for more. */
static inline void
vocab_extend(struct vocab_out *out, size_t end)
{
    if (out->ranges && out->n && out->n <= out->cap)
        out->ranges[out->n - 1].end = end;
}

/* The ids of a text as in gg_vocab_encode(); `set`: the tokens that are looked
 * for in it first. `first`: it does not go on from another. They go after
 * those in *out. */
enum gg_status
vocab_encode_part(const struct gg_vocab *v, const char *text, size_t len,
                  const struct special_set *set, bool first,
                  struct vocab_out *out, struct gg_error *err);

/* The ids of a text by GG_ENCODE_GREEDY. */
enum gg_status
vocab_encode_greedy(const struct gg_vocab *v, const char *text, size_t len,
                    const struct special_set *set, struct vocab_out *out,
                    struct gg_error *err);

/* Sets *result; `strict`: unless bytes were left out. */
enum gg_status
vocab_encoded(const struct vocab_out *out, bool strict,
              struct gg_encoded *result, struct gg_error *err);

struct cache;

/* The ids by WPM and UGM, and with ranges, then without a cache: kinds.c.
 * False: no memory. */
bool
vocab_encode_kind(const struct gg_vocab *v, const uint8_t *p, size_t len,
                  const struct special_set *set, bool first,
                  struct cache *cache, struct vocab_out *out);

/* Whether a blank goes in front of what follows a special token. */
static inline bool
vocab_blank_after(const struct gg_vocab *v, bool user)
{
    return v->kind == VOCAB_SPM && v->add_blank &&
           (!user || v->cuts == VOCAB_CUTS_BLANKS);
}

/* ---- tokens ---- */

static inline enum gg_token_type
vocab_type(const struct gg_vocab *v, int32_t id)
{
    return (enum gg_token_type)(v->types[id] & VOCAB_TYPE);
}

static inline uint64_t
vocab_mix(uint64_t h)
{
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static inline const uint8_t *
vocab_bytes(const struct gg_vocab *v, int32_t id, size_t *n)
{
    *n = v->at[id + 1] - v->at[id];
    return v->bytes + v->at[id];
}

/* Writes the bytes that the text of a piece stands for to out[0..len), and
 * their number to *n. False: no piece is written so. */
bool
vocab_piece_bytes(enum vocab_kind kind, const char *text, size_t len,
                  uint8_t *out, size_t *n);

/* The token that is no piece and is written so, or -1. */
int32_t
vocab_find_other(const struct gg_vocab *v, const char *text, size_t len);

/* The piece that stands for the bytes, or -1. */
int32_t
vocab_find_piece(const struct gg_vocab *v, const uint8_t *p, size_t len);

/* vocab_find_piece() in two steps, so that the table's memory can be in flight
 * for one piece while another is looked up. The bytes are some of v->bytes. */
struct vocab_query {
    const uint8_t *p;
    size_t len;
    uint64_t key, hash;
};
void
vocab_ask(const struct gg_vocab *v, const uint8_t *p, size_t len,
          struct vocab_query *q);
int32_t
vocab_answer(const struct gg_vocab *v, const struct vocab_query *q);

static inline uint64_t
vocab_merge_hash(const struct gg_vocab *v, int32_t left, int32_t right)
{
    uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;

    return vocab_mix(vocab_mix(v->seed ^ key));
}

/* The slot of the merge of two tokens, or the free one where it belongs. */
static inline struct vocab_merge *
vocab_merge_slot(const struct gg_vocab *v, int32_t left, int32_t right,
                 uint64_t hash)
{
    for (size_t i = hash & v->merge_mask;; i = (i + 1) & v->merge_mask) {
        struct vocab_merge *m = &v->merges[i];

        if (!m->made || (m->left == left && m->right == right))
            return m;
    }
}

static inline uint8_t *
vocab_merge_bit(const struct gg_vocab *v, uint64_t hash, uint8_t *bit)
{
    size_t bits = VOCAB_MERGE_BITS * (v->merge_mask + 1);
    size_t i = (size_t)(hash >> 32) & (bits - 1);

    *bit = (uint8_t)(1u << i % 8);
    return &v->merge_bits[i / 8];
}

/* The merge of two tokens, or NULL. */
static inline const struct vocab_merge *
vocab_find_merge(const struct gg_vocab *v, int32_t left, int32_t right)
{
    uint64_t hash = vocab_merge_hash(v, left, right);
    uint8_t bit, *bits = vocab_merge_bit(v, hash, &bit);
    const struct vocab_merge *m =
        *bits & bit ? vocab_merge_slot(v, left, right, hash) : NULL;

    return m && m->made ? m : NULL;
}

/* SPM: false where no piece has the byte `b` right after `a`, and no character
 * has both: merging never crosses there. */
static inline bool
vocab_joined(const struct gg_vocab *v, uint8_t a, uint8_t b)
{
    return v->joined[(a < 0x80 ? a : 0x80) * 129 + (b < 0x80 ? b : 0x80)];
}

#endif
