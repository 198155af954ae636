/* request_likely.c - how likely tokens are: members of a request that ask it */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>

#include "common/records/batch.h"
#include "common/records/request_parts.h"

enum gg_status
request_read_count(const json_t *value, const char *name, int least, int most,
                   size_t *out, struct gg_error *err)
{
    double x = json_number_value(value);

    if (!json_is_number(value) || !(x >= least && x <= most) || x != floor(x))
        return cli_error(err, GG_ERR_FORMAT,
                         "%s: not a whole number from %d to %d", name, least,
                         most);
    *out = (size_t)x;
    return GG_OK;
}

/* A chat says whether, and how many in top_logprobs; a completion how many. */
enum gg_status
request_set_logprobs(const struct request_member *m, struct gg_error *err)
{
    const json_t *value = m->value.json;
    struct logprobs *l = &m->r->logprobs;
    bool is_chat = m->r->batch && m->r->batch->kind == BATCH_CHAT;

    l->wanted = !json_is_false(value);
    if (json_is_false(value) || (json_is_true(value) && !m->r->batch))
        return GG_OK;
    if (!is_chat)
        return request_read_count(value, "logprobs", 0, LOGPROBS_MOST,
                                  &l->n_top, err);
    if (!json_is_boolean(value))
        return cli_error(err, GG_ERR_FORMAT,
                         "logprobs: neither true nor false");
    return GG_OK;
}

enum gg_status
request_set_echo(const struct request_member *m, struct gg_error *err)
{
    if (!json_is_boolean(m->value.json))
        return cli_error(err, GG_ERR_FORMAT, "echo: neither true nor false");
    m->r->echo = json_is_true(m->value.json);
    return GG_OK;
}

bool
request_wants_prompt(const struct request *r)
{
    return r->echo && r->logprobs.wanted;
}

enum gg_status
request_check_likely(const struct request *r, bool messages,
                     struct gg_error *err)
{
    if (r->echo && messages)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "echo: not of a chat, which has no prompt");
    if (request_wants_prompt(r) && (r->choices.n || r->suffix.len))
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "echo: with logprobs there is neither choice nor "
                         "suffix");
    return GG_OK;
}

#endif
