/* http.c - requests over HTTP and HTTPS, by libcurl */
#include <config.h>

#include "gg-fetch/http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

void
http_add_escaped(struct buffer *out, const char *text, const char *keep)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
            (c >= 'a' && c <= 'z') || strchr("-._~", c) || strchr(keep, c))
            buffer_char(out, *text);
        else
            buffer_format(out, "%%%02X", c);
    }
}

#ifdef HAVE_LIBCURL

#include <curl/curl.h>

enum {
    MAX_HOPS = 10,
    MAX_HEAD = 1 << 18, /* bytes of one reply's: less than libcurl's limit */
    MAX_UNWANTED = 1 << 20,
    MAX_WAIT = 300,    /* seconds that a server may ask for */
    CONNECT_TIME = 30, /* seconds until a connection stands, at most */
    /* A brief request may take options.timeout seconds of all tries, and one
     * more for BRIEF_RATE bytes, but not more than BRIEF_MOST times as long.
     * Without a byte nothing takes longer than options.timeout. */
    BRIEF_RATE = 32 << 10,
    BRIEF_MOST = 15,
};

static struct http_options options;
static char *endpoint;
static const char *token;
static CURL *curl;

/* One request under way. */
struct exchange {
    const struct http_request *request;
    struct http_reply *reply;
    uint64_t from;
    size_t header_bytes;
    bool refused;    /* take() has returned false */
    size_t unwanted; /* bytes of a body of a redirect or an error */
    bool flooded;    /* the head of a reply has no end */
    bool late;       /* the deadline has passed */
    double spent;    /* seconds of earlier requests */
};

/* ---- where the token goes ------------------------------------------------ */

/* Scheme, host and port of both are the same. */
static bool
same_origin(const char *a, const char *b)
{
    static const CURLUPart parts[] = { CURLUPART_SCHEME, CURLUPART_HOST,
                                       CURLUPART_PORT };
    CURLU *x = curl_url(), *y = curl_url();
    bool same = x && y && !curl_url_set(x, CURLUPART_URL, a, 0) &&
                !curl_url_set(y, CURLUPART_URL, b, 0);

    for (size_t i = 0; same && i < 3; i++) {
        char *p = NULL, *q = NULL;

        same = !curl_url_get(x, parts[i], &p, CURLU_DEFAULT_PORT) &&
               !curl_url_get(y, parts[i], &q, CURLU_DEFAULT_PORT) &&
               strcasecmp(p, q) == 0;
        curl_free(p);
        curl_free(q);
    }
    curl_url_cleanup(x);
    curl_url_cleanup(y);
    return same;
}

static bool
is_secure(const char *url)
{
    return strncasecmp(url, "https://", 8) == 0;
}

static void
check_token(void)
{
    token = getenv("HF_TOKEN");
    if (token && !*token)
        token = NULL;
    for (const char *p = token; p && *p; p++)
        if (*p <= ' ' || *p > '~')
            cli_misuse("$HF_TOKEN has a character that no token has");
}

void
http_start(const struct http_options *o)
{
    const char *env = getenv("HF_ENDPOINT");
    size_t n;

    options = *o;
    if (!env || !*env)
        env = "https://huggingface.co";
    n = strlen(env);
    while (n && env[n - 1] == '/')
        n--;
    endpoint = strndup(env, n);
    check_token();
    if (!is_secure(env) && strncasecmp(env, "http://", 7) != 0)
        cli_misuse("$HF_ENDPOINT is no URL of HTTP or HTTPS: %s", env);
    if (!endpoint || curl_global_init(CURL_GLOBAL_DEFAULT) ||
        !(curl = curl_easy_init()))
        cli_die("out of memory");
}

const char *
http_endpoint(void)
{
    return endpoint;
}

bool
http_is_hub(const char *url)
{
    size_t n = strlen(endpoint);

    return strncasecmp(url, endpoint, n) == 0 && url[n] == '/';
}

/* ---- headers ------------------------------------------------------------- */

/* The value of the header of that name, without blanks around it, in buf. */
static bool
read_header(const char *line, size_t n, const char *name, char *buf,
            size_t size)
{
    size_t len = strlen(name);

    if (n <= len || strncasecmp(line, name, len) != 0 || line[len] != ':')
        return false;
    for (line += len + 1, n -= len + 1; n && strchr(" \t", *line); n--)
        line++;
    while (n && strchr(" \t\r\n", line[n - 1]))
        n--;
    snprintf(buf, size, "%.*s", (int)(n < size ? n : size - 1), line);
    return true;
}

