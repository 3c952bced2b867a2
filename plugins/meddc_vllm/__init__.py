"""Language models in this process, on a vLLM engine, in every role."""
