"""Words and forms of English that dates, names and own speech are read by.

``data/`` holds the words and phrases, one subject a file, with comments and examples: extend them
there. The modules hold small pure functions around them, one subject each:

    notation        phrases as the data files have them, compiled into patterns
    tables          the data files
    words           forms of a word: verb forms, nouns, adverbs
    calendar        months, weekdays, units of time
    relative_dates  "next Friday" as a date
    windows         stretches of time that a question or a filter names
    due             the day on which something is due
    tenses          wording of the past
    numbers         spelled numbers
    names           proper names
    commands        sentences that begin with a verb in the imperative
    layers          questions for a tier of the history

Everything here is English. The words of other languages are in `domain.languages`.
"""
