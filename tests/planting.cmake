# plant_text(VARIABLE WHAT FILE TEXT DEFECT BUG): in the source text that VARIABLE has, DEFECT takes the place of TEXT, and
# the expression BUG the place of the word BUG in it. Stops the configuration unless TEXT is there once. FILE is for that
# message.
function(plant_text variable what file text defect bug)
  set(content "${${variable}}")
  string(FIND "${content}" "${text}" first)
  string(FIND "${content}" "${text}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "the defect '${what}': its text is not in ${file} once")
  endif()
  string(REPLACE "BUG" "${bug}" defect "${defect}")
  string(REPLACE "${text}" "${defect}" content "${content}")
  set(${variable} "${content}" PARENT_SCOPE)
endfunction()
