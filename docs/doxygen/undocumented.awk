# Counts what is public in Doxygen's XML (once, where others inherit it), and names what has no
# documentation: also namespaces and values of enumerations, of which Doxygen itself does not warn.
#
# Usage: awk -f docs/doxygen/undocumented.awk FILE.xml...; prints a line for each that is not
# documented, and last "DOCUMENTED of ALL".

function attribute(line, name) {
  if (!match(line, " " name "=\"[^\"]*\"")) return ""
  return substr(line, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
}
function text_of(line, tag) {
  sub(".*<" tag "[^>]*>", "", line); sub("</" tag ">.*", "", line)
  return line
}
function close_item(item) {
  if (!public[item] || hidden || counted[place[item] " " owner[item] simple[item]]++) return
  ++all
  if (said[item]) ++documented
  else print place[item] ": " owner[item] name[item] " is not documented"
}

FNR == 1 { depth = hidden = 0 }
/<compounddef / { hidden = attribute($0, "prot") ~ /private|protected/ }
/<compounddef |<memberdef |<enumvalue / {
  ++depth
  said[depth] = 0
  name[depth] = ""
  owner[depth] = /<enumvalue / ? name[depth - 1] "::" : ""
  place[depth] = "include/polychron"  # of values of enumerations no line is told
  public[depth] = attribute($0, "prot") == "public" || attribute($0, "kind") == "namespace"
}
depth && /<name>|<compoundname>/ && name[depth] == "" { name[depth] = simple[depth] = text_of($0, "[a-z]*name") }
depth && /<qualifiedname>/ { name[depth] = text_of($0, "qualifiedname") }
# What cannot be called, and destructors.
depth && /<argsstring>.*=delete<|<name>~/ { public[depth] = 0 }
depth && /<para>/ { said[depth] = 1 }
depth && /<location / { place[depth] = attribute($0, "file") ":" attribute($0, "line") }
/<\/(compounddef|memberdef|enumvalue)>/ { close_item(depth); --depth }
END { print documented + 0 " of " all + 0 }
