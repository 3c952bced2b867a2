"""Language models at OpenAI-compatible endpoints, in every role."""
