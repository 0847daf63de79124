"""Clients of language models: one adaptive client for every endpoint and task.

chat        the port `ChatModel`: messages and a JSON schema in, text and usage out
endpoint    the client: retries, circuit breaker, costs, adaption to what the endpoint takes
dialect     the options of a request that an endpoint may refuse, and how they are learnt
openai      the form of OpenAI's chat completions, which most servers speak
transport   POST over HTTP with bounds on time and size
refusals    what the refusal of a request means
json_text   find the JSON document in a model's text
"""
