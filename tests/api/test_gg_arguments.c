/* test_gg_arguments.c - no argument of a function of <gg.h> and
 * <gg-stream.h> ends the process
 *
 * Each function of the headers has a test of its name in the files next to
 * this one, which is checked against the headers themselves. */
#include <fcntl.h>
#include <unistd.h>

#include "api/arguments.h"
#include "harness/header_functions.h"

const char grammar_text[] = "root ::= [a-z]+";

const char *model_path;
struct gg_file *file;
struct gg_model *model;
const struct gg_vocab *vocab;
struct gg_session *session;
struct gg_grammar *grammar;
struct gg_sampler *sampler, *bound;
struct gg_history *history;
int null_fd;
int32_t ids[4] = { 5, 6, 7, 8 };
float logits[V];
char buf[64];
size_t n;
struct gg_encoded encoded;

static const struct argument_test *const tables[] = {
    arguments_library,  arguments_vocab,     arguments_chat,
    arguments_models,   arguments_pipelines, arguments_sessions,
    arguments_samplers, arguments_streams,
};

enum {
    N_TABLES = sizeof(tables) / sizeof(tables[0])
};

static int n_tests;

static bool
has_test(const char *name, size_t len)
{
    for (int i = 0; i < N_TABLES; i++)
        for (const struct argument_test *t = tables[i]; t->name; t++)
            if (strlen(t->name) == len && !memcmp(t->name, name, len))
                return true;
    return false;
}

static void
run(const struct argument_test *t)
{
    for (; t->name; t++, n_tests++) {
        printf("# %s\n", t->name);
        fflush(stdout);
        ok(t->test(), t->name);
    }
}

/* And of no others. */
static void
test_header(void)
{
    int n_gg = header_functions("include/gg.h", has_test);
    int n_stream = header_functions("include/gg-stream.h", has_test);

    ok(n_gg > 0 && n_stream > 0 && n_gg + n_stream == n_tests,
       "every function of the headers");
}

static void
begin(void)
{
    struct gg_sampler_params p = gg_sampler_params_default();
    struct gg_chunk c = { .ids = ids, .n = 3 };

    model = new_model(&(struct model_spec){ .arch = "llama" });
    vocab = gg_model_vocab(model);
    model_path = scratch_path();
    must(gg_file_open(model_path, &file, &err));
    session = new_session(model, (struct gg_session_params){
                                     .n_ctx = 32,
                                     .n_slots = 2,
                                 });
    must(gg_session_eval(session, &c, 1, &err));
    must(gg_sampler_new(&p, &sampler, &err));
    must(gg_history_new(sampler, &history, &err));
    must(gg_grammar_new(vocab, grammar_text, strlen(grammar_text), &grammar,
                        &err));
    p.grammar = grammar;
    must(gg_sampler_new(&p, &bound, &err));
    null_fd = open("/dev/null", O_WRONLY);
}

static void
end(void)
{
    close(null_fd);
    gg_sampler_free(bound);
    gg_grammar_free(grammar);
    gg_history_free(history);
    gg_sampler_free(sampler);
    gg_session_free(session);
    gg_file_close(file);
    gg_model_free(model);
}

int
main(void)
{
    begin();
    for (int i = 0; i < N_TABLES; i++)
        run(tables[i]);
    test_header();
    end();
    return tap_done();
}
