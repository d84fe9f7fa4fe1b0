# Shows the output of `node --test --test-reporter=spec`, and ends it in the line that scripts/test.sh counts:
# "N passed, N failed, N skipped". Exits non-zero if any failed, or if nothing was counted.
{ print; fflush() }
$2 == "pass" && NF == 3 { passed = $3 }
$2 == "fail" && NF == 3 { failed += $3; counted = 1 }
$2 == "cancelled" && NF == 3 { failed += $3 }
$2 == "skipped" && NF == 3 { skipped = $3 }
END {
  if (!counted) failed = 1
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  exit failed > 0
}
