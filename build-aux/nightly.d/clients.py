#!/usr/bin/env python3
# clients.py - calls of a server by the libraries that people have, and what each
# must give: clients.py CLIENT BASE, where BASE is http://127.0.0.1:PORT
import asyncio
import json
import os
import sys

SAY = [{"role": "user", "content": "Say hello."}]
CITY = {"type": "string", "enum": ["Rome", "Oslo"]}
WEATHER = {"type": "object", "properties": {"city": CITY},
           "required": ["city"], "additionalProperties": False}
SCHEMA = {"type": "object", "properties": {"yes": {"type": "boolean"}},
          "required": ["yes"], "additionalProperties": False}
SEEDED = {"model": "m", "seed": 3, "temperature": 0.7}
failed = 0


def check(name, call):
    global failed
    try:
        result = call()
        if asyncio.iscoroutine(result):
            result = asyncio.run(result)
        assert result not in (None, "", [], False), f"got {result!r}"
        print("ok  ", name, repr(result)[:60], flush=True)
    except Exception as e:
        failed += 1
        print("FAIL", name, type(e).__name__, str(e)[:400], flush=True)


def refused(kind, call):
    try:
        call()
    except kind as e:
        return str(e)
    raise AssertionError("it was not refused")


# ---- openai ----------------------------------------------------------------

def openai(base):
    import base64
    import struct
    import openai as o
    from pydantic import BaseModel

    class Answer(BaseModel):
        yes: bool

    with_key = {"base_url": base + "/v1", "api_key": "k", "max_retries": 0,
                "timeout": 300}
    c = o.OpenAI(**with_key)
    chats, completions = c.chat.completions, c.completions
    seeded = dict(SEEDED, messages=SAY, max_tokens=8)
    whole = chats.create(**seeded).choices[0].message.content
    tool = {"type": "function", "function": {
        "name": "weather", "description": "the weather of a city",
        "parameters": WEATHER, "strict": True}}
    must = {"type": "function", "function": {"name": "weather"}}

    def stream():
        usage, text, finish = None, "", None
        for x in chats.create(**seeded, stream=True,
                              stream_options={"include_usage": True}):
            usage = x.usage or usage
            for choice in x.choices:
                text += choice.delta.content or ""
                finish = choice.finish_reason or finish
        assert text == whole, (text, whole)
        assert finish == "length" and usage.completion_tokens == 8
        return text

    def helper():
        with chats.stream(**dict(seeded, max_tokens=60),
                          response_format=Answer) as s:
            for _ in s:
                pass
            end = s.get_final_completion()
        return isinstance(end.choices[0].message.parsed, Answer)

    def no_usage():
        return all(len(x.choices) == 1
                   for x in chats.create(**seeded, stream=True))

    async def use_async():
        async with o.AsyncOpenAI(**with_key) as a:
            some = await asyncio.gather(*[
                a.chat.completions.create(**seeded) for _ in range(6)])
            assert all(x.choices[0].message.content == whole for x in some)
            text = ""
            async for x in await a.chat.completions.create(**seeded,
                                                           stream=True):
                text += x.choices[0].delta.content or ""
            assert text == whole
        return True

    def stopped():
        s = chats.create(**dict(seeded, max_tokens=400), stream=True)
        next(iter(s))
        s.close()
        return chats.create(**seeded).choices[0].message.content == whole

    def tools():
        call = chats.create(**dict(seeded, max_tokens=60), tools=[tool],
                            tool_choice=must).choices[0].message.tool_calls[0]
        return call.id and call.function.name == "weather" and \
            json.loads(call.function.arguments)["city"] is not None

    def tools_stream():
        name, arguments, ids = "", "", []
        for x in chats.create(**dict(seeded, max_tokens=60), tools=[tool],
                              tool_choice=must, stream=True):
            for t in x.choices[0].delta.tool_calls or []:
                name += t.function.name or ""
                arguments += t.function.arguments or ""
                ids += [t.id] if t.id else []
        assert name == "weather" and len(ids) == 1, (name, ids)
        return json.loads(arguments)["city"] is not None

    def after_tools():
        return chats.create(**dict(seeded, messages=SAY + [
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c1", "type": "function", "function": {
                    "name": "weather", "arguments": '{"city":"Rome"}'}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "rain"}]),
            tools=[tool]).choices[0].finish_reason

    def parse():
        got = chats.parse(**dict(seeded, max_tokens=30),
                          response_format=Answer).choices[0].message.parsed
        return isinstance(got, Answer)

    def schema():
        got = chats.create(**dict(seeded, max_tokens=30), response_format={
            "type": "json_schema", "json_schema": {
                "name": "a", "schema": SCHEMA, "strict": True}})
        return isinstance(json.loads(got.choices[0].message.content)["yes"],
                          bool)

    def several():
        got = chats.create(**seeded, n=3, logprobs=True, top_logprobs=2)
        assert [x.index for x in got.choices] == [0, 1, 2]
        return len(got.choices[0].logprobs.content[0].top_logprobs) == 2

    def response():
        return c.responses.create(model="m", input="Say hello.",
                                  max_output_tokens=16).output_text

    def response_stream():
        text, last = "", None
        for e in c.responses.create(model="m", input="Say hello.",
                                    max_output_tokens=16, stream=True):
            text += e.delta if e.type == "response.output_text.delta" else ""
            last = e
        assert last.type in ("response.completed", "response.incomplete"), last
        return last.response.output_text == text and text

    def response_tools():
        got = c.responses.create(model="m", input="Say hello.", tools=[
            {"type": "function", "name": "weather", "parameters": WEATHER,
             "strict": True}], tool_choice={"type": "function",
                                            "name": "weather"})
        call = [x for x in got.output if x.type == "function_call"][0]
        return call.name == "weather" and json.loads(call.arguments)

    def response_parse():
        return isinstance(c.responses.parse(
            model="m", input="Say hello.", text_format=Answer).output_parsed,
            Answer)

    def embeddings():
        plain = c.embeddings.create(model="m", input=["a", "Hello there"],
                                    encoding_format="float").data
        packed = c.embeddings.create(model="m", input=["a", "Hello there"],
                                     encoding_format="base64").data
        usual = c.embeddings.create(model="m", input=["a", "Hello there"]).data
        assert [x.index for x in plain] == [0, 1]
        for a, b, u in zip(plain, packed, usual):
            raw = base64.b64decode(b.embedding)
            floats = struct.unpack(f"<{len(raw) // 4}f", raw)
            assert len(a.embedding) == len(floats) == len(u.embedding)
            assert all(abs(x - y) < 1e-5 for x, y in zip(a.embedding, floats))
        return len(plain[0].embedding)

    check("models", lambda: c.models.list().data[0].id)
    check("a model", lambda: c.models.retrieve(c.models.list().data[0].id).id)
    check("chat", lambda: whole)
    check("chat stream", stream)
    check("chat stream helper", helper)
    check("stream without usage", no_usage)
    check("async", use_async)
    check("a stream that is closed", stopped)
    check("tools", tools)
    check("tools stream", tools_stream)
    check("results of tools", after_tools)
    check("parse", parse)
    check("schema", schema)
    check("three answers, logprobs", several)
    check("completion", lambda: completions.create(
        **SEEDED, prompt="Once", max_tokens=5, logprobs=2, echo=True)
        .choices[0].logprobs.token_logprobs)
    check("completion stream", lambda: "".join(
        x.choices[0].text for x in completions.create(
            **SEEDED, prompt="Once", max_tokens=5, stream=True)))
    check("response", response)
    check("response stream", response_stream)
    check("response tools", response_tools)
    check("response parse", response_parse)
    check("embeddings", embeddings)
    check("a bad request", lambda: refused(o.BadRequestError, lambda:
          chats.create(**dict(seeded, messages=[]))))
    check("a long prompt", lambda: refused(o.BadRequestError, lambda:
          chats.create(**dict(seeded, messages=[
              {"role": "user", "content": "word " * 200000}]))))
    check("no such path", lambda: refused(o.NotFoundError, lambda:
          c.files.list()))


