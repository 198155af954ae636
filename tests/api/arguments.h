/* arguments.h - what tests of the arguments of functions of <gg.h> and
 * <gg-stream.h> share */
#ifndef API_ARGUMENTS_H
#define API_ARGUMENTS_H

#include <gg-stream.h>
#include <math.h>

#include "harness/session_test.h"

/* A test of the function of that name; its own is the same without gg_. */
struct argument_test {
    const char *name;
    bool (*test)(void);
};

#define TEST(function)                                                         \
    {                                                                          \
        "gg_" #function, function                                              \
    }

/* Tables of tests; the last one has no name. */
extern const struct argument_test arguments_library[];
extern const struct argument_test arguments_vocab[];
extern const struct argument_test arguments_chat[];
extern const struct argument_test arguments_models[];
extern const struct argument_test arguments_pipelines[];
extern const struct argument_test arguments_sessions[];
extern const struct argument_test arguments_samplers[];
extern const struct argument_test arguments_streams[];

/* Valid arguments of functions, where another one is wrong. */
extern const char *model_path;
extern struct gg_file *file; /* of that path */
extern struct gg_model *model;
extern const struct gg_vocab *vocab;
extern struct gg_session *session; /* two slots, the first with 3 ids */
extern struct gg_grammar *grammar;
extern struct gg_sampler *sampler, *bound; /* plain; held to the grammar */
extern struct gg_history *history;         /* of the plain one */
extern const char grammar_text[];
extern int null_fd;
extern int32_t ids[4];

/* Where they write. */
extern float logits[V];
extern char buf[64];
extern size_t n;
extern struct gg_encoded encoded;

/* That is said, with a word. */
static inline bool
refused(enum gg_status st)
{
    bool said = st == GG_ERR_ARG && err.message[0];

    err.message[0] = '\0';
    return said;
}

#endif
