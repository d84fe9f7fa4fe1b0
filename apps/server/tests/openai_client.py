"""OpenAI's own client, unmodified, against a real server with tiny models of text.

Usage: openai_client.py PROGRAM MODELS. Exits with 77, and says why, where the client cannot be had.
"""
import asyncio
import itertools
import sys

from clients import SKIPPED, Server, need

CHAT = {"model": "tiny", "messages": [{"role": "system", "content": "Be brief."},
                                      {"role": "user", "content": "hello"}]}
PROMPT = {"model": "tiny", "prompt": "hello"}


def texts(client):
    chat = client.chat.completions.create(**CHAT, max_completion_tokens=12, temperature=0)
    assert chat.object == "chat.completion" and chat.id.startswith("chatcmpl-"), chat
    assert chat.choices[0].message.role == "assistant"
    assert chat.choices[0].finish_reason in ("stop", "length")
    assert chat.usage.total_tokens == chat.usage.prompt_tokens + chat.usage.completion_tokens
    completion = client.completions.create(**PROMPT, max_tokens=12, seed=5, temperature=1)
    again = client.completions.create(**PROMPT, max_tokens=12, seed=5, temperature=1)
    assert completion.choices[0].text == again.choices[0].text
    return chat.choices[0].message.content, completion.choices[0].text


def streams(client, chat, completion):
    parts = list(client.chat.completions.create(
        **CHAT, max_completion_tokens=12, temperature=0, stream=True,
        stream_options={"include_usage": True}))
    assert parts[0].choices[0].delta.role == "assistant"
    assert parts[-1].usage.completion_tokens > 0 and not parts[-1].choices
    assert "".join(part.choices[0].delta.content or "" for part in parts[:-1]) == chat
    parts = client.completions.create(**PROMPT, max_tokens=12, seed=5, temperature=1, stream=True)
    assert "".join(part.choices[0].text for part in parts) == completion
    # A client that leaves its stream: the server goes on with others.
    with client.completions.create(**PROMPT, max_tokens=150, stream=True) as left:
        assert len(list(itertools.islice(left, 2))) == 2


def probabilities(client, chat):
    asked = {**CHAT, "max_completion_tokens": 12, "temperature": 0, "logprobs": True,
             "top_logprobs": 4}
    whole = client.chat.completions.create(**asked)
    tokens = whole.choices[0].logprobs.content
    assert whole.choices[0].message.content == chat
    assert len(tokens) == whole.usage.completion_tokens
    for token in tokens:
        assert token.logprob <= 0 and len(token.top_logprobs) == 4, token
        assert token.top_logprobs[0].token == token.token, token  # the most probable one
    parts = client.chat.completions.create(**asked, stream=True)
    streamed = [token for part in parts if part.choices[0].logprobs
                for token in part.choices[0].logprobs.content]
    assert streamed == tokens, (streamed, tokens)
    parts = client.completions.create(**PROMPT, max_tokens=12, seed=5, temperature=1, logprobs=5)
    found = parts.choices[0].logprobs
    assert found.text_offset[0] == 0 and len(found.tokens) == len(found.token_logprobs) > 0
    assert all(len(top) == 5 for top in found.top_logprobs), found


def vectors(client):
    texts = ["hello world", "hello", "! ! ! ! ! ! ! ! ! ! !"]
    wanted = {"model": "sentences", "input": texts}
    coded = client.embeddings.create(**wanted)  # the client asks for base64 and decodes it
    plain = client.embeddings.create(**wanted, encoding_format="float")
    assert coded.object == "list" and coded.usage.total_tokens == 4 + 3 + 13, coded
    for one, other, text in zip(coded.data, plain.data, texts, strict=True):
        assert one.index == other.index and len(one.embedding) == 4
        alone = client.embeddings.create(model="sentences", input=text).data[0].embedding
        for a, b, c in zip(one.embedding, other.embedding, alone, strict=True):
            assert abs(a - b) < 1e-6 and abs(a - c) < 1e-6, (one, other, alone)
        assert abs(sum(a * a for a in one.embedding) - 1) < 1e-5, one
    tokens = client.embeddings.create(model="sentences", input=[[2, 5, 6, 3]])
    assert tokens.data[0].embedding == coded.data[0].embedding


def errors(openai, client):
    for kind, field, change in (
            (openai.NotFoundError, "model", {"model": "none"}),
            (openai.BadRequestError, "n", {"n": 2}),
            (openai.BadRequestError, "min_p", {"extra_body": {"min_p": 0.1}}),
            (openai.BadRequestError, "tools",
             {"tools": [{"type": "function", "function": {"name": "f"}}]})):
        try:
            client.chat.completions.create(**{**CHAT, **change})
        except kind as error:
            assert error.param == field and error.type == "invalid_request_error", error
        else:
            raise AssertionError(f"not refused: {change}")


async def many(openai, base, chat):
    async with openai.AsyncOpenAI(base_url=base, api_key="none") as client:
        answers = await asyncio.gather(*(
            client.chat.completions.create(**CHAT, max_completion_tokens=12, temperature=0)
            for _ in range(8)))
    assert {answer.choices[0].message.content for answer in answers} == {chat}


def main():
    openai = need("openai")
    if not openai:
        sys.exit(SKIPPED)
    with Server(*sys.argv[1:3]) as server:
        base = f"http://{server.http}/v1"
        with openai.OpenAI(base_url=base, api_key="none") as client:
            assert [model.id for model in client.models.list()] == ["sentences", "tiny"]
            assert client.models.retrieve("tiny").owned_by == "polychron"
            chat, completion = texts(client)
            streams(client, chat, completion)
            probabilities(client, chat)
            vectors(client)
            errors(openai, client)
        asyncio.run(many(openai, base, chat))
    print("passed: openai", openai.__version__)


main()
