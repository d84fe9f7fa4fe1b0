# A copy of the engine's core with defects, in namespace planted_engine: searched.cpp's search has to find each.
read_for_planting(::planted_engine::defect
  actors/engine/job_slot.hpp actors/engine/job_queue.hpp actors/engine/caller.hpp kernels/team_core.hpp)

plant("no worker is woken for a ready job")
plant("a job is deferred though nobody polls")
plant("the poller runs a job and leaves nobody to poll")
plant("a poller that has a job is still taken for one" [[polling_ = BUG;]])
plant("a worker that was called to poll and finds nothing is still expected to come"
  [[if (!BUG || deferred_ > 0 || polls_left_ > 0) LINE]])
plant("the poller sleeps while a job is deferred" [[if (!polling_ && ((deferred_ > 0 && !BUG) || polls_left_ > 0)) {]])
plant("the poller waits for a whole interval whatever is due before")
plant("what is left for good is ready and nobody is woken for it")
plant("the end is told to one worker" [[if (BUG) changed_.notify_one(); else LINE]])
plant("a thread is woken before its job is there, not after"
  [[const auto set = [&](Job* to) { const std::lock_guard again(mutex_); job_ = to; };
    if (BUG) { set(nullptr); changed_.notify_one(); set(job); } else LINE]])
plant("a thread does not look for a job before it sleeps" [[if (BUG && !closed_) changed_.wait(lock); LINE]])
plant("a caller keeps a lane that has more to do" [[else if (run(entry.job, true) && !BUG)]])
plant("a caller does not hand over what it must not run" [[BUG ? void() : LINE]])
plant("a caller runs what may be long" [[if (!BUG && entry.slot->next_duration() == msg::DurationClass::unknown)]])
plant("a caller that leaves for good leaves its jobs deferred")

# -- threads that share steps
plant("a lane does not wait for the parts that helpers have in hand")
plant("a lane calls nobody")
plant("a part is taken without a look at who else takes it"
  [[if (BUG) { lane.untaken.store(now & ~part); return static_cast<std::size_t>(std::countr_zero(part)); }
    LINE]])
plant("the end of a part wakes nobody")
plant("a helper takes parts though all cores are busy")
plant("a helper does not look for the end before it sleeps" [[const bool ended = !BUG && ended_.load();]])
plant("a helper does not look for work before it sleeps" [[const bool work = !BUG && has_work(helper);]])

check_planting()
set(planted_in_engine ${CMAKE_CURRENT_BINARY_DIR}/engine)
foreach(file ${planted_files})
  string(REPLACE "actors/engine/" "planted_engine/" copy "#include \"planted_engine/names.hpp\"\n${copy_of_${file}}")
  string(REGEX REPLACE "namespace polychron::(engine|kernels)" "namespace polychron::planted_engine" copy "${copy}")
  string(REGEX REPLACE "actors/engine/|kernels/" "planted_engine/" file ${file})
  file(CONFIGURE OUTPUT ${planted_in_engine}/${file} CONTENT "${copy}" @ONLY)
endforeach()
file(CONFIGURE OUTPUT ${planted_in_engine}/planted_engine/names.hpp CONTENT "#pragma once
namespace planted_engine {
inline int defect = 0;  ///< which one is there; 0: none
inline const char* const names[] = {
    nullptr,
${planted_names}    nullptr};
/// Markers that do not fit the defects.
inline const char* const misses[] = {
${planted_misses}    nullptr};
}  // namespace planted_engine
" @ONLY)
