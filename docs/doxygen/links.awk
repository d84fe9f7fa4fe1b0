# Finds links of HTML pages to pages and places that are not among them.
#
# Usage: awk -f docs/doxygen/links.awk PAGE.html...; prints a line for each.

function base(path) { sub(/.*\//, "", path); return path }

FNR == 1 { here = base(FILENAME); folder = FILENAME; sub(/[^\/]*$/, "", folder); pages[here] = 1 }
{
  rest = $0
  while (match(rest, / (id|name|href|src)="[^"]*"/)) {
    found = substr(rest, RSTART + 1, RLENGTH - 2)
    rest = substr(rest, RSTART + RLENGTH)
    at = index(found, "=\"")
    value = substr(found, at + 2)
    if (found ~ /^(id|name)/) places[here "#" value] = 1
    else if (value !~ /^([a-z]+:|$)/) links[here SUBSEP value] = 1
  }
}
END {
  for (link in links) {
    split(link, parts, SUBSEP)
    from = parts[1]; target = parts[2]
    if (target ~ /^#/) target = from target
    page = target; sub(/[#?].*/, "", page)
    if (page in pages) {
      if (target ~ /#./ && !(target in places)) print from " links to " target ", which is not there"
    } else if ((getline line <(folder page)) < 0) {
      print from " links to " target ", which is not there"
    } else {
      close(folder page)
    }
  }
}
