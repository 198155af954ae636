/* known.c - built-in forms of chats that have tools
 *
 * What the models' own templates write, in Jinja: tools, calls and results. */
#include <config.h>

#include "chat/known.h"

#include <string.h>

/* Qwen 2.5 and 3: tools in the system's message, calls as JSON between marks.
 */
#define QWEN(system)                                                           \
    "{%- set own = messages[0].role == 'system' -%}"                           \
    "{%- set before = messages[0].content if own else '" system "' -%}"        \
    "{%- if tools -%}"                                                         \
    "<|im_start|>system\n{{ before }}"                                         \
    "{{ '\n\n' if before else '' }}"                                           \
    "# Tools\n\nYou may call one or more functions to assist with the user "   \
    "query.\n\nYou are provided with function signatures within "              \
    "<tools></tools> XML tags:\n<tools>"                                       \
    "{%- for t in tools %}{{ '\n' }}{{ t|tojson }}{% endfor %}"                \
    "{{ '\n' }}</tools>\n\nFor each function call, return a json object with " \
    "function name and arguments within <tool_call></tool_call> XML "          \
    "tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": "          \
    "<args-json-object>}\n</tool_call><|im_end|>{{ '\n' }}"                    \
    "{%- elif before -%}"                                                      \
    "<|im_start|>system\n{{ before }}<|im_end|>{{ '\n' }}"                     \
    "{%- endif -%}"                                                            \
    "{%- for m in (messages[1:] if own else messages) -%}"                     \
    "{%- if m.role == 'tool' -%}"                                              \
    "{%- if loop.first or loop.previtem.role != 'tool' -%}"                    \
    "<|im_start|>user{% endif %}"                                              \
    "{{ '\n' }}<tool_response>\n{{ m.content }}\n</tool_response>"             \
    "{%- if loop.last or loop.nextitem.role != 'tool' -%}"                     \
    "<|im_end|>{{ '\n' }}{% endif %}"                                          \
    "{%- elif m.role in ['system', 'user', 'assistant'] -%}"                   \
    "<|im_start|>{{ m.role }}"                                                 \
    "{%- if m.content or not m.tool_calls %}{{ '\n' ~ m.content }}{% endif %}" \
    "{%- for c in m.tool_calls or [] -%}"                                      \
    "{%- set f = c.function or c -%}"                                          \
    "{{ '\n' }}<tool_call>\n{\"name\": \"{{ f.name }}\", \"arguments\": "      \
    "{{ f.arguments|tojson }}}\n</tool_call>"                                  \
    "{%- endfor -%}"                                                           \
    "<|im_end|>{{ '\n' }}"                                                     \
    "{%- endif -%}"                                                            \
    "{%- endfor -%}"                                                           \
    "{%- if add_generation_prompt -%}<|im_start|>assistant{{ '\n' }}"          \
    "{%- endif -%}"

#define LLAMA_OPEN(role) "<|start_header_id|>" role "<|end_header_id|>\n\n"

/* Llama 3.1: tools in the first user's message, one call as JSON. */
#define LLAMA                                                                         \
    "{%- set own = messages[0].role == 'system' -%}"                                  \
    "{{ bos_token }}" LLAMA_OPEN(                                                     \
        "system") "{% if tools %}Environment: ipython{{ '\n' }}{% endif -%}"          \
                  "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul "        \
                  "2024\n\n"                                                          \
                  "{{ messages[0].content|trim if own else '' }}<|eot_id|>"           \
                  "{%- for m in (messages[1:] if own else messages) -%}"              \
                  "{%- if m.tool_calls -%}"                                           \
                  "{%- if m.tool_calls|length != 1 -%}"                               \
                  "{{ raise_exception('one call at a time') }}{% endif -%}"           \
                  "{%- set f = m.tool_calls[0].function or m.tool_calls[0] "          \
                  "-%}" LLAMA_OPEN(                                                   \
                      "assistant") "{\"name\": \"{{ f.name }}\", "                    \
                                   "\"parameters\": {{ f.arguments|tojson }}}"        \
                                   "{%- elif m.role == 'tool' -%}" LLAMA_OPEN(        \
                                       "ipython") "{{ m.content|tojson }}"            \
                                                  "{%- elif m.role in "               \
                                                  "['system', 'user', "               \
                                                  "'assistant'] "                     \
                                                  "-%}" LLAMA_OPEN(                   \
                                                      "{{ m.role }}") "{% if "        \
                                                                      "tools "        \
                                                                      "and "          \
                                                                      "loop."         \
                                                                      "first "        \
                                                                      "%}"            \
                                                                      "Given "        \
                                                                      "the "          \
                                                                      "follow"        \
                                                                      "ing "          \
                                                                      "functi"        \
                                                                      "ons, "         \
                                                                      "please"        \
                                                                      " respo"        \
                                                                      "nd "           \
                                                                      "with "         \
                                                                      "a "            \
                                                                      "JSON "         \
                                                                      "for a "        \
                                                                      "functi"        \
                                                                      "on "           \
                                                                      "call "         \
                                                                      "with "         \
                                                                      "its "          \
                                                                      "proper"        \
                                                                      " argum"        \
                                                                      "ents "         \
                                                                      "that "         \
                                                                      "best "         \
                                                                      "answer"        \
                                                                      "s the "        \
                                                                      "given "        \
                                                                      "prompt"        \
                                                                      ".\n\nR"        \
                                                                      "espond"        \
                                                                      " in "          \
                                                                      "the "          \
                                                                      "format"        \
                                                                      " {"            \
                                                                      "\"name"        \
                                                                      "\": "          \
                                                                      "functi"        \
                                                                      "on "           \
                                                                      "name, "        \
                                                                      "\"para"        \
                                                                      "meters"        \
                                                                      "\": "          \
                                                                      "dictio"        \
                                                                      "nary "         \
                                                                      "of "           \
                                                                      "argume"        \
                                                                      "nt "           \
                                                                      "name "         \
                                                                      "and "          \
                                                                      "its "          \
                                                                      "value}"        \
                                                                      ".Do "          \
                                                                      "not "          \
                                                                      "use "          \
                                                                      "variab"        \
                                                                      "les.{{"        \
                                                                      " '"            \
                                                                      "\n\n' "        \
                                                                      "}}"            \
                                                                      "{%- "          \
                                                                      "for t "        \
                                                                      "in "           \
                                                                      "tools "        \
                                                                      "%}{{ "         \
                                                                      "t|"            \
                                                                      "tojson"        \
                                                                      "(inden"        \
                                                                      "t=4) "         \
                                                                      "}}{{ "         \
                                                                      "'\n\n'"        \
                                                                      " }}{% "        \
                                                                      "endfor"        \
                                                                      " -%}"          \
                                                                      "{%- "          \
                                                                      "endif "        \
                                                                      "-%}"           \
                                                                      "{{ "           \
                                                                      "m."            \
                                                                      "conten"        \
                                                                      "t|"            \
                                                                      "trim "         \
                                                                      "}}"            \
                                                                      "{%- "          \
                                                                      "endif "        \
                                                                      "-%}<|"         \
                                                                      "eot_"          \
                                                                      "id|>"          \
                                                                      "{%- "          \
                                                                      "endfor"        \
                                                                      " -%}"          \
                                                                      "{%- "          \
                                                                      "if "           \
                                                                      "add_"          \
                                                                      "genera"        \
                                                                      "tion_"         \
                                                                      "prompt"        \
                                                                      " -%}{{"        \
                                                                      " "             \
                                                                      "'" LLAMA_OPEN2 \
                                                                      "' "            \
                                                                      "}}{% "         \
                                                                      "endif "        \
                                                                      "-%}"

#define LLAMA_OPEN2 "<|start_header_id|>assistant<|end_header_id|>\n\n"

static const struct {
    const char *name, *source;
} known[] = {
    { "qwen2.5", QWEN("You are Qwen, created by Alibaba Cloud. You are a "
                      "helpful assistant.") },
    { "qwen3", QWEN("") },
    { "llama3.1", LLAMA },
};

/* NULL: there is none. */
static const char *
source_of(const struct gg_chat_template *t)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(known[i].name, t->name) == 0)
            return known[i].source;
    return NULL;
}

bool
chat_known_has_tools(const struct gg_chat_template *t)
{
    return !t->jinja && source_of(t);
}

enum gg_status
chat_known_jinja(const struct gg_chat_template *t, bool tools,
                 struct chat_template **own, const struct chat_template **out,
                 struct gg_error *err)
{
    const char *source = t->jinja ? NULL : source_of(t);
    enum gg_status st;

    *own = NULL;
    *out = vocab_chat_jinja(t, tools);
    if (*out)
        return GG_OK;
    if (!source)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the built-in template %s has no tools, and takes "
                         "texts and roles only; give the model's own as a file",
                         t->name);
    st = chat_template_parse(source, strlen(source), own, err);
    *out = *own;
    return st;
}
