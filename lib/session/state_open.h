/* state_open.h - opening a state: what the files of its parts share */
#ifndef SESSION_STATE_OPEN_H
#define SESSION_STATE_OPEN_H

#include "session/state_head.h"

struct gg_state_file {
    struct gguf_file file;
    struct gg_state state;
    struct gg_state_sequence *sequences;
    struct gg_state_range *forgotten;
    char *chat, *sampling;
    int32_t *ids; /* numbered anew; NULL: the file's are good */
    /* Rows in front of each sequence's, and, last, all: of parts of the cache,
     * and of states. */
    int64_t *before[STATE_COUNTS];
};

/* Rows of a medium, as the file numbers them, and this session. */
struct state_medium {
    int32_t first, n, to;
};

/* One call of gg_state_open(). */
struct opener {
    const char *path;
    struct gg_session *session;
    struct gg_state_file *f;
    const struct gguf_context *gguf;
    struct state_head its, own; /* of the file, and of the session */
    int64_t n_tensors;          /* that were requested */
    struct state_medium *media; /* n_media, in the order of their ids */
    size_t n_media;
    struct gg_error *err;
};

/* "file: sentence"; returns the status. */
__attribute__((format(printf, 3, 4))) enum gg_status
session_state_refuse(const struct opener *o, enum gg_status status,
                     const char *fmt, ...);

/* A tensor of that type and shape; without elements it must not be there, and
 * *out (or NULL) gets NULL. */
enum gg_status
session_state_find(struct opener *o, const char *name, enum ggml_type type,
                   int64_t n0, int64_t n1, const struct gguf_tensor **out);

/* state_check.c: that it is a state, of a version that is known; then that the
 * session can go on with it, and what it says besides. */
enum gg_status
session_state_check_kind(struct opener *o);
enum gg_status
session_state_check_head(struct opener *o);

/* state_sums.c: that there are sums, and the head's is right; then that of each
 * tensor. */
enum gg_status
session_state_find_sums(struct opener *o);
enum gg_status
session_state_check_sums(const struct opener *o);

/* state_table.c: reads and checks the sequences, and which were forgotten, out
 * of data whose sums are right. */
enum gg_status
session_state_read_table(struct opener *o);

/* state_media.c: the table of media, all of which the session has; then what an
 * id of the file is here, -1: it is none. */
enum gg_status
session_state_read_media(struct opener *o);
int32_t
session_state_number(const struct opener *o, int32_t id);

#endif
