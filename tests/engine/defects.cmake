# A copy of the engine's core with defects, in namespace planted_engine: searched.cpp's search has to find each. A defect
# whose text is not in its file once any more stops the configuration.
set(planted_in_engine ${CMAKE_CURRENT_BINARY_DIR}/engine)
set(engine_names "")
set(engine_defects 0)
foreach(file job_slot.hpp job_queue.hpp caller.hpp)
  file(READ ${PROJECT_SOURCE_DIR}/actors/engine/${file} content)
  string(REPLACE "actors/engine/" "planted_engine/" content "${content}")
  string(REPLACE "namespace polychron::engine" "namespace polychron::planted_engine" content "${content}")
  set(content_of_${file} "#include \"planted_engine/names.hpp\"\n${content}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/actors/engine/${file})
endforeach()

function(plant_in_engine what file text defect)
  math(EXPR count "${engine_defects} + 1")
  plant_text(content_of_${file} "${what}" ${file} "${text}" "${defect}" "(::planted_engine::defect == ${count})")
  set(content_of_${file} "${content_of_${file}}" PARENT_SCOPE)
  set(engine_defects ${count} PARENT_SCOPE)
  set(engine_names "${engine_names}    \"${what}\",\n" PARENT_SCOPE)
endfunction()

plant_in_engine("no worker is woken for a ready job" job_queue.hpp
  "    add({job, nullptr, nullptr, {}}, lock);\n    if (waiting_ > 0)"
  "    add({job, nullptr, nullptr, {}}, lock);\n    if (waiting_ > 0 && !BUG)")
plant_in_engine("a job is deferred though nobody polls" job_queue.hpp
  "polls_left_ = idle_polls;\n    call_poller();" "polls_left_ = idle_polls;\n    if (!BUG) call_poller();")
plant_in_engine("the poller runs a job and leaves nobody to poll" job_queue.hpp
  "        called_ = false;\n        call_poller();" "        called_ = false;\n        if (!BUG) call_poller();")
plant_in_engine("a poller that has a job is still taken for one" job_queue.hpp
  "polling_ = false;\n    }" "polling_ = BUG;\n    }")
plant_in_engine("a worker that was called to poll and finds nothing is still expected to come" job_queue.hpp
  "    called_ = false;\n    if (!polling_" "    if (!BUG || deferred_ > 0 || polls_left_ > 0) called_ = false;\n    if (!polling_")
plant_in_engine("the poller sleeps while a job is deferred" job_queue.hpp
  "(deferred_ > 0 || polls_left_ > 0)" "((deferred_ > 0 && !BUG) || polls_left_ > 0)")
plant_in_engine("the poller waits for a whole interval whatever is due before" job_queue.hpp
  "place = 0; deferred_ > 0; ++place" "place = 0; deferred_ > 0 && !BUG; ++place")
plant_in_engine("what is left for good is ready and nobody is woken for it" job_queue.hpp
  "      --deferred_;\n      if (waiting_ > 0)" "      --deferred_;\n      if (waiting_ > 0 && !BUG)")
plant_in_engine("the end is told to one worker" job_queue.hpp
  "closed_ = true;\n    changed_.notify_all();" "closed_ = true;\n    if (BUG) changed_.notify_one(); else changed_.notify_all();")
plant_in_engine("a thread is woken before its job is there, not after" job_slot.hpp
  "      job_ = job;\n    }\n    changed_.notify_one();" "      if (BUG) changed_.notify_one();\n    }\n    { const std::lock_guard again(mutex_); job_ = job; }\n    if (!BUG) changed_.notify_one();")
plant_in_engine("a thread does not look for a job before it sleeps" job_slot.hpp
  "changed_.wait(lock, [this]" "if (BUG && !closed_) changed_.wait(lock);\n    changed_.wait(lock, [this]")
plant_in_engine("a caller keeps a lane that has more to do" caller.hpp
  "else if (run(entry.job, true))" "else if (run(entry.job, true) && !BUG)")
plant_in_engine("a caller does not hand over what it must not run" caller.hpp
  "      entry.slot->put(entry.job);" "      BUG ? void() : entry.slot->put(entry.job);")
plant_in_engine("a caller runs what may be long" caller.hpp
  "== msg::DurationClass::unknown)" "== msg::DurationClass::unknown && !BUG)")
plant_in_engine("a caller that leaves for good leaves its jobs deferred" caller.hpp
  "if (!returns) queue_" "if (!returns && !BUG) queue_")

foreach(file job_slot.hpp job_queue.hpp caller.hpp)
  file(CONFIGURE OUTPUT ${planted_in_engine}/planted_engine/${file} CONTENT "${content_of_${file}}" @ONLY)
endforeach()
file(CONFIGURE OUTPUT ${planted_in_engine}/planted_engine/names.hpp CONTENT "#pragma once
namespace planted_engine {
inline int defect = 0;  ///< which one is there; 0: none
inline const char* const names[] = {
    nullptr,
${engine_names}    nullptr};
}  // namespace planted_engine
" @ONLY)
