"""The layer every language-model plugin stands on: calls with cache, retries and usage; patient, reader and judge on them."""
