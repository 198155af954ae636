/* test_requests.c - JSON lines as any tool reads and writes them: values with
 * their texts, what a record asks, an answer */
#include <config.h>

#include "common/records/batch.h"
#include "common/records/jsonl.h"
#include "harness/tap.h"

const char cli_name[] = "test_requests";

#ifdef HAVE_JANSSON

static struct sampling_options sampling;
static const struct reasoning_options reasoning;
static const struct adapter_options adapters;
static struct requests all;

static void
start(void)
{
    sampling = sampling_options_default();
    all = (struct requests){ .rows = sampling_rows,
                             .adapters = &adapters,
                             .sampling = &sampling,
                             .reasoning = &reasoning,
                             .quiet = true };
}

static bool
same_text(const char *text, size_t len, const char *want)
{
    return len == strlen(want) && (len == 0 || memcmp(text, want, len) == 0);
}

/* ---- values ---- */

static struct record_value
value_of(const char *line)
{
    struct record_value v;
    struct gg_error err;

    if (record_value_read(line, strlen(line), &v, &err) != GG_OK)
        printf("# %s\n", err.message);
    return v;
}

static void
check_find(const char *line, const char *name, const char *want)
{
    struct record_value v = value_of(line), found;

    ok(record_value_find(&v, name, &found) == (want != NULL) &&
           (!want || same_text(found.text, found.len, want)),
       line);
    record_value_clear(&v);
}

static void
check_values(void)
{
    check_find("{\"a\":1}", "a", "1");
    check_find("  {  \"b\" : [ 1 , {\"a\":2} ] ,\"a\"\t:\t-1.50e3  }  ", "a",
               "-1.50e3");
    check_find("{\"b\":\"}\\\"],\",\"a\":{\"a\":\"{[\",\"c\":[]}}", "a",
               "{\"a\":\"{[\",\"c\":[]}");
    check_find("{\"\\u0061\":\"\\u00e9\",\"b\":0}", "a", "\"\\u00e9\"");
    check_find("{\"x\":1e999,\"a\":12345678901234567890}", "a",
               "12345678901234567890");
    check_find("{\"a\":1e999}", "a", "1e999");
    check_find("{\"b\":{\"a\":1}}", "a", NULL);
    check_find("{}", "a", NULL);
    check_find("{\"\":null,\"a\":\"\"}", "", "null");
}

static void
check_refused(const char *line, const char *why)
{
    struct gg_error err = { "" };
    struct record_value v;

    ok(record_value_read(line, strlen(line), &v, &err) == GG_ERR_FORMAT &&
           !v.json,
       line);
    is(strncmp(err.message, why, strlen(why)), 0, why);
    record_value_clear(&v);
}

static void
check_passed(const char *line, const char *want)
{
    struct record_value v = value_of(line);
    struct record_object object;
    struct buffer out = { 0 };

    record_object_open(&v, &object);
    jsonl_pass_through(&object, &out);
    record_object_close(&object);
    ok(same_text(out.p, out.len, want), line);
    buffer_clear(&out);
    record_value_clear(&v);
}

/* ---- requests ---- */

static enum gg_status
read_request(struct request *r, struct record_value *v, const char *line,
             struct gg_error *err)
{
    struct record_object object;
    enum gg_status st;

    *v = value_of(line);
    request_begin(&all, 7, r);
    record_object_open(v, &object);
    st = request_read(&all, r, &object, err);
    record_object_close(&object);
    return st;
}

static void
clear_request(struct request *r, struct record_value *v)
{
    request_clear(&all, r);
    record_value_clear(v);
}

static void
check_text(void)
{
    struct request r;
    struct record_value v;
    struct gg_error err;

    is(read_request(&r, &v,
                    "{\"prompt\":\"a\\u0000b\",\"temperature\":0.5,"
                    "\"stop\":[\"x\"],\"logit_bias\":{\"3\":false}}",
                    &err),
       GG_OK, "a prompt with options");
    is(r.n_prompts, 1, "is one");
    is((int)r.prompts->kind, (int)REQUEST_TEXT, "which is a text");
    is(r.prompts->len, 3, "of three bytes");
    ok(r.sampling.params.temperature == 0.5f && r.stop, "with its options");
    is(r.sampling.n_bias, 1, "and its bias");
    is(r.sampling.params.seed, request_seed(sampling.params.seed, 7),
       "the seed is made of its place");
    clear_request(&r, &v);
}

