"""Language that has a grammar: own speech, sentences, dates, requests to forget."""
