# Doxygen's input filter for the public headers. Joins what stands elsewhere, and keeps each line's
# number:
#
# - Methods of GraphBuilder that pass on an operator's name get that operator's row of the table,
#   from docs/operators.md. One without a row stays undocumented, which is an error.
# - The comment at a file's head becomes the file's description.
# - "// -- a section ---" within a class becomes a group of members.
# - What a class says of order, errors and threads becomes a paragraph each.
# - What is private goes.
#
# Usage: awk -f docs/doxygen/headers.awk HEADER, in the project's root.

function escaped(text) {
  gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text)
  gsub(/[@\\]/, "\\\\&", text)
  return text
}
function trimmed(text) { gsub(/^ +| +$/, "", text); return text }

# "a: any<br>b: as a" as lines of code.
function coded(cell,    lines, count, i, at, text) {
  count = split(cell, lines, "<br>")
  for (i = 1; i <= count; ++i) {
    at = index(lines[i], ":")
    text = text (i > 1 ? "<br>" : "") "<code>" substr(lines[i], 1, at - 1) "</code>" \
           escaped(substr(lines[i], at))
  }
  return text
}
function table_line(name, cell) {
  return cell == "" ? "" : "<tr><th>" name "</th><td>" cell "</td></tr>"
}

# The rows: | [name](address) | computes | operands | results | shapes | attributes | tolerance |
function read_rows(    line, cells, name, address) {
  while ((getline line <"docs/operators.md") > 0) {
    if (line !~ /^\| \[/ || split(line, cells, "|") != 9) continue
    name = cells[2]; sub(/^ *\[/, "", name); sub(/\].*/, "", name)
    address = cells[2]; sub(/^[^(]*\(/, "", address); sub(/\).*/, "", address)
    computes[name] = "Computes " escaped(trimmed(cells[3])) "."
    details[name] = "<table class=\"operator\">" \
      table_line("Operands", coded(trimmed(cells[4]))) \
      table_line("Results", coded(trimmed(cells[5]))) \
      table_line("Shape", escaped(trimmed(cells[6]))) \
      table_line("Attributes", escaped(trimmed(cells[7]))) \
      table_line("Tolerance", escaped(trimmed(cells[8]))) \
      table_line("WebNN", address ~ /^https:/ ? "<a href=\"" address "\">" name "</a>" \
                                              : "has no such operator") "</table>"
  }
}

# Prints what was kept back: a method's comment, if it has one, and its lines up to the operator's
# name.
function release(operator,    i, first, last) {
  if (operator in computes) {
    for (i = 1; i <= kept; ++i)
      if (lines[i] ~ /^ *\/\/\//) { if (!first) first = i; last = i }
    if (first) {
      sub(/\/\/\/ /, "/// " computes[operator] " ", lines[first])
      lines[last] = lines[last] " " details[operator]
    } else {
      lines[1] = "/** " computes[operator] " " details[operator] " */ " lines[1]
    }
  }
  for (i = 1; i <= kept; ++i) print lines[i]
  kept = 0
}

# The comment at the head is the file's.
FNR == 1 { head = 1; print "/// @file" }
head && /^\/\// { sub(/^\/\/   /, "//     "); print "/" $0; next }
head { head = 0; next }  # "#pragma once" makes up for the line more

BEGIN { builder = ARGV[1] ~ /graph_builder\.hpp$/; if (builder) read_rows() }

/^\/\/\/ (Order|Errors|Names|Attributes|Bytes|Thread-safety|The end|Source)[.:] / {
  at = match($0, /[.:] /)
  $0 = "/// <p><b>" substr($0, 5, at - 4) "</b>" substr($0, at + 1)
}
/^  \/\/ -- / {
  release("")
  title = $0; sub(/^ *\/\/ -- /, "", title); sub(/ *-*$/, "", title)
  print (grouped ? "/**@}*/ " : "") "/** @name " toupper(substr(title, 1, 1)) substr(title, 2) " */ /**@{*/"
  grouped = 1
  next
}
/^  \/\/ -+$/ { print ""; next }
/^ (private|protected):|^};/ {
  release("")
  print (grouped ? "/**@}*/" : "") (/^}/ ? $0 : "")
  grouped = 0
  private = !/^}/
  next
}
private { print ""; next }
builder && /^  (\/\/\/|Operand |std::vector<Operand> )/ || kept {
  lines[++kept] = $0
  if (match($0, /(one|apply|several)\( *"[A-Za-z0-9]+"/) || (wanted && match($0, /"[A-Za-z0-9]+"/))) {
    operator = substr($0, RSTART, RLENGTH); gsub(/^[^"]*"|"$/, "", operator)
    release(operator)
    wanted = 0
  } else if ($0 ~ /(one|apply|several)\($/) {
    wanted = 1
  } else if ($0 ~ /;$|^ *}$|^$/) {
    release("")
  }
  next
}
{ print }
END { release("") }