# ---- anthropic -------------------------------------------------------------

def anthropic(base):
    import anthropic as a

    c = a.Anthropic(base_url=base, api_key="k", max_retries=0, timeout=300)
    asked = {"model": "m", "max_tokens": 8, "messages": SAY,
             "system": "Be short."}
    tool = {"name": "weather", "description": "the weather of a city",
            "input_schema": WEATHER}
    must = {"type": "tool", "name": "weather"}

    def stream():
        with c.messages.stream(**asked) as s:
            text = "".join(s.text_stream)
            end = s.get_final_message()
        assert end.content[0].text == text and end.usage.output_tokens == 8
        assert end.stop_reason == "max_tokens", end
        return text

    async def use_async():
        async with a.AsyncAnthropic(base_url=base, api_key="k") as c2:
            async with c2.messages.stream(**asked) as s:
                return (await s.get_final_message()).content[0].text

    def tools():
        got = c.messages.create(**dict(asked, max_tokens=300), tools=[tool],
                                tool_choice=must)
        call = [x for x in got.content if x.type == "tool_use"][0]
        assert got.stop_reason == "tool_use", got.stop_reason
        return call.name == "weather" and "city" in call.input

    def tools_stream():
        with c.messages.stream(**dict(asked, max_tokens=300), tools=[tool],
                               tool_choice=must) as s:
            for _ in s:
                pass
            end = s.get_final_message()
        return "city" in [x for x in end.content
                          if x.type == "tool_use"][0].input

    def results():
        return c.messages.create(**dict(asked, messages=SAY + [
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t1", "name": "weather",
                 "input": {"city": "Rome"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1",
                 "content": [{"type": "text", "text": "rain"}]}]}]),
            tools=[tool]).stop_reason

    def count():
        n = c.messages.count_tokens(model="m", messages=SAY).input_tokens
        used = c.messages.create(model="m", messages=SAY,
                                 max_tokens=1).usage
        assert n == used.input_tokens + (used.cache_read_input_tokens or 0), \
            (n, used)
        return n

    check("models", lambda: c.models.list().data[0].id)
    check("messages", lambda: c.messages.create(**asked).content[0].text)
    check("stream", stream)
    check("async stream", use_async)
    check("tools", tools)
    check("tools stream", tools_stream)
    check("results of tools", results)
    check("count_tokens", count)
    check("a bad request", lambda: refused(a.BadRequestError, lambda:
          c.messages.create(**dict(asked, messages=[]))))


