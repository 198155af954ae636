/* state_head.h - the keys of a state: what made it, and what goes on with it */
#ifndef SESSION_STATE_HEAD_H
#define SESSION_STATE_HEAD_H

#include "session/state.h"

/* Keys that not all states have, and which this one has. */
enum {
    STATE_HAS_LAYERS = 1,
    STATE_HAS_FAMILY = 2,
    STATE_HAS_CHAT = 4,
    STATE_HAS_DATE = 8,
    STATE_HAS_MIROSTAT = 16,
    STATE_HAS_SAMPLING = 32,
    STATE_HAS_ROTATION = 64,
};

/* Numbers of a medium. */
enum {
    STATE_ROWS_POSITIONS = 1,
    STATE_ROWS_BLOCKS = 2,
    STATE_ROWS_ALL = 3,
};

/* Texts are not NUL-ended, and with arrays are someone else's, but those in
 * `own`. */
struct state_head {
    uint32_t version;
    unsigned has;
    struct gguf_array layers; /* enum state_layer of each */
    uint64_t model;           /* its fingerprint */
    struct gguf_str family;
    struct gguf_array adapters, scales, names; /* of adapters that count */
    bool numbered;
    struct gguf_str chat;
    uint64_t date;
    double mirostat;
    struct gguf_str sampling;
    /* Rotary positions that keys were turned by. */
    struct gguf_str scaling;
    float factor, base;
    uint32_t n_ctx_orig;
    bool longer;              /* divisors of a long context are in use */
    struct gguf_str rotation; /* of "keys", "values" or "both" */
    struct gguf_array hashes, first, count; /* of media whose rows are there */
    /* STATE_ROWS_...; then the positions of those that have some, and where the
     * block of each row begins. */
    struct gguf_array layout, positions, blocks;
    struct {
        int32_t *layers;
        uint64_t *adapters;
        float *scales;
        struct gguf_str *names;
        char *digits;
        struct gguf_str *hashes;
        int32_t *first, *count, *layout, *positions, *blocks;
    } own;
};

/* The head that states of a session have, without what a struct gg_state says.
 * session_state_head_clear() it, on failure too. */
enum gg_status
session_state_head_of(const struct gg_session *s, struct state_head *out,
                      struct gg_error *err);
/* Adds which media the state's sequences have rows of. False: no memory. */
bool
session_state_head_set_media(struct state_head *h, const struct gg_session *s,
                             const struct gg_state *state);
void
session_state_head_clear(struct state_head *h); /* takes one that is all zero */

/* Sets all keys. */
void
session_state_head_set(const struct state_head *h, struct gguf_context *g);

/* Gets the keys that a file of h->version has. */
enum gg_status
session_state_head_get(struct state_head *h, const struct gguf_context *g,
                       struct gg_error *err);

#endif
