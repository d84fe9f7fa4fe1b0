#include "recording/recorder.hpp"

#include <algorithm>
#include <utility>

#include "recording/about.hpp"

namespace polychron::recording {

namespace {

std::atomic<std::uint64_t> recorders{0};

/// What a piece has said already, or nearly so: a place for each of some names. What is pushed out
/// is said again.
class Said {
 public:
  /// True the first time, or when it was forgotten.
  bool is_new(std::uint64_t kind, ContextNumber context, std::uint64_t id) noexcept {
    const auto key = (id * 4 + kind) * 0x9E3779B97F4A7C15U + context * 0xC2B2AE3D27D4EB4FU + 1;
    auto& place = places_[key >> 56];
    return std::exchange(place, key) != key;
  }
  void forget() noexcept { places_.fill(0); }

 private:
  std::array<std::uint64_t, 256> places_{};
};
constexpr std::uint64_t a_tensor = 0, a_graph = 1, a_context = 2, a_plan = 3;

Address address_of(const msg::MessageView& message) {
  return std::visit([](const auto* m) { return reinterpret_cast<std::uintptr_t>(m); }, message);
}

}  // namespace

/// A thread's hand in one recorder's store. Hooks do not throw: what there is no memory for is
/// dropped, and counted.
struct Recorder::Writer {
  Writer(Recorder& of, std::weak_ptr<Recorder> weak)
      : recorder(&of), id(of.id_), alive(std::move(weak)) {}

  /// Writes each record that is given, all in one piece; the names that they need among them.
  template <class... Records>
  void write(const Records&... records) noexcept {
    try {
      const auto bytes = (std::size_t{0} + ... + most_bytes(records));
      if (!fits(bytes)) renew(bytes);
      put(records...);
    } catch (...) {
      recorder->store_.count_dropped(sizeof...(Records));
    }
  }
  bool fits(std::size_t bytes) const noexcept {
    return current.piece && current.epoch == recorder->store_.epoch() &&
           current.piece->size - current.piece->used.load(std::memory_order_relaxed) >= bytes;
  }
  void renew(std::size_t bytes) {
    recorder->store_.renew(current, bytes);
    said.forget();
  }
  /// So that what is written next and what names it are in one piece.
  void make_room(std::size_t bytes) noexcept {
    try {
      if (!fits(bytes)) renew(bytes);
    } catch (...) {  // write() tries again
    }
  }
  template <class... Records>
  void put(const Records&... records) noexcept {
    auto& piece = *current.piece;
    const auto used = piece.used.load(std::memory_order_relaxed);
    Encoder encoder(piece.memory.get() + used);
    (encoder.record(records), ...);
    piece.records.store(piece.records.load(std::memory_order_relaxed) + sizeof...(Records),
                        std::memory_order_relaxed);
    piece.used.store(static_cast<std::size_t>(encoder.end() - piece.memory.get()),
                     std::memory_order_release);
  }

  Recorder* recorder;
  std::uint64_t id;
  std::weak_ptr<Recorder> alive;
  Store::Current current;
  Said said;
  Description description;  ///< its memory is used again
  Handled in_hand;          ///< `by` is 0 if there is none
  Carried carried;
  bool writing = false;
};

/// Of a thread, one for each recorder that it has met and that is still there.
struct Recorder::Writers {
  ~Writers() {
    for (auto& writer : all)
      if (const auto recorder = writer->alive.lock();
          recorder && recorder->generation_ == polychron::detail::fork_generation())
        recorder->store_.leave(writer->current);
    gone = true;
  }
  std::vector<std::unique_ptr<Writer>> all;
  static thread_local bool gone;  ///< messages are sent by what is destroyed even later
};
thread_local bool Recorder::Writers::gone = false;

Recorder::Recorder(Clock clock) : clock_(std::move(clock)), id_(++recorders) {}
Recorder::~Recorder() = default;

void Recorder::begin(const Settings& settings) {
  steps_.store(settings.steps, std::memory_order_relaxed);
  store_.begin(settings.max_bytes);
}

Recorder::Writer* Recorder::writer() noexcept {
  thread_local Writers writers;
  if (Writers::gone) return nullptr;
  for (auto& writer : writers.all)
    if (writer->id == id_) return writer.get();
  try {
    std::erase_if(writers.all, [](const auto& writer) { return writer->alive.expired(); });
    return writers.all.emplace_back(std::make_unique<Writer>(*this, weak_from_this())).get();
  } catch (...) {
    store_.count_dropped(1);
    return nullptr;
  }
}

/// A context's.
class Recorder::Ear final : public msg::Observer {
 public:
  Ear(std::shared_ptr<Recorder> to, std::string label)
      : recorder_(std::move(to)), context_(++recorder_->contexts_), label_(std::move(label)) {}