/* Content-Range: bytes FIRST-LAST/ALL */
static void
read_range(const char *value, struct http_reply *r)
{
    char *end;

    if (strncasecmp(value, "bytes ", 6) == 0 && value[6] >= '0' &&
        value[6] <= '9') {
        r->first = strtoull(value + 6, &end, 10);
        if (*end == '-')
            return;
    }
    r->first = UINT64_MAX; /* nothing that was requested */
}

static size_t
take_header(char *line, size_t size, size_t n, void *data)
{
    struct exchange *x = data;
    struct http_reply *r = x->reply;
    char value[80];

    n *= size;
    x->header_bytes += n;
    x->flooded = x->header_bytes > MAX_HEAD;
    if (x->flooded)
        return 0;
    if (n > 5 && strncmp(line, "HTTP/", 5) == 0)
        *r = (struct http_reply){ 0 };
    if (read_header(line, n, "Content-Range", value, sizeof(value)))
        read_range(value, r);
    else if (!read_header(line, n, "ETag", r->etag, sizeof(r->etag)))
        read_header(line, n, "X-Error-Message", r->reason, sizeof(r->reason));
    return n;
}

/* ---- one request --------------------------------------------------------- */

/* Notes the head as libcurl has it, at the body's first byte or at the end. */
static void
note_head(struct exchange *x)
{
    curl_off_t length = -1, wait = 0;

    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &x->reply->status);
    curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
    x->reply->has_length = length >= 0;
    x->reply->length = length >= 0 ? (uint64_t)length : 0;
    x->reply->retry_after = wait;
}

/* The body of a redirect or of an error is of no use, however long it is. */
static size_t
pass_over(struct exchange *x, size_t n)
{
    x->unwanted += n;
    return x->unwanted <= MAX_UNWANTED ? n : 0;
}

static size_t
take_body(char *piece, size_t size, size_t n, void *data)
{
    struct exchange *x = data;

    n *= size;
    note_head(x);
    if (x->reply->status != 200 && x->reply->status != 206)
        return pass_over(x, n);
    x->refused = !x->request->take(x->request->data, x->reply, piece, n);
    return x->refused ? 0 : n;
}

static struct curl_slist *
add_header(struct curl_slist *list, const char *name, const char *value)
{
    struct curl_slist *more;
    char line[1200];

    if (snprintf(line, sizeof(line), "%s%s", name, value) >= (int)sizeof(line))
        cli_die("$HF_TOKEN is too long");
    more = curl_slist_append(list, line);
    if (!more)
        cli_die("out of memory");
    return more;
}

static struct curl_slist *
request_headers(const struct http_request *q, const char *url, uint64_t from)
{
    struct curl_slist *list = NULL;

    if (q->accept)
        list = add_header(list, "Accept: ", q->accept);
    if (token && same_origin(url, endpoint))
        list = add_header(list, "Authorization: Bearer ", token);
    if (from && q->etag && *q->etag)
        list = add_header(list, "If-Range: ", q->etag);
    return list;
}

/* Ends a request that is to be brief and is not. */
static int
check_time(void *data, curl_off_t all, curl_off_t now, curl_off_t up_all,
           curl_off_t up_now)
{
    struct exchange *x = data;
    double seconds = 0, limit = BRIEF_MOST * (double)options.timeout;
    double most = options.timeout + (double)now / BRIEF_RATE;

    (void)all, (void)up_all, (void)up_now;
    curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME, &seconds);
    most = most < limit ? most : limit;
    x->late = x->request->brief && x->spent + seconds > most;
    return x->late;
}

static void
set_policy(void)
{
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS,
                     (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "gg-fetch/" PACKAGE_VERSION);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT,
                     (long)(options.timeout < CONNECT_TIME ? options.timeout
                                                           : CONNECT_TIME));
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)options.timeout);
}

