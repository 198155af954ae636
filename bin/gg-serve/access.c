/* access.c - who may ask: keys, and no web page
 *
 * A page in a browser can send requests to this machine, also under another
 * name that its owner has pointed here: so Host must be one of ours, and a
 * request with an Origin must come from one that was allowed. */
#include <config.h>

#include <string.h>
#include <strings.h>

#include "gg-serve/front.h"

void
access_refuse(struct http_call *call, int status, const char *code,
              const char *message)
{
    struct buffer b = { 0 };
    const char *path = http_path(call);

    translate_error(path ? path : "", status, code, message, &b);
    tell_refusal(path ? path : "", status, message);
    if (status == 401)
        http_add_field(call, "WWW-Authenticate", "Bearer");
    http_answer(call, status, "application/json", b.p, b.len);
    buffer_clear(&b);
}

/* Host without its port: "[::1]:8080" is "[::1]". */
static size_t
name_length(const char *host)
{
    const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
    const char *colon = strchr(bracket ? bracket : host, ':');

    return colon ? (size_t)(colon - host) : strlen(host);
}

static bool
is_listed(const char *const *list, const char *name, size_t n)
{
    for (; list && *list; list++)
        if (strlen(*list) == n && strncasecmp(*list, name, n) == 0)
            return true;
    return false;
}

/* Who connects to a Unix socket is no web page, whatever Host says. */
static bool
host_is_ours(const struct front *f, const struct http_call *call)
{
    static const char *const ours[] = { "localhost", "127.0.0.1", "[::1]",
                                        NULL };
    const char *host = http_field(call, "Host");
    size_t n = host ? name_length(host) : 0;

    if (http_peer_user(call) >= 0)
        return true;
    if (!host)
        return http_is_old(call);
    return is_listed(ours, host, n) || is_listed(f->params.hosts, host, n);
}

static bool
origin_is_allowed(const struct front *f, const struct http_call *call)
{
    const char *origin = http_field(call, "Origin");

    return !origin || is_listed(f->params.origins, origin, strlen(origin));
}

/* A page that may ask may read the answer, too. */
static void
allow_origin(struct http_call *call)
{
    const char *origin = http_field(call, "Origin");

    if (!origin)
        return;
    http_add_field(call, "Access-Control-Allow-Origin", origin);
    http_add_field(call, "Access-Control-Expose-Headers",
                   "X-Request-Id, Retry-After");
    http_add_field(call, "Vary", "Origin");
}

/* A browser asks first whether a page may send a request, without its key.
 * False: it is no such question. */
static bool
answer_browser(struct http_call *call)
{
    const char *fields = http_field(call, "Access-Control-Request-Headers");

    if (strcmp(http_method(call), "OPTIONS") != 0 ||
        !http_field(call, "Origin"))
        return false;
    http_add_field(call, "Access-Control-Allow-Methods", "GET, POST");
    if (fields)
        http_add_field(call, "Access-Control-Allow-Headers", fields);
    http_add_field(call, "Access-Control-Max-Age", "600");
    http_answer(call, 200, "text/plain", "", 0);
    return true;
}

/* The key of "Authorization: Bearer KEY" or "x-api-key: KEY"; NULL. */
static const char *
key_of(const struct http_call *call)
{
    const char *by = http_field(call, "Authorization");

    if (by && strncasecmp(by, "Bearer ", 7) == 0)
        return by + 7 + strspn(by + 7, " ");
    return http_field(call, "X-Api-Key");
}

bool
access_check(struct front *f, struct http_call *call, int *key)
{
    const char *path = http_path(call), *given = key_of(call);

    *key = -1;
    if (!host_is_ours(f, call)) {
        access_refuse(call, 403, "host_not_allowed",
                      "Host is no name of this server: --host-name adds one");
        return false;
    }
    if (!origin_is_allowed(f, call)) {
        access_refuse(
            call, 403, "origin_not_allowed",
            "requests of this Origin are not allowed: --origin adds one");
        return false;
    }
    allow_origin(call);
    if (answer_browser(call))
        return false;
    if (!f->has_keys || (path && strcmp(path, "/health") == 0))
        return true;
    *key = given ? keys_find(&f->keys, given) : -1;
    if (*key < 0)
        access_refuse(call, 401, "invalid_api_key",
                      given ? "there is no such key"
                            : "a key is needed: Authorization: Bearer KEY");
    return *key >= 0;
}
