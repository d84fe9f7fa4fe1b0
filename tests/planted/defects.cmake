# Defects on purpose: plant(WHAT FILE TEXT DEFECT) replaces TEXT, which stands in FILE once, by DEFECT,
# where BUG is true while the test has this one switched on. tests/planted/CMakeLists.txt compiles the
# actors with all of them; the library has none.

# -- tensors and graphs
plant("a destroyed tensor's read is not rejected" actors/tensor.cpp
  [[if (read->claim()) read->answer(told("read", ticket));]]
  [[if (!BUG && read->claim()) read->answer(told("read", ticket));]])
plant("a destroyed tensor stays in the context's table" actors/tensor.cpp
  [[if (const auto owner = context()) tell(owner, msg::tensor_gone{id_});]]
  [[if (const auto owner = context(); owner && !BUG) tell(owner, msg::tensor_gone{id_});]])
plant("leases of a destroyed tensor are not revoked" actors/tensor.cpp
  [[for (const auto& lease : out_) lease->revoke();]]
  [[if (!BUG) for (const auto& lease : out_) lease->revoke();]])
plant("a query is answered with the error before" actors/tensor.cpp
  [[query.resolve(error_);]]
  [[query.resolve(BUG ? std::nullopt : error_);]])
plant("graphs are not counted off" actors/graph.cpp
  [[--environment().counters->graphs;]]
  [[if (!BUG) --environment().counters->graphs;]])
plant("a destroyed graph stays in the context's table" actors/graph.cpp
  [[if (const auto owner = context()) tell(owner, msg::graph_gone{id_});]]
  [[if (const auto owner = context(); owner && !BUG) tell(owner, msg::graph_gone{id_});]])

# -- the content timeline
plant("leases of a destroyed tensor do not end" actors/context.cpp
  [[for (const auto& lease_entry : entry.leases) end(lease_entry, true);]]
  [[if (!BUG) for (const auto& lease_entry : entry.leases) end(lease_entry, true);]])
plant("a returned lease is taken for a revoked one" actors/context.cpp
  [[end(lease_entry, false);]]
  [[end(lease_entry, BUG);]])
plant("a destroyed tensor is forgotten, and its memory is not released" actors/context.cpp
  [[issue<msg::op::Release>(order_->stamp_write<msg::op::Release>(entry.uses), {}, entry.slot);]]
  [[if (!BUG) issue<msg::op::Release>(order_->stamp_write<msg::op::Release>(entry.uses), {}, entry.slot);]])
plant("the end leaves the lanes alone" actors/context_graphs.cpp
  [[for (const auto& lane : device_actors_.lanes) end_actor(lane);
  if (device_actors_.compiler)]]
  [[for (const auto& lane : device_actors_.lanes) if (!BUG) end_actor(lane);
  if (device_actors_.compiler)]])
plant("who builds is not told of the refusal" actors/context_graphs.cpp
  [[reply.reject(m.plan.error().with_operation("build", description.label));]]
  [[if (!BUG) reply.reject(m.plan.error().with_operation("build", description.label));
    else new auto(reply);]])
plant("a refused dispatch leaves its outputs as they are" actors/context_graphs.cpp
  [[issue<msg::op::Fail>(std::move(stamp), std::move(local.permit), std::move(outputs), refused);]]
  [[issue<msg::op::Fail>(std::move(stamp), std::move(local.permit),
                       BUG ? msg::Tensors() : std::move(outputs), refused);]])

# -- the order of the lanes
plant("readers of other lanes are not waited for" actors/lane_order.cpp
  [[for (const auto& use : uses->reads_since) depend(use, uses->object);]]
  [[if (!BUG) for (const auto& use : uses->reads_since) depend(use, uses->object);]])
plant("only one other lane is waited for" actors/lane_order.cpp
  [[      stamp.waits.push_back({use.at, object});]]
  [[      BUG && !stamp.waits.empty() ? void() : stamp.waits.push_back({use.at, object});]])
plant("a lane forgets that it was read since" actors/lane_order.cpp
  [[*same = mine;]]
  [[if (!BUG) *same = mine;]])
plant("a lane says done too early" actors/device.cpp
  [[progress.publish(timeline_.done_below());]]
  [[progress.publish(timeline_.done_below() + (BUG ? 1 : 0));]])
plant("an operation starts although another has the object" actors/timeline.cpp
  [[free = free && free_for(object, exclusive);]]
  [[free = BUG || (free && free_for(object, exclusive));]])
