/* chat_table.c - the chat templates that are known
 *
 * Facts about families of models, from the templates and formats that their
 * makers publish: tokenizer_config.json on Hugging Face, Meta's and Mistral's
 * reference tokenizers, OpenAI's description of harmony, FastChat. A date
 * that a template takes from the clock is left out or stands as the template
 * has it where there is no clock: the same words shall be the same ids. */
#include "vocab/chat.h"

#include <stddef.h>

#define ALL                                                                    \
    (1u << GG_ROLE_SYSTEM | 1u << GG_ROLE_USER | 1u << GG_ROLE_ASSISTANT |     \
     1u << GG_ROLE_TOOL)

/* DeepSeek's bar is U+FF5C, its blank U+2581. */
#define BAR       "\xef\xbd\x9c"
#define BLANK     "\xe2\x96\x81"
#define USER      "<" BAR "User" BAR ">"
#define ASSISTANT "<" BAR "Assistant" BAR ">"

/* clang-format off */

/* Turns of the families that differ in the names of their tokens only. */
#define IM(role)                                                               \
    { TOKEN("<|im_start|>") role "\n", TOKEN("<|im_end|>") "\n" }
#define IM_SEP(role)                                                           \
    { TOKEN("<|im_start|>") role TOKEN("<|im_sep|>"), TOKEN("<|im_end|>") }
#define HEADER(role)                                                           \
    { TOKEN("<|start_header_id|>") role TOKEN("<|end_header_id|>") "\n\n",     \
      TOKEN("<|eot_id|>") }
#define HEADER4(role)                                                          \
    { TOKEN("<|header_start|>") role TOKEN("<|header_end|>") "\n\n",           \
      TOKEN("<|eot|>") }
#define PHI3(role)                                                             \
    { TOKEN("<|" role "|>") "\n", TOKEN("<|end|>") "\n" }
#define PHI4_MINI(role)                                                        \
    { TOKEN("<|" role "|>"), TOKEN("<|end|>") }
#define ZEPHYR(role)                                                           \
    { MAYBE("<|" role "|>") "\n", EOS "\n" }
#define COHERE(role)                                                           \
    { TOKEN("<|START_OF_TURN_TOKEN|>") TOKEN("<|" role "|>"),                  \
      TOKEN("<|END_OF_TURN_TOKEN|>") }
#define GRANITE(role)                                                          \
    { TOKEN("<|start_of_role|>") role TOKEN("<|end_of_role|>"),                \
      TOKEN("<|end_of_text|>") "\n" }
#define GEMMA(role)                                                            \
    { TOKEN("<start_of_turn>") role "\n", TOKEN("<end_of_turn>") "\n" }

#define GEMMA4(role)                                                           \
    { TOKEN("<|turn>") role "\n", TOKEN("<turn|>") "\n" }
#define EXAONE_MOE(role)                                                       \
    { TOKEN("<|" role "|>") "\n", TOKEN("<|endofturn|>") "\n" }
#define GLM(role)                                                              \
    { TOKEN("<|" role "|>") "\n", "" }
#define GLM_TOOL                                                               \
    { TOKEN("<|observation|>") "\n" MAYBE("<tool_response>") "\n",             \
      "\n" MAYBE("</tool_response>") }
#define SEED(role)                                                             \
    { TOKEN("<seed:bos>") role "\n", TOKEN("<seed:eos>") }
#define MINIMAX(role)                                                          \
    { TOKEN("]~b]") role "\n", TOKEN("[e~[") "\n" }
#define HUNYUAN(name) "<" BAR "hy_" name BAR ">"

#define QWEN_TOOL                                                              \
    { TOKEN("<|im_start|>") "user\n" MAYBE("<tool_response>") "\n",            \
      "\n" MAYBE("</tool_response>") TOKEN("<|im_end|>") "\n" }
#define CHATML(tool) { IM("system"), IM("user"), IM("assistant"), tool }
#define CHATML_OPEN  TOKEN("<|im_start|>") "assistant\n"

