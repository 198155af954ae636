/* tool_probe.h - conversations with calls, rendered to see how calls look */
#ifndef CHAT_TOOL_PROBE_H
#define CHAT_TOOL_PROBE_H

#include "chat/render.h"

/* Texts that no template has: they are looked for in what is rendered. */
#define PROBE_USER     "Uqmessage"
#define PROBE_CONTENT  "Zqcontent"
#define PROBE_NAME_1   "probe_ab"
#define PROBE_NAME_2   "probe_cd"
#define PROBE_ID_1     "idAb00001"
#define PROBE_ID_2     "idCd00002"
#define PROBE_KEY_1    "key_ab"
#define PROBE_KEY_2    "key_cd"
#define PROBE_STRING_1 "vAlue1"
#define PROBE_STRING_2 "vAlue2"
#define PROBE_NUMBER   "7357"

#define PROBE_ARGUMENTS_1 "{\"" PROBE_KEY_1 "\": \"" PROBE_STRING_1 "\"}"

struct probe {
    const struct gg_vocab *vocab;
    const struct chat_template *template;
    struct chat_arena *arena;
    const char *content; /* of the assistant, in JSON; NULL: it is to answer */
    bool strings;        /* arguments are strings of JSON */
};

/* Renders a question and an answer: arguments of its first call and of its
 * second one, in JSON, or NULL where there is none. False: the template
 * refuses; *nomem is set where there was no memory. */
bool
chat_probe(const struct probe *p, const char *first, const char *second,
           struct chat_string *out, bool *nomem);

/* Whether a text stands after the question in what was rendered; whether the
 * call with PROBE_ARGUMENTS_1 is shown, not as Python prints it, nor as JSON in
 * a string. */
bool
chat_probe_shows(const struct chat_string *s, const char *what);
bool
chat_probe_shows_call(const struct chat_string *s);

/* The tools that are called, a JSON array. */
extern const char chat_probe_tools[];

#endif
