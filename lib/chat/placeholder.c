/* placeholder.c - what templates write where an image or a sound is to stand */
#include <config.h>

#include "chat/placeholder.h"

#include <gg.h>
#include <string.h>

#include "chat/text.h"

/* Placeholders as families' templates and processors have them. Where a
 * template writes more around one than rows have as markers, all of it is
 * listed. */
static const struct {
    const char *text;
    int32_t id;
} placeholders[] = {
    { "<|vision_start|><|image_pad|><|vision_end|>", GG_CHAT_IMAGE },
    { "<|image_pad|>", GG_CHAT_IMAGE },
    { "<|media_start|>image<|media_content|><|media_pad|><|media_end|>",
      GG_CHAT_IMAGE },
    { "<|media_pad|>", GG_CHAT_IMAGE },
    { "<|kimi_image_placeholder|>", GG_CHAT_IMAGE },
    { "<|begin_of_image|><|image|><|end_of_image|>", GG_CHAT_IMAGE },
    { "<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>", GG_CHAT_IMAGE },
    { "<start_of_image>", GG_CHAT_IMAGE },
    { "<|image|>", GG_CHAT_IMAGE },
    { "[IMG]", GG_CHAT_IMAGE },
    { "(<image>./</image>)", GG_CHAT_IMAGE },
    { "<image>", GG_CHAT_IMAGE },
    { "<IMG_CONTEXT>", GG_CHAT_IMAGE },
    { "<|audio_start|><|audio_pad|><|audio_end|>", GG_CHAT_SOUND },
    { "<|audio_pad|>", GG_CHAT_SOUND },
    { "<|audio_bos|><|AUDIO|><|audio_eos|>", GG_CHAT_SOUND },
    { "<|AUDIO|>", GG_CHAT_SOUND },
    { "<|audio|>", GG_CHAT_SOUND },
    { "[BEGIN_AUDIO][AUDIO]", GG_CHAT_SOUND },
    { "[AUDIO]", GG_CHAT_SOUND },
};

static bool
is_of_template(const struct chat_string *s, size_t at, size_t n)
{
    size_t i = at;

    while (i < at + n && chat_origin_at(s, i) == CHAT_TRUSTED)
        i++;
    return i == at + n;
}

/* Where it stands in s[from..end), or SIZE_MAX. */
static size_t
find_trusted(const struct chat_string *s, size_t from, size_t end,
             const char *text)
{
    size_t n = strlen(text);

    while (from + n <= end) {
        const char *p = memmem(s->s + from, end - from, text, n);

        if (!p)
            break;
        from = (size_t)(p - s->s);
        if (is_of_template(s, from, n))
            return from;
        from++;
    }
    return SIZE_MAX;
}

struct chat_placeholder
chat_placeholder_next(const struct chat_string *s, size_t at)
{
    struct chat_placeholder best = { .at = s->n };

    for (size_t i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]);
         i++) {
        size_t n = strlen(placeholders[i].text);
        size_t end = best.n ? best.at + n : s->n; /* no later one is wanted */
        size_t where =
            find_trusted(s, at, end < s->n ? end : s->n, placeholders[i].text);

        if (where < best.at || (where == best.at && n > best.n))
            best = (struct chat_placeholder){ where, n, placeholders[i].id };
    }
    return best;
}
