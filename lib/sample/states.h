/* states.h - where in a grammar a text may stand: stacks of calls, and sets of
 * them
 *
 * A stack of calls is a frame: where to return to, and the frame below it. A
 * state is a set of (instruction, frame), all of them at instructions that
 * want a byte, and whether the text may end there. Equal frames are the same
 * one, and equal sets the same state. */
#ifndef SAMPLE_STATES_H
#define SAMPLE_STATES_H

#include "core/error.h"

enum {
    STATES_MAX_SPOTS = 1 << 15, /* in a state */
    STATES_MAX_STACK = 1024,    /* frames below each other */
    STATES_DEAD = -1,           /* the state of no text */
};

struct frame {
    int32_t back, below; /* 0: none below */
    int32_t depth;
};

struct spot {
    int32_t pc, frame;
};

struct state {
    size_t first; /* of its spots */
    uint32_t n;   /* of them */
    bool may_end;
    bool has_plain;
    int32_t plain_to; /* the state that most classes of bytes lead to ... */
    uint64_t plain;   /* ... of the first 63 classes, which do */
    uint64_t *mask;   /* of tokens; or NULL */
    size_t n_fit;     /* that are in it */
    int32_t drawn;    /* the token last drawn here, where its first byte was no
                         choice; plus 1 */
};

/* Indices by a hash of what they stand for; 0 is free. */
struct index {
    int32_t *slots;
    size_t mask;
};

struct states {
    size_t n_classes;     /* of bytes */
    struct frame *frames; /* from 1 on */
    size_t n_frames, frames_cap;
    struct state *states; /* from 1 on */
    size_t n, cap;
    int32_t *steps; /* of each state: where each class leads; 0: not known */
    size_t steps_cap;
    struct spot *spots;
    size_t n_spots, spots_cap;
    struct index frame_index, state_index;
};

enum gg_status
sample_states_init(struct states *s, size_t n_classes, struct gg_error *err);
void
sample_states_clear(struct states *s); /* takes an empty one */

/* The frame; 0: no memory. */
int32_t
sample_states_frame(struct states *s, int32_t back, int32_t below);

/* The state of the spots, which are put in order. One without spots that may
 * not end is dead. */
enum gg_status
sample_states_find(struct states *s, struct spot *spots, size_t n, bool may_end,
                   int32_t *out, struct gg_error *err);

/* Frees the masks. */
void
sample_states_drop_masks(struct states *s);

/* Forgets all states but *roots[0..n), which get other numbers; those are
 * worth nothing where it fails. */
enum gg_status
sample_states_keep(struct states *s, int32_t **roots, size_t n,
                   struct gg_error *err);

#endif
