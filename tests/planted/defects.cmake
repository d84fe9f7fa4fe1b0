# Defects on purpose: plant() of tests/planting.cmake. CMakeLists.txt compiles the actors with all of them; the library has
# none.
read_for_planting(::polychron::planted::defect
  actors/context.cpp actors/context_errors.cpp actors/context_graphs.cpp actors/context_lifetime.cpp actors/device.cpp
  actors/device_graphs.cpp actors/device_operations.cpp actors/error_scopes.cpp actors/graph.cpp actors/lane_order.cpp
  actors/tensor.cpp actors/timeline.cpp messages/shared/admission.cpp messages/shared/lease.cpp messages/shared/lost.cpp)

# -- tensors and graphs
plant("a destroyed tensor's read is not rejected")
plant("a destroyed tensor stays in the context's table")
plant("leases of a destroyed tensor are not revoked")
plant("a query is answered with the error before" [[if (BUG) query.resolve(std::nullopt); else LINE]])
plant("graphs are not counted off")
plant("a destroyed graph stays in the context's table")

# -- the content timeline
plant("leases of a destroyed tensor do not end")
plant("a returned lease is taken for a revoked one" [[end(lease_entry, BUG);]])
plant("a destroyed tensor is forgotten, and its memory is not released")
plant("the end leaves the lanes alone")
plant("a refused build is not answered" [[if (!BUG) LINE else new auto(reply);]])
plant("a refused dispatch leaves its outputs as they are" [[if (BUG) outputs = msg::Tensors(); LINE]])

# -- the order of the lanes
plant("readers of other lanes are not waited for")
plant("only one other lane is waited for" [[BUG && !stamp.waits.empty() ? void() : LINE]])
plant("a lane forgets that it was read since")
plant("a lane says done too early"
  [[const auto publish = [&] { progress.publish(timeline_.done_below() + (BUG ? 1 : 0)); };]])
plant("an operation starts although another has the object" [[LINE free = free || BUG;]])
plant("a grant releases lanes that ask")
plant("a fence does not wait" [[if (BUG) continue; LINE]])
plant("a lease's early end is lost")
plant("what arrives at a lane is carried out after the end")

# -- operations
plant("the tag of a written tensor stays")
plant("a cancelled write is done" [[LINE if (BUG) error.reset();]])
plant("revoked memory goes back to the tensor" [[if (BUG || !revoked) {]])
plant("a read of what was destroyed is answered twice"
  [[if (slot.revoked || (!o.loan->claim() && !BUG)) return Course::over;]])
plant("an error does not travel" [[if (BUG) continue; LINE]])
plant("a failed dispatch loses its cause" [[.caused_by(BUG ? Error(ErrorKind::internal, "") : *slot.tag)]])
plant("a dispatch leaves the tag of its outputs")
plant("a graph that the device is at runs again" [[if (BUG) return false; else LINE]])
plant("a dispatch that was held is forgotten")
plant("a lane ends while the device is at work")
plant("the end of an execution is not counted")
plant("a transient failure makes the graph invalid"
  [[if (BUG || status.inherent) found_invalid(*o.graph, reason, ticket);]])
plant("an instance's arena is not given back"
  [[for (auto& instance : slot.instances) if (BUG) new auto(std::move(instance)); else instance = {};]])
plant("a deadline is ignored" [[if (BUG) return std::nullopt; LINE]])

# -- scopes and admission
plant("scope takes later errors too" [[if (BUG && ticket != 0) return scope.first <= ticket; LINE]])
plant("a place is lost when a lane is idle" [[if (!BUG || !idle) LINE]])
plant("an idle lane wakes nobody")

# -- answers to callers, and returned memory
plant("the callback of a revoked lease does not run")
plant("an input that a compute was lent stays away" [[if (BUG && result && adopted_.size() == 1); else LINE]])
plant("a pop without a scope is dropped")
plant("what a context says of its loss is lost")
plant("a write that is done is not counted")
plant("a place too many" [[if (entered >= left && entered - left >= settings_.most + (BUG ? 1 : 0)) return false;]])
plant("a place too few" [[LINE if (BUG && settings_.most > 1 && entered + 1 >= settings_.most + left) return false;]])
plant("an invalid graph runs again")
plant("half of a tensor's bytes are counted"
  [[auto reservation = msg::reserve(environment().budget, BUG ? bytes / 2 : bytes);]])

# -- counts that must fall back to zero, and news that come once
plant("a tensor keeps the leases that came back"
  [[void TensorState::receive(const msg::lease_ended& m) { if (!BUG) std::erase(out_, m.lease); }]])
plant("a context keeps the leases that came back" [[return !BUG || lease_entry.lease->mode == LeaseMode::fail;]])
plant("what a lane has done stays its load" [[progress.end(BUG ? 0 : m.stamp.weight);]])
plant("a plan's constants are counted twice"
  [[LINE if (BUG) environment().budget->reserve(slot.plan->constant_bytes());]])
plant("a read of an errored tensor is reported" [[if (BUG) failed(error, ticket); else LINE]])
plant("a failure is told twice" [[if (BUG) LINE LINE]])
plant("callers are let in after the device was lost")
plant("a loss is told twice" [[if (lost_.look()) return BUG;]])
plant("a scope stays when it has answered")
check_planting()