static CURLcode
perform(struct exchange *x, const char *url)
{
    const struct http_request *q = x->request;
    uint64_t from = x->from;
    struct curl_slist *headers = request_headers(q, url, from);
    char range[32], why[CURL_ERROR_SIZE];
    double seconds = 0;
    CURLcode code;

    set_policy();
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, x);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, check_time);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, x);
    snprintf(range, sizeof(range), "%llu-", (unsigned long long)from);
    if (from)
        curl_easy_setopt(curl, CURLOPT_RANGE, range);
    *x->reply = (struct http_reply){ 0 };
    x->header_bytes = 0;
    code = curl_easy_perform(curl);
    note_head(x);
    curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME, &seconds);
    x->spent += seconds;
    curl_slist_free_all(headers);
    return x->unwanted ? CURLE_OK : code;
}

/* ---- redirects ----------------------------------------------------------- */

static bool
is_redirect(long status)
{
    return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

/* The URL that the reply names; NULL: it names none. The caller frees it. */
static char *
next_hop(const char *url, const char *name)
{
    char *next = NULL;

    curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &next);
    if (!next)
        return NULL;
    if (!is_secure(next) &&
        (is_secure(url) || strncasecmp(next, "http://", 7) != 0))
        cli_die("%s: the server redirects to what is not HTTPS: %s", name,
                next);
    next = strdup(next);
    if (!next)
        cli_die("out of memory");
    return next;
}

static CURLcode
follow(struct exchange *x)
{
    const char *name = x->request->name;
    char *url = strdup(x->request->url), *next;
    CURLcode code = CURLE_OK;
    int hops = 0;

    if (!url)
        cli_die("out of memory");
    for (;;) {
        x->refused = false;
        x->unwanted = 0;
        code = perform(x, url);
        if (code || !is_redirect(x->reply->status))
            break;
        next = next_hop(url, name);
        if (!next || ++hops > MAX_HOPS)
            cli_die("%s: the server redirects %s", name,
                    next ? "round and round" : "to nowhere");
        free(url);
        url = next;
    }
    free(url);
    return code;
}

/* ---- again --------------------------------------------------------------- */

static void
wait_for(int64_t seconds)
{
    struct timespec t = { .tv_sec = seconds };

    nanosleep(&t, NULL);
}

/* Ends the tool for a status that no further request changes. */
CLI_NORETURN static void
fail_status(const struct http_request *q, const struct http_reply *r)
{
    static const struct {
        long status;
        const char *what;
    } known[] = {
        { 401, "not there, or for those only whom $HF_TOKEN names" },
        { 403, "refused: its owner asks for consent, and $HF_TOKEN names "
               "nobody who gave it" },
        { 404, "not there" },
        { 416, "shorter than what is here of it" },
        { 429, "too many requests: the server wants a pause" },
    };
    const char *what = "the server fails";

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].status == r->status)
            what = known[i].what;
    if (*r->reason)
        cli_die("%s: %s (HTTP %ld: %s)", q->name, what, r->status, r->reason);
    cli_die("%s: %s (HTTP %ld)", q->name, what, r->status);
}

static bool
may_pass(long status)
{
    return status == 408 || status == 429 || status >= 500;
}

/* Waits as long as it should before the next try, after `tries` without
 * progress. */
static void
pause_for(const struct http_request *q, const struct http_reply *r, int tries,
          const char *why)
{
    int64_t seconds =
        r->retry_after > 0 ? r->retry_after : 1ll << (tries < 6 ? tries : 6);

    if (r->retry_after > MAX_WAIT)
        cli_die("%s: the server wants a pause of %lld seconds", q->name,
                (long long)r->retry_after);
    if (options.verbose)
        cli_warn("%s: %s; again in %lld s", q->name, why, (long long)seconds);
    wait_for(seconds);
}

