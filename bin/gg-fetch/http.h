/* http.h - requests over HTTP and HTTPS, by libcurl
 *
 * A redirect is followed, but never from HTTPS to HTTP nor to another scheme;
 * the token is sent to the hub's own host and to no other. */
#ifndef FETCH_HTTP_H
#define FETCH_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buffer.h"

struct http_reply {
    long status;            /* 200, 206, ... of the last request */
    bool has_length;        /* of this body */
    uint64_t length, first; /* bytes; 206: where in the whole it begins */
    int64_t retry_after;    /* seconds; 0: it does not say */
    char etag[160];
    char reason[200]; /* X-Error-Message */
};

/* A piece of a body with status 200 or 206. False ends the request. */
typedef bool (*http_sink)(void *data, const struct http_reply *reply,
                          const char *piece, size_t n);

/* A request, which is sent again where the connection breaks. */
struct http_request {
    const char *url, *name; /* `name`: what messages call it */
    const char *accept;     /* the type that is wanted; NULL: any */
    http_sink take;
    uint64_t (*from)(void *data); /* the first byte that is missing; or NULL */
    void *data;
    const char *etag; /* if not "": the whole again where it is another one */
    bool brief;       /* it has a deadline: nobody waits for a slow server */
};

struct http_options {
    int32_t retries; /* without a byte of progress, before it fails */
    int32_t timeout; /* seconds: see http.c */
    bool verbose;
};

/* Once, before the first request: reads $HF_ENDPOINT and $HF_TOKEN. */
void
http_start(const struct http_options *o);

/* "https://huggingface.co", without a slash at its end. */
const char *
http_endpoint(void);

/* Whether the URL begins with the endpoint, a slash after it. */
bool
http_is_hub(const char *url);

/* True once all of a body was taken; false: take() did not want it. All that
 * goes wrong ends the tool. */
bool
http_get(const struct http_request *request, struct http_reply *reply);

/* The body of a document of at most `max` bytes; `accept`: as in a request. */
void
http_document(const char *url, const char *name, const char *accept, size_t max,
              struct buffer *body, struct http_reply *reply);

/* Adds text with all but letters, digits, "-._~" and `keep` as %XX. */
void
http_add_escaped(struct buffer *out, const char *text, const char *keep);

#endif
