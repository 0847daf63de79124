"""The rules of English that extraction and consolidation share.

``data/`` holds the words and phrases, one subject a file, with comments and examples: extend them
there. The modules hold small pure functions around them, one subject each:

    notation        phrases as the data files have them, compiled into patterns
    tables          the data files
    words           forms of a word: verb forms, nouns, adverbs
    lexicon         words by meaning: opposites, classes of things, synonyms
    articles        "a" and "an"
    calendar        months, weekdays, units of time
    dates           dates and times in a folded text
    relative_dates  "next Friday" as a date
    windows         stretches of time that a question or a filter names
    numbers         numbers, and figures with their units
    names           proper names
    persons         words for the speaker and for others; the third person
    negation        "not", "never", "no"
    tenses          past, lasting and passive wording
    hedges          wording that leaves a statement open, or says that something changed
    spelling        hasty spelling made regular
    folding         a text in lower case, with contractions and numbers written out
    openers         greetings, exclamations and names around a sentence
    questions       questions, and those put behind a statement
    sentences       the sentences of a message that state something
    subjects        subject and verb of a clause in the first person
    statements      a sentence cut into statements that stand alone
    fragments       whole clauses told from fragments
    pronouns        pronouns that point outside their statement
    smalltalk       talk that says nothing of its speaker
    clauses         a folded text cut into the clauses that claims are read from
    arguments       subject and objects of such a clause

Everything here is English. The words of other languages are in `domain.languages`.
"""