# ---- litellm ---------------------------------------------------------------

def litellm(base):
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # no network
    import litellm as l

    l.telemetry = False
    to = {"model": "openai/m", "api_base": base + "/v1", "api_key": "k"}
    asked = dict(to, messages=SAY, max_tokens=8, seed=3)

    check("completion", lambda: l.completion(**asked)
          .choices[0].message.content)
    check("effort", lambda: l.completion(**asked, reasoning_effort="low",
                                         allowed_openai_params=[
                                             "reasoning_effort"])
          .choices[0].message.content)
    check("stream", lambda: "".join(
        x.choices[0].delta.content or ""
        for x in l.completion(**asked, stream=True)))
    check("as hosted_vllm", lambda: l.completion(
        **dict(asked, model="hosted_vllm/m")).choices[0].message.content)
    check("anthropic", lambda: l.completion(
        model="anthropic/m", api_base=base, api_key="k", messages=SAY,
        max_tokens=8).choices[0].message.content)
    check("embedding", lambda: l.embedding(**to, input=["x"])
          .data[0]["embedding"][:2])
    check("async", lambda: ask_litellm(l, asked))


async def ask_litellm(l, asked):
    return (await l.acompletion(**asked)).choices[0].message.content


# ---- langchain-openai ------------------------------------------------------

def langchain(base):
    from typing import Literal

    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings
    from pydantic import BaseModel, Field

    class Answer(BaseModel):
        """An answer."""
        yes: bool = Field(description="whether it is so")

    @tool
    def weather(city: Literal["Rome", "Oslo"]) -> str:
        """The weather of a city."""
        return "rain in " + city

    m = ChatOpenAI(model="m", base_url=base + "/v1", api_key="k", seed=3,
                   max_tokens=60, timeout=300, max_retries=0)
    short = ChatOpenAI(model="m", base_url=base + "/v1", api_key="k", seed=3,
                       max_tokens=8, max_retries=0)

    def calls():
        got = m.bind_tools([weather], tool_choice="weather").invoke("Hello.")
        return got.tool_calls[0]["name"] == "weather" and \
            weather.invoke(got.tool_calls[0]).content

    def calls_stream():
        all_of = None
        for x in m.bind_tools([weather], tool_choice="weather").stream("Hi."):
            all_of = x if all_of is None else all_of + x
        return "city" in all_of.tool_calls[0]["args"]

    check("invoke", lambda: short.invoke("Say hello.").content)
    check("usage", lambda: short.invoke("Say hello.").usage_metadata)
    check("stream", lambda: "".join(x.content
                                    for x in short.stream("Say hello.")))
    check("batch", lambda: [x.content for x in short.batch(["a", "b", "c"])])
    check("bind_tools", calls)
    check("bind_tools stream", calls_stream)
    for method in "json_schema", "function_calling":
        check(f"with_structured_output {method}", lambda: isinstance(
            m.with_structured_output(Answer, method=method).invoke("Is it?"),
            Answer))
    check("embeddings of texts", lambda: OpenAIEmbeddings(
        model="m", base_url=base + "/v1", api_key="k",
        check_embedding_ctx_length=False).embed_query("hello")[:2])
    check("embeddings of ids", lambda: len(OpenAIEmbeddings(
        model="m", base_url=base + "/v1", api_key="k",
        tiktoken_enabled=False, check_embedding_ctx_length=False)
        .embed_documents(["hello", "you"])))


if __name__ == "__main__":
    {"openai": openai, "anthropic": anthropic, "litellm": litellm,
     "langchain": langchain}[sys.argv[1]](sys.argv[2].rstrip("/"))
    sys.exit(failed > 0)