const struct gg_chat_template vocab_chat_templates[] = {
    { .name = "phi4",
      .turns = { IM_SEP("system"), IM_SEP("user"), IM_SEP("assistant") },
      .open = TOKEN("<|im_start|>") "assistant" TOKEN("<|im_sep|>") },
    { .name = "smollm",
      .turns = CHATML(IM("tool")),
      .open = CHATML_OPEN,
      .system = "You are a helpful AI assistant named SmolLM, trained by "
                "Hugging Face" },
    { .name = "qwen2.5",
      .turns = CHATML(QWEN_TOOL),
      .open = CHATML_OPEN,
      .system = "You are Qwen, created by Alibaba Cloud. You are a helpful "
                "assistant." },
    { .name = "qwen2",
      .turns = CHATML(QWEN_TOOL),
      .open = CHATML_OPEN,
      .system = "You are a helpful assistant." },
    { .name = "qwen3",
      .turns = CHATML(QWEN_TOOL),
      .open = CHATML_OPEN },
    { .name = "chatml",
      .turns = CHATML(IM("tool")),
      .open = CHATML_OPEN },
    { .name = "mistral-v7",
      .turns = { { TOKEN("[SYSTEM_PROMPT]") " ", TOKEN("[/SYSTEM_PROMPT]") },
                 { TOKEN("[INST]") " ", TOKEN("[/INST]") },
                 { " ", EOS } },
      .open = "", .bos = true },
    { .name = "mistral-v7-tekken",
      .turns = { { TOKEN("[SYSTEM_PROMPT]"), TOKEN("[/SYSTEM_PROMPT]") },
                 { TOKEN("[INST]"), TOKEN("[/INST]") },
                 { "", EOS } },
      .open = "", .bos = true },
    { .name = "mistral-v3-tekken",
      .turns = { { "", "\n\n" },
                 { TOKEN("[INST]"), TOKEN("[/INST]") },
                 { "", EOS } },
      .open = "", .merged = true, .bos = true },
    { .name = "mistral-v1",
      .turns = { { "", "\n\n" },
                 { " " MAYBE("[INST]") " ", " " MAYBE("[/INST]") },
                 { " ", EOS } },
      .open = "", .merged = true, .bos = true },
    { .name = "llama2",
      .turns = { { "<<SYS>>\n", "\n<</SYS>>\n\n" },
                 { BOS MAYBE("[INST]") " ", " " MAYBE("[/INST]") },
                 { " ", " " EOS } },
      .open = "", .merged = true, .joint = true, .bos = true,
      .trim = 1u << GG_ROLE_USER | 1u << GG_ROLE_ASSISTANT },
    /* No system's message: Mistral's first two models. */
    { .name = "mistral-v0",
      .turns = { { "", "\n\n" },
                 { MAYBE("[INST]") " ", " " MAYBE("[/INST]") },
                 { "", EOS } },
      .open = "", .merged = true, .bos = true },
    { .name = "mistral-v3",
      .turns = { { "", "\n\n" },
                 { TOKEN("[INST]") " ", TOKEN("[/INST]") },
                 { " ", EOS } },
      .open = "", .merged = true, .bos = true,
      .trim = 1u << GG_ROLE_ASSISTANT },
    { .name = "phi4-mini",
      .turns = { PHI4_MINI("system"), PHI4_MINI("user"),
                 PHI4_MINI("assistant") },
      .open = TOKEN("<|assistant|>") },
    { .name = "phi3",
      .turns = { PHI3("system"), PHI3("user"), PHI3("assistant") },
      .open = TOKEN("<|assistant|>") "\n", .strip = true },
    /* Falcon 3, OLMo 2, Tulu: as zephyr, but only an answer has an end. */
    { .name = "tulu",
      .turns = { { MAYBE("<|system|>") "\n", "\n" },
                 { MAYBE("<|user|>") "\n", "\n" },
                 ZEPHYR("assistant") },
      .open = MAYBE("<|assistant|>") "\n" },
    { .name = "zephyr",
      .turns = { ZEPHYR("system"), ZEPHYR("user"), ZEPHYR("assistant") },
      .open = MAYBE("<|assistant|>") "\n" },
    { .name = "gemma",
      .turns = { { "", "\n\n" }, GEMMA("user"), GEMMA("model") },
      .open = TOKEN("<start_of_turn>") "model\n",
      .merged = true, .bos = true,
      .trim = 1u << GG_ROLE_USER | 1u << GG_ROLE_ASSISTANT },
    { .name = "harmony",
      .turns = { { TOKEN("<|start|>") "developer" TOKEN("<|message|>")
                       "# Instructions\n\n",
                   TOKEN("<|end|>") },
                 { TOKEN("<|start|>") "user" TOKEN("<|message|>"),
                   TOKEN("<|end|>") },
                 { TOKEN("<|start|>") "assistant" TOKEN("<|channel|>") "final"
                       TOKEN("<|message|>"),
                   TOKEN("<|end|>") } },
      .prelude = TOKEN("<|start|>") "system" TOKEN("<|message|>")
          "You are ChatGPT, a large language model trained by OpenAI.\n"
          "Knowledge cutoff: 2024-06\n\nReasoning: medium\n\n"
          "# Valid channels: analysis, commentary, final. "
          "Channel must be included for every message." TOKEN("<|end|>"),
      .open = TOKEN("<|start|>") "assistant" },
    { .name = "command-r",
      .turns = { COHERE("SYSTEM_TOKEN"), COHERE("USER_TOKEN"),
                 COHERE("CHATBOT_TOKEN") },
      .open = TOKEN("<|START_OF_TURN_TOKEN|>") TOKEN("<|CHATBOT_TOKEN|>"),
      .bos = true, .trim = 1u << GG_ROLE_USER | 1u << GG_ROLE_ASSISTANT },
    { .name = "llama3.1",
      .turns = { { TOKEN("<|start_header_id|>") "system"
                       TOKEN("<|end_header_id|>") "\n\n"
                       "Cutting Knowledge Date: December 2023\n"
                       "Today Date: 26 Jul 2024\n\n",
                   TOKEN("<|eot_id|>") },
                 HEADER("user"), HEADER("assistant"), HEADER("ipython") },
      .open = TOKEN("<|start_header_id|>") "assistant"
          TOKEN("<|end_header_id|>") "\n\n",
      .system = "", .bos = true,
      .trim = 1u << GG_ROLE_SYSTEM | 1u << GG_ROLE_USER |
          1u << GG_ROLE_ASSISTANT },
    { .name = "llama3",
      .turns = { HEADER("system"), HEADER("user"), HEADER("assistant"),
                 HEADER("ipython") },
      .open = TOKEN("<|start_header_id|>") "assistant"
          TOKEN("<|end_header_id|>") "\n\n",
      .bos = true, .trim = ALL },
    { .name = "llama4",
      .turns = { HEADER4("system"), HEADER4("user"), HEADER4("assistant"),
                 HEADER4("ipython") },
      .open = TOKEN("<|header_start|>") "assistant" TOKEN("<|header_end|>")
          "\n\n",
      .bos = true, .trim = ALL },
    { .name = "deepseek-coder",
      .turns = { { "", "" }, { "### Instruction:\n", "\n" },
                 { "### Response:\n", "\n" TOKEN("<|EOT|>") "\n" } },
      .open = "### Response:\n",
      .system = "You are an AI programming assistant, utilizing the Deepseek "
          "Coder model, developed by Deepseek Company, and you only answer "
          "questions related to computer science. For politically sensitive "
          "questions, security and privacy issues, and other non-computer "
          "science questions, you will refuse to answer\n",
      .bos = true },
    { .name = "deepseek3.1",
      .turns = { { "", "" }, { MAYBE(USER), "" },
                 { MAYBE(ASSISTANT) MAYBE("</think>"), EOS } },
      .open = MAYBE(ASSISTANT) MAYBE("</think>"), .bos = true },
    { .name = "deepseek-r1",
      .turns = { { "", "" }, { TOKEN(USER), "" }, { TOKEN(ASSISTANT), EOS } },
      .open = TOKEN(ASSISTANT) MAYBE("<think>") "\n", .bos = true },
    { .name = "deepseek3",
      .turns = { { "", "" }, { TOKEN(USER), "" }, { TOKEN(ASSISTANT), EOS } },
      .open = TOKEN(ASSISTANT), .bos = true },
    /* DeepSeek LLM's and V2's. */
    { .name = "deepseek2",
      .turns = { { "", "\n\n" }, { "User: ", "\n\n" },
                 { "Assistant: ", EOS } },
      .open = "Assistant:", .bos = true },
    { .name = "granite",
      .turns = { GRANITE("system"), GRANITE("user"), GRANITE("assistant"),
                 GRANITE("tool") },
      .open = TOKEN("<|start_of_role|>") "assistant" TOKEN("<|end_of_role|>") },
    { .name = "openchat",
      .turns = { { "GPT4 Correct System: ", TOKEN("<|end_of_turn|>") },
                 { "GPT4 Correct User: ", TOKEN("<|end_of_turn|>") },
                 { "GPT4 Correct Assistant: ", TOKEN("<|end_of_turn|>") } },
      .open = "GPT4 Correct Assistant:", .bos = true },
    { .name = "vicuna",
      .turns = { { "", " " }, { "USER: ", " " }, { "ASSISTANT: ", EOS } },
      .open = "ASSISTANT:",
      .system = "A chat between a curious user and an artificial intelligence "
          "assistant. The assistant gives helpful, detailed, and polite "
          "answers to the user's questions.",
      .bos = true },
    { .name = "alpaca",
      .turns = { { "", "\n\n" }, { "### Instruction:\n", "\n\n" },
                 { "### Response:\n", EOS } },
      .open = "### Response:\n",
      .system = "Below is an instruction that describes a task. Write a "
          "response that appropriately completes the request." },
    /* For files without a template: found by name only. */
    { .name = "exaone3",
      .turns = { { TOKEN("[|system|]"), TOKEN("[|endofturn|]") "\n" },
                 { TOKEN("[|user|]"), "\n" },
                 { TOKEN("[|assistant|]"), TOKEN("[|endofturn|]") "\n" } },
      .open = TOKEN("[|assistant|]"), .system = "" },
    { .name = "exaone-moe",
      .turns = { EXAONE_MOE("system"), EXAONE_MOE("user"),
                 EXAONE_MOE("assistant"), EXAONE_MOE("tool") },
      .open = TOKEN("<|assistant|>") "\n", .trim = ALL },
    /* GLM's answers end with the token of whoever speaks next. */
    { .name = "glm4",
      .turns = { GLM("system"), GLM("user"), GLM("assistant"),
                 GLM("observation") },
      .prelude = TOKEN("[gMASK]") TOKEN("<sop>"),
      .open = TOKEN("<|assistant|>") "\n" },
    { .name = "glm4.5",
      .turns = { GLM("system"), GLM("user"),
                 { TOKEN("<|assistant|>") "\n" MAYBE("<think>")
                       MAYBE("</think>") "\n", "" },
                 GLM_TOOL },
      .prelude = TOKEN("[gMASK]") TOKEN("<sop>"),
      .open = TOKEN("<|assistant|>"), .trim = 1u << GG_ROLE_ASSISTANT },
    { .name = "seed-oss",
      .turns = { SEED("system"), SEED("user"), SEED("assistant"),
                 SEED("tool") },
      .open = TOKEN("<seed:bos>") "assistant\n",
      .trim = 1u << GG_ROLE_ASSISTANT },
    { .name = "gemma4",
      .turns = { GEMMA4("system"), GEMMA4("user"), GEMMA4("model") },
      .open = TOKEN("<|turn>") "model\n" MAYBE("<|channel>") "thought\n"
          MAYBE("<channel|>"),
      .bos = true, .trim = ALL },
    { .name = "minimax-m2",
      .turns = { MINIMAX("system"), MINIMAX("user"), MINIMAX("ai") },
      .prelude = TOKEN("]~!b["),
      .open = TOKEN("]~b]") "ai\n" MAYBE("<think>") "\n",
      .system = "You are a helpful assistant." },
    { .name = "dots1",
      .turns = { { TOKEN("<|system|>"), TOKEN("<|endofsystem|>") },
                 { TOKEN("<|userprompt|>"), TOKEN("<|endofuserprompt|>") },
                 { TOKEN("<|response|>"), TOKEN("<|endofresponse|>") } },
      .open = TOKEN("<|response|>") },
    { .name = "ernie4.5",
      .turns = { { "", "\n" }, { "User: ", "\n" },
                 { "Assistant: ", TOKEN("<|end_of_sentence|>") } },
      .prelude = TOKEN("<|begin_of_sentence|>"),
      .open = "Assistant: " },
    { .name = "hunyuan-moe",
      .turns = { { "", TOKEN("<|extra_4|>") },
                 { TOKEN("<|startoftext|>"), TOKEN("<|extra_0|>") },
                 { "", TOKEN("<|eos|>") } },
      .open = "", .merged = true, .joint = true },
    { .name = "hunyuan-dense",
      .turns = { { "", TOKEN(HUNYUAN("place" BLANK "holder" BLANK "no" BLANK
                                     "3")) },
                 { TOKEN(HUNYUAN("User")), "" },
                 { TOKEN(HUNYUAN("Assistant")),
                   TOKEN(HUNYUAN("place" BLANK "holder" BLANK "no" BLANK
                                 "2")) } },
      .open = TOKEN(HUNYUAN("Assistant")), .bos = true },
    /* No system's message. */
    { .name = "orion",
      .turns = { { "", "\n\n" }, { "Human: ", "\n\nAssistant: " EOS },
                 { "", EOS } },
      .open = "", .merged = true, .bos = true },
    { .name = NULL },
};
/* clang-format on */