  void started(msg::ActorId actor, const char* kind) noexcept override {
    if (auto* const to = writer()) {
      const ActorBegan record{context_, actor, recorder_->now(), kind};
      say_context(*to, most_bytes(record));
      to->write(record);
    }
  }
  void ended(msg::ActorId actor) noexcept override {
    if (auto* const to = writer()) to->write(ActorEnded{context_, actor, recorder_->now()});
  }
  void sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept override {
    auto* const writer = this->writer();
    if (writer == nullptr) return;
    auto& described = writer->description;
    described.about = {};
    auto& footprint = described.footprint;
    footprint.lane = 0;
    footprint.turn = footprint.graph = 0;
    footprint.waits.clear(), footprint.reads.clear(), footprint.writes.clear();
    try {
      describe(message, described);
    } catch (...) {
      return recorder_->store_.count_dropped(1);
    }
    const auto at = recorder_->now();
    // The record takes its lists along and gives them back, with their memory.
    Sent record{context_, at, from, to, address_of(message), described.about, std::move(footprint)};
    const auto* const m = std::get_if<const msg::carry_out*>(&message);
    auto bytes = most_bytes(record);
    if (m != nullptr)
      objects_of((*m)->operation,
                 [&](const auto& object) { bytes += most_bytes(name_of(object)); });
    say_context(*writer, bytes);
    if (m != nullptr)
      objects_of((*m)->operation, [&](const auto& object) {
        const auto name = name_of(object);
        if (writer->said.is_new(name.graph ? a_graph : a_tensor, context_, name.id))
          writer->write(name);
      });
    writer->write(record);
    footprint = std::move(record.footprint);
  }
  void received(msg::ActorId by, const msg::MessageView& message) noexcept override {
    auto* const to = writer();
    if (to == nullptr) return;
    if (to->in_hand.by != 0) end_handling(*to, false);
    to->in_hand = {context_, recorder_->now(),    0,
                   by,       address_of(message), static_cast<std::uint32_t>(message.index()),
                   true};
  }
  void finished(msg::ActorId, const msg::MessageView&) noexcept override {
    if (auto* const to = writer(); to != nullptr && to->in_hand.by != 0) end_handling(*to, true);
  }
  void has_turn(msg::ActorId lane, const msg::carry_out& m) noexcept override {
    if (auto* const to = writer())
      to->carried = {
          context_, recorder_->now(), 0,
          lane,     m.stamp.ticket,   static_cast<std::uint32_t>(m.operation.index() + 1)};
  }
  void carried_out(msg::ActorId lane, msg::Ticket ticket) noexcept override {
    auto* const to = writer();
    if (to == nullptr || to->carried.lane != lane || to->carried.ticket != ticket) return;
    to->carried.duration = since(to->carried.begin);
    say_context(*to, most_bytes(to->carried));
    to->write(to->carried);
    to->carried.lane = 0;
  }
  bool wants_steps() const noexcept override {
    return recorder_->recording() && recorder_->steps_.load(std::memory_order_relaxed);
  }
  void steps_taken(msg::ActorId lane, msg::Ticket ticket, const msg::GraphSlot& graph,
                   std::span<const double> seconds) noexcept override {
    auto* const to = writer();
    if (to == nullptr) return;
    try {
      StepsTaken record{context_, lane, ticket, graph.id, to->carried.begin, {}};
      for (const double s : seconds)
        record.nanoseconds.push_back(static_cast<std::uint64_t>(s * 1e9));
      std::string lines;
      for (const auto& line : graph.plan->describe()) lines += line + '\n';
      const PlanNamed plan{context_, graph.id, lines};
      say_context(*to, most_bytes(plan) + most_bytes(record));
      if (to->said.is_new(a_plan, context_, graph.id)) to->write(plan);
      to->write(record);
    } catch (...) {
      recorder_->store_.count_dropped(1);
    }
  }

 private:
  Writer* writer() const noexcept { return recorder_->recording() ? recorder_->writer() : nullptr; }
  std::uint64_t since(Time begin) const {
    return static_cast<std::uint64_t>(std::max<Time>(0, recorder_->now() - begin));
  }
  void end_handling(Writer& to, bool ended) noexcept {
    to.in_hand.duration = since(to.in_hand.begin);
    to.in_hand.ended = ended;
    say_context(to, most_bytes(to.in_hand));
    to.write(to.in_hand);
    to.in_hand.by = 0;
  }
  /// `bytes`: of what follows, and has to be in the same piece.
  void say_context(Writer& to, std::size_t bytes) noexcept {
    const ContextNamed name{context_, label_};
    to.make_room(most_bytes(name) + bytes);
    if (to.said.is_new(a_context, 0, context_)) to.write(name);
  }
  ObjectNamed name_of(const msg::TensorSlot& tensor) const {
    const auto actor = tensor.actor ? tensor.actor->id() : 0;
    return {context_, false, tensor.id, actor, tensor.bytes, tensor.label};
  }
  ObjectNamed name_of(const msg::GraphSlot& graph) const {
    const auto actor = graph.actor ? graph.actor->id() : 0;
    return {context_, true, graph.id, actor, 0, graph.label};
  }

  const std::shared_ptr<Recorder> recorder_;
  const ContextNumber context_;
  const std::string label_;
};

std::shared_ptr<msg::Observer> Recorder::ear(std::string context_label) {
  return std::make_shared<Ear>(shared_from_this(), std::move(context_label));
}

}  // namespace polychron::recording