/* Failures of connections, and whether another try may help. */
static const struct failure {
    CURLcode code;
    bool again;
    const char *what;
} failures[] = {
    { CURLE_PARTIAL_FILE, true, "the connection broke" },
    { CURLE_GOT_NOTHING, true, "the connection broke" },
    { CURLE_RECV_ERROR, true, "the connection broke" },
    { CURLE_SEND_ERROR, true, "the connection broke" },
    { CURLE_HTTP2, true, "the connection broke" },
    { CURLE_HTTP2_STREAM, true, "the connection broke" },
    { CURLE_OPERATION_TIMEDOUT, true, "nothing comes" },
    { CURLE_COULDNT_CONNECT, false, "no server answers" },
    { CURLE_COULDNT_RESOLVE_HOST, false,
      "its address is not found (is there a network? https_proxy names a "
      "proxy)" },
    { CURLE_COULDNT_RESOLVE_PROXY, false,
      "the address of the proxy is not found: https_proxy, http_proxy" },
    { CURLE_OUT_OF_MEMORY, false,
      "out of memory, or a line of the reply's head has no end" },
    { CURLE_UNSUPPORTED_PROTOCOL, false, "what answers speaks no HTTP" },
    { CURLE_WEIRD_SERVER_REPLY, false, "what answers speaks no HTTP" },
    { CURLE_PEER_FAILED_VERIFICATION, false,
      "the server's certificate is not of that name, or not of an authority "
      "that this machine knows (ca-certificates)" },
    { CURLE_SSL_CACERT_BADFILE, false,
      "this machine knows no authorities (ca-certificates)" },
};

static struct failure
find_failure(CURLcode code)
{
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
        if (failures[i].code == code)
            return failures[i];
    return (struct failure){ code, false, curl_easy_strerror(code) };
}

/* A host that was asked may be another one than the user named. */
CLI_NORETURN static void
fail_connection(const struct http_request *q, const char *what)
{
    CURLU *parts = curl_url();
    char *url = NULL, *host = NULL;

    curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &url);
    if (parts && url && !curl_url_set(parts, CURLUPART_URL, url, 0))
        curl_url_get(parts, CURLUPART_HOST, &host, 0);
    cli_die("%s: %s%s%s", q->name, host ? host : "", host ? ": " : "", what);
}

bool
http_get(const struct http_request *q, struct http_reply *reply)
{
    struct exchange x = { .request = q, .reply = reply };

    for (int tries = 0;; tries++) {
        uint64_t from = q->from ? q->from(q->data) : 0;
        struct failure f = { CURLE_OK, true, "the server is busy" };

        if (from > x.from)
            tries = 0;
        x.from = from;
        f.code = follow(&x);
        if (x.refused)
            return false;
        if (x.flooded)
            cli_die("%s: the head of the server's reply has no end", q->name);
        if (x.late)
            cli_die("%s: the server is too slow", q->name);
        if (!f.code && (reply->status == 200 || reply->status == 206))
            return true;
        if (f.code)
            f = find_failure(f.code);
        else if (!may_pass(reply->status) || tries >= options.retries)
            fail_status(q, reply);
        if (f.code && !f.again)
            fail_connection(q, f.what);
        if (!f.again || tries >= options.retries)
            cli_die("%s: %s", q->name, f.what);
        pause_for(q, reply, tries, f.what);
    }
}

/* ---- documents ----------------------------------------------------------- */

struct document {
    struct buffer *body;
    size_t max;
};

static uint64_t
start_again(void *data)
{
    struct document *d = data;

    d->body->len = 0; /* what came of it before the connection broke */
    return 0;
}

static bool
take_document(void *data, const struct http_reply *reply, const char *piece,
              size_t n)
{
    struct document *d = data;

    (void)reply;
    if (n > d->max - d->body->len)
        return false;
    buffer_add(d->body, piece, n);
    return true;
}

void
http_document(const char *url, const char *name, const char *accept, size_t max,
              struct buffer *body, struct http_reply *reply)
{
    struct document d = { body, max };
    struct http_request q = { .url = url,
                              .name = name,
                              .accept = accept,
                              .take = take_document,
                              .from = start_again,
                              .data = &d,
                              .brief = true };

    if (!http_get(&q, reply))
        cli_too_long(name, "what the server says", max);
}

#else

void
http_start(const struct http_options *o)
{
    (void)o;
    cli_die("this gg-fetch was built without libcurl, which fetches");
}

const char *
http_endpoint(void)
{
    return "";
}

bool
http_is_hub(const char *url)
{
    (void)url;
    return false;
}

bool
http_get(const struct http_request *q, struct http_reply *reply)
{
    (void)q, (void)reply;
    return false;
}

void
http_document(const char *url, const char *name, const char *accept, size_t max,
              struct buffer *body, struct http_reply *reply)
{
    (void)url, (void)name, (void)accept, (void)max, (void)body, (void)reply;
}

#endif
