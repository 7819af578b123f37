# The characters of the hypothesis per character of the first reference, at most 1, as a metric in awk.
#
# It reads the JSON that Steelyard writes, one object per line. Text without backslashes is enough for this example:
# a segment that has one gets no score (null), rather than a wrong one.
{
    if ($0 ~ /\\/ || !match($0, /"id": "[0-9]+"/)) { score("null"); next }
    hypothesis = text("\"hypothesis\": \"")
    reference = text("\"references\": \\[\"")
    longer = length(hypothesis) > length(reference) ? length(hypothesis) : length(reference)
    shorter = length(hypothesis) + length(reference) - longer
    score(longer ? sprintf("%.6f", shorter / longer) : "null")
}

function text(before,    rest) {
    match($0, before)
    rest = substr($0, RSTART + RLENGTH)
    return substr(rest, 1, index(rest, "\"") - 1)
}

function score(value) {
    match($0, /"id": "[0-9]+"/)
    print "{" substr($0, RSTART, RLENGTH) ", \"score\": " value "}"
}