static void
check_ids(void)
{
    struct request r;
    struct record_value v;
    struct gg_error err;

    is(read_request(&r, &v, "{\"prompt\":[3,0,2147483647],\"seed\":5}", &err),
       GG_OK, "ids");
    ok(r.prompts->kind == REQUEST_IDS && r.prompts->n_ids == 3 &&
           r.prompts->ids[2] == INT32_MAX,
       "are read");
    ok(r.has_seed && r.sampling.params.seed == 5, "with the seed");
    clear_request(&r, &v);
    is(read_request(&r, &v, "{\"prompt\":[3,-1]}", &err), GG_ERR_FORMAT,
       "-1 is no id");
    clear_request(&r, &v);
    is(read_request(&r, &v, "{\"prompt\":[\"a\",\"b\"]}", &err),
       GG_ERR_UNSUPPORTED, "a record has one prompt");
    clear_request(&r, &v);
}

/* Without a vocabulary a grammar is nothing but checked for its kind. */
static void
check_grammar(void)
{
    struct request r;
    struct record_value v;
    struct gg_error err;

    is(read_request(&r, &v,
                    "{\"prompt\":\"a\",\"response_format\":{\"type\":"
                    "\"json_schema\",\"json_sch\\u0065ma\":{\"schema\":{}}}}",
                    &err),
       GG_OK, "a format");
    ok(r.grammar.is_json && !r.grammar.entry, "which is one of JSON");
    clear_request(&r, &v);
    is(read_request(&r, &v, "{\"prompt\":\"a\",\"json_schema\":1}", &err),
       GG_ERR_FORMAT, "1 is no schema");
    clear_request(&r, &v);
}

/* Each name of a member is written with escapes. */
static void
check_batch(void)
{
    struct request r;
    struct record_value v;
    struct gg_error err = { "" };

    is(read_request(&r, &v,
                    "{\"custom\\u005fid\":\"\\u0041\",\"b\\u006fdy\":"
                    "{\"mod\\u0065l\":\"m\\/x\",\"\\u006dessages\": "
                    "[{\"role\":\"user\", \"content\":\"a\"}] ,\"n\":3}}",
                    &err),
       GG_OK, "a batch's request, whose names have escapes");
    is(err.message, "", "without an error");
    ok(r.batch && r.batch->kind == BATCH_CHAT && r.n_answers == 3, "is a chat");
    ok(same_text(r.batch->custom_id.p, r.batch->custom_id.len, "\"\\u0041\"") &&
           same_text(r.batch->model.p, r.batch->model.len, "\"m\\/x\""),
       "its id and model stay as they are");
    ok(r.prompts->kind == REQUEST_MESSAGES &&
           same_text(r.prompts->text, r.prompts->len,
                     "[{\"role\":\"user\", \"content\":\"a\"}]"),
       "so do messages");
    clear_request(&r, &v);
}

/* ---- answers ---- */

static void
check_answer(void)
{
    struct record_value v =
        value_of("{\"id\":1.0,\"text\":\"old\",\"x\":[1, 2]}");
    const int32_t ids[] = { 4, 5 };
    const uint64_t seed = 9;
    struct record_answer a = { .text = { (char[]){ "b\n" }, 2, 0 },
                               .ids = ids,
                               .n_ids = 2,
                               .logprob = -0.5,
                               .finish = GG_FINISH_LENGTH,
                               .seed = &seed };
    struct buffer line = { 0 }, passed = { 0 };
    struct record_object object;

    record_object_open(&v, &object);
    jsonl_pass_through(&object, &passed);
    record_object_close(&object);
    buffer_add(&line, passed.p, passed.len);
    jsonl_add_answer(&a, &line);
    jsonl_end(&line);
    ok(same_text(line.p, line.len,
                 "{\"id\":1.0,\"x\":[1, 2],\"text\":\"b\\n\",\"ids\":[4,5],"
                 "\"logprob\":-0.500000,\"stop_reason\":\"length\",\"seed\":9}"
                 "\n"),
       "an answer after what is passed through");
    ok(jsonl_is_answer(&passed, line.p, line.len), "is one to the record");
    ok(!jsonl_is_answer(&passed, line.p, passed.len), "cut off it is not");
    buffer_clear(&line);
    buffer_clear(&passed);
    record_value_clear(&v);
}

int
main(void)
{
    cli_start();
    start();
    check_values();
    check_refused("[1]", "not an object in JSON");
    check_refused("{\"a\":1,\"a\":2}", "not JSON: ");
    check_refused("{\"a\":", "not JSON: ");
    check_passed("{\"text\":1,\"seed\":null}", "");
    check_passed("{ \"id\" : 1e999 ,\"te\\u0078t\":1,\n\"seed\":1}",
                 "{ \"id\" : 1e999,\n\"seed\":1");
    check_text();
    check_ids();
    check_grammar();
    check_batch();
    check_answer();
    requests_clear(&all);
    return tap_done();
}

#else

int
main(void)
{
    printf("1..0 # SKIP built without Jansson\n");
    return 0;
}

#endif