plant("a grant releases lanes that ask" actors/timeline.cpp
  [[if (dependent->tell) return false;]]
  [[if (!BUG && dependent->tell) return false;]])
plant("a fence does not wait" actors/timeline.cpp
  [[if (other->second->granted) continue;]]
  [[if (BUG || other->second->granted) continue;]])
plant("a lease's early end is lost" actors/device.cpp
  [[if (!timeline_.done(m.turn)) ended_early_.emplace(m.turn, m.revoked);]]
  [[if (!BUG && !timeline_.done(m.turn)) ended_early_.emplace(m.turn, m.revoked);]])
plant("what arrives at a lane is carried out after the end" actors/device.cpp
  [[  if (finds_lost()) return;
  if (starts)]]
  [[  if (!BUG && finds_lost()) return;
  if (starts)]])

# -- operations
plant("the tag of a written tensor stays" actors/device_operations.cpp
  [[    clear_tag(slot, ticket);
    completed();]]
  [[    if (!BUG) clear_tag(slot, ticket);
    completed();]])
plant("a cancelled write is done" actors/device_operations.cpp
  [[auto error = msg::unmet(o.conditions, environment().now);]]
  [[auto error = BUG ? std::nullopt : msg::unmet(o.conditions, environment().now);]])
plant("revoked memory goes back to the tensor" actors/device_operations.cpp
  [[  if (!revoked) {]]
  [[  if (BUG || !revoked) {]])
plant("a read of what was destroyed is answered twice" actors/device_operations.cpp
  [[if (slot.revoked || !o.loan->claim()) return Course::over;]]
  [[if (slot.revoked || (!o.loan->claim() && !BUG)) return Course::over;]])
plant("an error does not travel" actors/device_graphs.cpp
  [[    if (!slot.tag) continue;]]
  [[    if (BUG || !slot.tag) continue;]])
plant("a failed dispatch loses its cause" actors/device_graphs.cpp
  [[        .caused_by(*slot.tag)
        .not_run();]]
  [[        .caused_by(BUG ? Error(ErrorKind::internal, "") : *slot.tag)
        .not_run();]])
plant("a dispatch leaves the tag of its outputs" actors/device_graphs.cpp
  [[    for (const auto& output : o.outputs) clear_tag(*output, ticket);]]
  [[    if (!BUG) for (const auto& output : o.outputs) clear_tag(*output, ticket);]])
plant("a graph that the device is at runs again" actors/device.cpp
  [[          return o.graph->instances[lane_].busy;]]
  [[          return !BUG && o.graph->instances[lane_].busy;]])
plant("a dispatch that was held is forgotten" actors/device.cpp
  [[  carry_out_held();
  carry_out_ready();]]
  [[  if (!BUG) carry_out_held();
  carry_out_ready();]])
plant("a lane ends while the device is at work" actors/device.cpp
  [[      environment().backend->finish(*each.graph->instances[lane_].plan);]]
  [[      if (!BUG) environment().backend->finish(*each.graph->instances[lane_].plan);]])
plant("the end of an execution is not counted" actors/device.cpp
  [[  end_one(*operation);
  in_hand_ = nullptr;]]
  [[  if (!BUG) end_one(*operation);
  in_hand_ = nullptr;]])
plant("a transient failure makes the graph invalid" actors/device_graphs.cpp
  [[  if (status.inherent) found_invalid(*o.graph, reason, ticket);]]
  [[  if (BUG || status.inherent) found_invalid(*o.graph, reason, ticket);]])
plant("an instance's arena is not given back" actors/device_graphs.cpp
  [[  for (auto& instance : slot.instances) instance = {};]]
  [[  for (auto& instance : slot.instances)
    if (!BUG) instance = {};
    else new auto(std::move(instance));]])
plant("a deadline is ignored" actors/device_graphs.cpp
  [[  if (const auto why = msg::unmet(conditions, environment().now))]]
  [[  if (const auto why = BUG ? std::nullopt : msg::unmet(conditions, environment().now))]])

# -- scopes and admission
plant("scope takes later errors too" actors/error_scopes.cpp
  [[scope.first <= ticket && ticket <= scope.last;]]
  [[scope.first <= ticket && (BUG || ticket <= scope.last);]])
plant("a place is lost when a lane is idle" messages/shared/admission.cpp
  [[  ++left_;
  // Sequentially consistent against wait]]
  [[  if (!BUG || !idle) ++left_;
  // Sequentially consistent against wait]])
plant("an idle lane wakes nobody" actors/device.cpp
  [[if (environment().admission->anybody_waits() && !has_mail()) environment().admission->settle();]]
  [[if (!BUG && environment().admission->anybody_waits() && !has_mail())
    environment().admission->settle();]])

# -- answers to callers, and returned memory
plant("the callback of a revoked lease does not run" messages/shared/lease.cpp
  [[if (callback) origin_->post(std::move(callback));]]
  [[if (callback && !BUG) origin_->post(std::move(callback));]])
plant("an input that a compute was lent stays away" actors/device_graphs.cpp
  [[        *buffer = std::move(*back);]]
  [[        BUG && result && adopted_.size() == 1 ? void() : void(*buffer = std::move(*back));]])
plant("a pop without a scope is dropped" actors/context_graphs.cpp
  [[reply.reject(Error(ErrorKind::invalid_state, "there is no error scope to pop"));]]
  [[if (!BUG) reply.reject(Error(ErrorKind::invalid_state, "there is no error scope to pop"));]])
plant("what a context says of its loss is lost" messages/shared/lost.cpp
  [[    watchers.swap(watchers_);]]
  [[    if (!BUG) watchers.swap(watchers_);]])
plant("a write that is done is not counted" actors/device_operations.cpp
  [[    completed();
  }
  leave();]]
  [[    if (!BUG) completed();
  }
  leave();]])
plant("a place too many" messages/shared/admission.cpp
  [[entered - left >= settings_.most) return false;]]
  [[entered - left >= settings_.most + (BUG ? 1 : 0)) return false;]])
plant("a place too few" messages/shared/admission.cpp
  [[if (entered >= left && entered - left]]
  [[if (BUG && settings_.most > 1 && entered + 1 >= settings_.most + left) return false;
      if (entered >= left && entered - left]])
plant("an invalid graph runs again" actors/device_graphs.cpp
  [[  if (cause != nullptr)
    return Error(ErrorKind::graph_invalid]]
  [[  if (!BUG && cause != nullptr)
    return Error(ErrorKind::graph_invalid]])
plant("half of a tensor's bytes are counted" actors/device_operations.cpp
  [[msg::reserve(environment().budget, bytes);]]
  [[msg::reserve(environment().budget, BUG ? bytes / 2 : bytes);]])

# -- counts that must fall back to zero, and news that come once
plant("a tensor keeps the leases that came back" actors/tensor.cpp
  [[{ std::erase(out_, m.lease); }]]
  [[{ if (!BUG) std::erase(out_, m.lease); }]])
plant("a context keeps the leases that came back" actors/context.cpp
  [[    return true;
  });]]
  [[    return !BUG || lease_entry.lease->mode == LeaseMode::fail;
  });]])
plant("what a lane has done stays its load" actors/device.cpp
  [[progress.end(m.stamp.weight);]]
  [[progress.end(BUG ? 0 : m.stamp.weight);]])
plant("a plan's constants are counted twice" actors/device_graphs.cpp
  [[    slot.constants = std::move(*reservation);]]
  [[    slot.constants = std::move(*reservation);
    if (BUG) environment().budget->reserve(slot.plan->constant_bytes());]])
plant("a read of an errored tensor is reported" actors/device_operations.cpp
  [[      count(environment().counters->not_run);  // reported]]
  [[      BUG ? failed(error, ticket) : count(environment().counters->not_run);  // reported]])
plant("a failure is told twice" actors/device_operations.cpp
  [[  tell(owner, msg::operation_failed{ticket, error});]]
  [[  if (BUG) tell(owner, msg::operation_failed{ticket, error});
  tell(owner, msg::operation_failed{ticket, error});]])
plant("callers are let in after the device was lost" actors/device_operations.cpp
  [[  environment().lose(LostReason::device_failed, why, self().id(), ticket);]]
  [[  if (!BUG) environment().lose(LostReason::device_failed, why, self().id(), ticket);]])
plant("a loss is told twice" messages/shared/lost.cpp
  [[if (lost_.look()) return false;]]
  [[if (lost_.look()) return BUG;]])
plant("a scope stays when it has answered" actors/error_scopes.cpp
  [[  scopes_.erase(scope);]]
  [[  if (!BUG) scopes_.erase(scope);]])
