# Doxygen's input filter for the project's pages, which are written for a repository: headings get
# the anchors that they have there, links to pages, headers and examples become references, which
# Doxygen resolves or complains of, and links to what the reference does not have become plain text.
#
# Usage: awk -f docs/doxygen/pages.awk PAGE, in the project's root.

# What a heading's text becomes as an anchor: lower case, letters, digits and hyphens only.
function anchor_of(text) {
  gsub(/\]\([^)]*\)/, "", text)
  text = tolower(text)
  gsub(/[^a-z0-9_ -]/, "", text)
  gsub(/ /, "-", text)
  return text
}
function page_of(path) { sub(/.*\//, "", path); sub(/\.md$/, "", path); return tolower(path) }

# The reference that `target` becomes; "" if there is nothing to refer to.
function reference(target,    anchor, at) {
  if (target ~ /^[a-z]+:/) return target
  if (at = index(target, "#")) { anchor = substr(target, at + 1); target = substr(target, 1, at - 1) }
  if (target == "") return "@ref " page "_" anchor
  if (target ~ /\.md$/) {
    if (anchor != "") return "@ref " page_of(target) "_" anchor
    return page_of(target) == "readme" ? "@ref index" : "@ref page_" page_of(target)
  }
  if (target ~ /include\/polychron\/[a-z0-9_]*\.hpp$/) { sub(/.*\//, "", target); return "@ref " target }
  if (target ~ /examples\/(quickstart|server|session|stress|tracing)\/.*\.cpp$/) {
    sub(/.*examples\//, "", target); return "@ref " target
  }
  return ""
}

# `text` with its links, [text](target), rewritten; code stays. Text may span lines.
function linked(text,    out, close_at, open_at, label, target, image) {
  while (match(text, /`[^`]*`|\]\([^()]*\)/)) {
    if (substr(text, RSTART, 1) == "`") {
      out = out substr(text, 1, RSTART + RLENGTH - 1)
      text = substr(text, RSTART + RLENGTH)
      continue
    }
    out = out substr(text, 1, RSTART - 1)
    target = substr(text, RSTART + 2, RLENGTH - 3)
    text = substr(text, RSTART + RLENGTH)
    for (open_at = length(out); open_at > 0 && substr(out, open_at, 1) != "["; --open_at) {}
    label = substr(out, open_at + 1)
    out = substr(out, 1, open_at - 1)
    image = out ~ /!$/
    if (image) { sub(/.*\//, "", target); gsub(/\n/, " ", label) }
    else target = reference(target)
    out = out (target == "" ? label : "[" label "](" target ")")
  }
  return out text
}

BEGIN { page = page_of(ARGV[1]) }
/^```/ { fenced = !fenced; if (fenced) { printf "%s", linked(text); text = "" } print; next }
fenced { print; next }
/^# / { print $0 (page == "readme" ? "" : " {#page_" page "}"); next }
/^##+ / {
  heading = $0; sub(/^#+ /, "", heading)
  text = text $0 " {#" page "_" anchor_of(heading) "}\n"
  next
}
{ text = text $0 "\n" }
END { printf "%s", linked(text) }
