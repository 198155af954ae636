"""llm_gg.py - gg-generate's models in llm (PyPI: llm)

    llm install /path/to/llm-gg
    llm -m gg -o file model.gguf -o temperature 0 'Why is the sky blue?'
    llm embed -m gg -c 'a text'

The model gg is the one that gg-generate takes when none is named, or -o file;
gg/NAME are those that gg-fetch has installed. -o flags, or else LLM_GG_OPTIONS,
has more options of gg-generate's: "-t 4 --device cuda". One gg-generate stays
while llm runs; answers come whole, as records do."""
import json
import os
import shlex
import subprocess
import threading
from typing import Optional
import llm
from llm.parts import StreamEvent
from pydantic import Field

running = {}  # a gg-generate of each command
lock = threading.Lock()


def ask(command, url, body):
    """The body of the answer to a request as in OpenAI's batch files."""
    record = json.dumps({"custom_id": "llm", "url": url, "body": body})
    with lock:
        process = running.get(command)
        if not process or process.poll() is not None:
            process = running[command] = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            process.stdin.write(record.encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        except BaseException:  # its answer would be taken for the next one's
            running.pop(command).kill()
            raise
        if not line.endswith(b"\n"):
            raise llm.ModelError(f"gg-generate ended: {process.wait()}")
    answer = json.loads(line)["response"]
    if answer["status_code"] != 200:
        raise llm.ModelError(answer["body"]["error"]["message"])
    return answer["body"]


def command(file, flags=None):
    more = flags or os.environ.get("LLM_GG_OPTIONS", "")
    return ("gg-generate", "--jsonl", "-q", "--batch", "1",
            *(("-m", file) if file else ()), *shlex.split(more))


def messages(m):
    """What one of llm's messages is in OpenAI's form: results, and its own."""
    parts = [part.to_dict() for part in m.parts]

    def text(kind):
        return "".join(p["text"] for p in parts if p["type"] == kind)

    out = [{"role": "tool", "tool_call_id": p.get("tool_call_id"),
            "name": p["name"], "content": p["output"] or p.get("exception", "")}
           for p in parts if p["type"] == "tool_result"]
    calls = [{"id": p.get("tool_call_id"), "type": "function", "function": {
        "name": p["name"], "arguments": json.dumps(p["arguments"])}}
        for p in parts if p["type"] == "tool_call"]
    own = [("content", text("text")), ("tool_calls", calls),
           ("reasoning_content", text("reasoning"))]
    own = {name: value for name, value in own if value}
    return out + [{"role": m.role, "content": "", **own}] if own else out


class GG(llm.Model):
    supports_schema = supports_tools = True

    class Options(llm.Options):
        file: Optional[str] = Field(None, description="The model's file")
        flags: Optional[str] = Field(None, description="gg-generate's options")
        max_tokens: Optional[int] = Field(None, description="At most so many")
        temperature: Optional[float] = Field(None, description="0 is greedy")
        top_k: Optional[int] = Field(None, description="Among the k likeliest")
        top_p: Optional[float] = Field(None, description="Among this mass")
        min_p: Optional[float] = Field(None, description="Of the likeliest's")
        repeat_penalty: Optional[float] = Field(None, description="1 is none")
        seed: Optional[int] = Field(None, description="Same seed, same answer")
        stop: Optional[str] = Field(None, description="Ends the answer")
        reasoning: Optional[str] = Field(None, description="on, off or auto")

    def __init__(self, model_id, file=None):
        self.model_id, self.file = model_id, file

    def execute(self, prompt, stream, response, conversation=None):
        body = prompt.options.model_dump(exclude_none=True)
        file = body.pop("file", None) or self.file
        run = command(file, body.pop("flags", None))
        body["messages"] = sum(map(messages, prompt.messages), [])
        if prompt.schema:
            body["response_format"] = {"type": "json_schema", "json_schema": {
                "name": "answer", "schema": prompt.schema}}
        if prompt.tools:
            body["tools"] = [{"type": "function", "function": {
                "name": t.name, "description": t.description or "",
                "parameters": t.input_schema}} for t in prompt.tools]
        response.response_json = answer = ask(run, "/v1/chat/completions", body)
        response.set_usage(input=answer["usage"]["prompt_tokens"],
                           output=answer["usage"]["completion_tokens"])
        said = answer["choices"][0]["message"]
        if said.get("reasoning_content"):
            yield StreamEvent("reasoning", said["reasoning_content"])
        for call in said.get("tool_calls") or []:
            response.add_tool_call(llm.ToolCall(
                call["function"]["name"],
                json.loads(call["function"]["arguments"]), call["id"]))
        yield said.get("content") or ""


class Embed(llm.EmbeddingModel):
    batch_size = 64
    __init__ = GG.__init__

    def embed_batch(self, items, key=None):
        body = {"input": list(items)}
        answer = ask(command(self.file), "/v1/embeddings", body)
        return (row["embedding"] for row in answer["data"])


def models():
    yield "gg", None  # a name, a file
    try:
        done = subprocess.run(["gg-fetch", "--installed"], capture_output=True)
    except OSError:
        return
    for line in done.stdout.decode(errors="replace").splitlines():
        name = line.split("\t")[0]
        yield "gg/" + name.removesuffix(".gguf"), name


@llm.hookimpl
def register_models(register):
    for model in models():
        register(GG(*model))


@llm.hookimpl
def register_embedding_models(register):
    for model in models():
        register(Embed(*model))
