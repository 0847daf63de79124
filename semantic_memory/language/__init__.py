"""Language that has a grammar: own speech, sentences, clauses, persons."""
