/* test_json_memory.c - JSON is read whole, or there was no memory */
#include <config.h>

#include "harness/tap.h"

#ifdef HAVE_JANSSON
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

/* Values that Jansson made before its memory ran out leak: lib/core/json.c. */
TAP_ASAN_OPTIONS("detect_leaks=0")

static long left = -1; /* allocations that succeed; -1: all */

/* One fails, and all after it succeed: what is wrong then would go unseen. */
static void *
count_down(size_t size)
{
    return left-- == 0 ? NULL : malloc(size);
}

/* Names and texts around the sizes at which Jansson's buffers grow. */
static char *
make_text(size_t n)
{
    char *text = malloc(n + 100), *p = text;

    p += sprintf(p, "{\"a\\u00e9\":[1,-2.5,true,null],\"long\":\"");
    memset(p, 'x', n);
    p += n;
    strcpy(p, "\",\"last\":{\"b\":\"c\\n\"}}");
    return text;
}

/* The number of allocations; -1: there was a value that is not `want`, or a
 * failure that had another reason. */
static long
sweep(const char *text)
{
    json_t *want = json_loads(text, 0, NULL);
    long n = 0;
    bool right = want != NULL;

    for (; n < 1000; n++) {
        struct gg_error err = { "" };
        json_t *value = NULL;
        enum gg_status st;

        left = n;
        st = core_json_parse("file", text, strlen(text), &value, &err);
        if (left >= 0 && st == GG_OK) {
            right &= json_equal(value, want);
            json_decref(value);
            break;
        }
        right &= st == GG_ERR_NOMEM && !value &&
                 strcmp(err.message, "out of memory") == 0;
    }
    left = -1;
    json_decref(want);
    return right ? n : -1;
}

static void
test_sizes(void)
{
    bool right = true;

    json_set_alloc_funcs(count_down, free);
    for (size_t n = 0; n < 300; n++) {
        char *text = make_text(n);

        right &= sweep(text) > 20;
        free(text);
    }
    ok(right, "without memory nothing else is said, and no byte is lost");
}

int
main(void)
{
    test_sizes();
    return tap_done();
}

#else

int
main(void)
{
    ok(true, "built without Jansson");
    return tap_done();
}

#endif
