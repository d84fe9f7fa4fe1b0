#include "kernels/cpu/band_kernel.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/invariant.hpp"
#include "kernels/cpu/bands.hpp"
#include "kernels/cpu/cut.hpp"
#include "kernels/cpu/memory_plan.hpp"
#include "kernels/cpu/plan.hpp"

namespace polychron::kernels {
namespace {

constexpr std::size_t chained = ~std::size_t{0};

/// How a picture lies in memory: planes of rows, one for each block of channels.
struct Picture {
  std::size_t planes = 0, rows = 0, row = 0;  ///< `row` in bytes
  bool dense = false;                         ///< has_dense_rows()
  std::size_t plane() const { return rows * row; }
  explicit Picture(const Slot& slot) {
    const Shape& shape = slot.descriptor.shape;
    const std::size_t block = channel_block(slot.layout);
    planes = (shape[1] + block - 1) / block;
    rows = shape[2];
    row = shape[3] * block * byte_size(slot.descriptor.data_type);
    dense = has_dense_rows(slot);
  }
};

/// Copies rows of a picture into dense memory or back.
template <class From, class To>
void copy_rows(const Picture& picture, Rows rows, From* from, To* to, std::size_t from_plane,
               std::size_t to_plane) {
  for (std::size_t i = 0; i < picture.planes; ++i)
    std::memcpy(to + i * to_plane, from + i * from_plane, rows.count() * picture.row);
}
void take_rows(const Picture& picture, Rows rows, const std::byte* whole, std::byte* dense) {
  copy_rows(picture, rows, whole + rows.begin * picture.row, dense, picture.rows * picture.row,
            rows.count() * picture.row);
}
void put_rows(const Picture& picture, Rows rows, const std::byte* dense, std::byte* whole) {
  copy_rows(picture, rows, dense, whole + rows.begin * picture.row, rows.count() * picture.row,
            picture.rows * picture.row);
}

}  // namespace

/// Immutable, as the kernels of its links are.
class BandKernel final : public Kernel {
 public:
  /// Null if a library lacks a kernel.
  static std::unique_ptr<BandKernel> prepare(std::span<const Problem> links,
                                             const std::vector<Band>& bands);

  std::size_t parts() const noexcept override { return std::min(bands_.size(), usual_parts); }
  std::size_t scratch_bytes() const noexcept override { return parts() * worker_bytes_; }
  void add_constants(Constants& constants) const override {
    for (const Link& link : links_)
      for (const auto& way : link.ways) way->add_constants(constants);
  }
  bool keeps_constant(std::size_t index) const noexcept override {
    for (const Link& link : links_)
      for (std::size_t i = 0; i < link.inputs.size(); ++i)
        if (link.inputs[i].from == index)
          return std::ranges::all_of(link.ways,
                                     [&](const auto& way) { return way->keeps_constant(i); });
    return false;
  }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override;

 private:
  friend class BandBound;
  struct Input {
    std::size_t from = chained;      ///< number of the input of the whole
    std::size_t scratch = 0;         ///< where its rows are copied to
    std::optional<Picture> picture;  ///< if only the band's rows are read
  };
  struct Link {
    std::vector<std::unique_ptr<Kernel>> ways;  ///< one for each height and padding
    std::vector<Input> inputs;
    std::size_t result = 0, scratch = 0;  ///< places of its result and of its kernels' scratch
    bool takes_rows = false;              ///< its kernels do
  };
  struct Share {
    std::size_t way;
    Rows in, out;
  };

  /// True if a link's kernels read the rows of an operand in the whole of it, although it has
  /// several planes. Only for the first picture, and the operand that is added to the last result.
  bool lies_as_rows(const Link& link, std::size_t input) const {
    return link.takes_rows && &link == (input == 0 ? &links_.front() : &links_.back());
  }
  Planes planes(const Link& link) const {
    Planes planes;
    if (lies_as_rows(link, 0)) planes.in = link.inputs[0].picture->plane();
    if (link.takes_rows && &link == &links_.back()) planes.out = result_->plane();
    return planes;
  }

  std::vector<Link> links_;
  std::vector<std::vector<Share>> bands_;  ///< a share for each link
  std::optional<Picture> result_;
  std::size_t worker_bytes_ = 0;  ///< scratch memory of one part
};

/// The bands, bound for one lane. Each part has memory for one band and computes its share of them
/// in turn.
class BandBound final : public Bound {
 public:
  BandBound(const BandKernel& kernel, const Arguments& arguments)
      : kernel_(kernel), arguments_(arguments), workers_(kernel.parts()) {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      workers_[i].scratch = arguments.scratch + i * kernel.worker_bytes_;
      bind(workers_[i]);
    }
  }

  void rebind() override {
    for (Worker& worker : workers_)
      for (auto& ways : worker.links)
        for (auto& piece : ways)
          if (place(*piece)) piece->bound->rebind();
  }
  void run() override { run_bands(workers_[0], 0, kernel_.bands_.size()); }
  std::size_t parts() const noexcept override { return workers_.size(); }
  void run_part(std::size_t part) override {
    const std::size_t bands = kernel_.bands_.size(), parts = workers_.size();
    run_bands(workers_[part], part * bands / parts, (part + 1) * bands / parts);
  }

 private:
  /// A link's kernel, bound to a worker's memory.
  struct Piece {
    const BandKernel::Link& link;
    std::vector<const std::byte*> inputs;
    std::byte* output = nullptr;
    Arguments arguments;
    std::unique_ptr<Bound> bound;
  };
  struct Worker {
    std::byte* scratch = nullptr;
    std::vector<std::vector<std::unique_ptr<Piece>>> links;  ///< a piece for each way of a link
  };

  void bind(Worker& worker) const {
    for (const BandKernel::Link& link : kernel_.links_) {
      auto& pieces = worker.links.emplace_back();
      for (const auto& way : link.ways) {
        auto& piece = *pieces.emplace_back(
            std::make_unique<Piece>(Piece{link, {}, worker.scratch + link.result, {}, nullptr}));
        for (const auto& input : link.inputs)
          piece.inputs.push_back(
              input.from == chained || input.picture ? worker.scratch + input.scratch : nullptr);
        place(piece);
        piece.arguments = {piece.inputs, {&piece.output, 1}, worker.scratch + link.scratch};
        piece.bound = way->bind_rows(piece.arguments, kernel_.planes(link));
      }
    }
  }

  /// Sets the addresses of operands that are read in place. True if one has changed.
  bool place(Piece& piece) const {
    bool changed = false;
    for (std::size_t i = 0; i < piece.inputs.size(); ++i) {
      const auto& input = piece.link.inputs[i];
      if (input.from == chained || input.picture) continue;
      const std::byte* const at = arguments_.inputs[input.from];
      changed = changed || piece.inputs[i] != at;
      piece.inputs[i] = at;
    }
    return changed;
  }

  void run_bands(Worker& worker, std::size_t begin, std::size_t end) {
    const Picture& result = *kernel_.result_;
    const bool in_place = result.dense || kernel_.links_.back().takes_rows;
    for (std::size_t band = begin; band < end; ++band) {
      const auto& shares = kernel_.bands_[band];
      for (std::size_t k = 0; k < shares.size(); ++k) {
        const auto& link = kernel_.links_[k];
        Piece& piece = *worker.links[k][shares[k].way];
        bool moved = false;
        for (std::size_t i = 0; i < link.inputs.size(); ++i) {
          const auto& input = link.inputs[i];
          if (!input.picture) continue;
          const Rows rows = i == 0 ? shares[k].in : shares[k].out;
          const std::byte* const whole = arguments_.inputs[input.from];
          if (input.picture->dense || kernel_.lies_as_rows(link, i)) {
            piece.inputs[i] = whole + rows.begin * input.picture->row;
            moved = true;
          } else {
            take_rows(*input.picture, rows, whole, worker.scratch + input.scratch);
          }
        }
        if (k + 1 == shares.size() && in_place) {
          piece.output = arguments_.outputs[0] + shares[k].out.begin * result.row;
          moved = true;
        }
        if (moved) piece.bound->rebind();
        piece.bound->run();
      }
      if (!in_place)
        put_rows(result, shares.back().out, worker.scratch + kernel_.links_.back().result,
                 arguments_.outputs[0]);
    }
  }

  const BandKernel& kernel_;
  const Arguments& arguments_;
  std::vector<Worker> workers_;
};

std::unique_ptr<Bound> BandKernel::bind(const Arguments& arguments) const {
  return std::make_unique<BandBound>(*this, arguments);
}

std::unique_ptr<BandKernel> BandKernel::prepare(std::span<const Problem> links,
                                                const std::vector<Band>& bands) {
  auto kernel = std::make_unique<BandKernel>();
  kernel->bands_.resize(bands.size());
  kernel->result_.emplace(links.back().outputs[0]);
  // Two places are enough for all pictures: a result overwrites the picture before its own picture.
  std::array<std::size_t, 2> pictures{};
  std::size_t operands = 0, scratch = 0, next = 0;
  const auto holds = [](std::size_t& place, const Slot& slot) {
    place = std::max(place, aligned(storage_bytes(slot.descriptor, slot.layout)));
  };
  for (std::size_t k = 0; k < links.size(); ++k) {
    Link& link = kernel->links_.emplace_back();
    const Problem& whole = links[k];
    link.inputs.resize(whole.inputs.size());
    std::vector<const BandLink*> ways;
    std::vector<std::size_t> rows(whole.inputs.size());
    for (std::size_t b = 0; b < bands.size(); ++b) {
      const BandLink& share = bands[b][k];
      auto way = std::ranges::find_if(ways, [&](const BandLink* other) {
        return std::get<Conv2dAttributes>(other->problem.attributes).padding ==
                   std::get<Conv2dAttributes>(share.problem.attributes).padding &&
               other->problem.inputs[0].descriptor == share.problem.inputs[0].descriptor &&
               other->problem.outputs[0].descriptor == share.problem.outputs[0].descriptor;
      });
      if (way == ways.end()) {
        std::string text;
        auto own = prepare_kernel(share.problem, text);
        // All bands of a link use our own loops, or none does: the two round differently. Our own
        // kernels must take rows. Minimal filtering does not, because its tiles would lie elsewhere
        // in a band.
        if (text.starts_with("reference") || (text.starts_with("direct") && !own->takes_rows()) ||
            (!link.ways.empty() && own->takes_rows() != link.takes_rows))
          return nullptr;
        scratch = std::max(scratch, aligned(own->scratch_bytes()));
        link.takes_rows = own->takes_rows();
        link.ways.push_back(std::move(own));
        ways.push_back(&share);
        way = ways.end() - 1;
        holds(pictures[k % 2], share.problem.inputs[0]);
        holds(pictures[(k + 1) % 2], share.problem.outputs[0]);
        for (std::size_t i = whole.own_inputs; i < whole.inputs.size(); ++i)
          holds(rows[i], share.problem.inputs[i]);
      }
      kernel->bands_[b].push_back(
          {static_cast<std::size_t>(way - ways.begin()), share.in, share.out});
    }
    for (std::size_t i = 0; i < whole.inputs.size(); ++i) {
      Input& input = link.inputs[i];
      if (i == 0 && k > 0) continue;
      input.from = next++;
      const Slot& slot = whole.inputs[i];
      if (i > 0 && !(i >= whole.own_inputs && follows_rows(whole, i))) continue;
      input.picture.emplace(slot);
      input.scratch = operands;  // behind the pictures; the first operand is one of them
      if (i > 0) operands += rows[i];
    }
  }
  const std::size_t first_operand = pictures[0] + pictures[1];
  for (std::size_t k = 0; k < links.size(); ++k) {
    Link& link = kernel->links_[k];
    link.result = k % 2 == 0 ? pictures[0] : 0;
    link.scratch = first_operand + operands;
    for (std::size_t i = 0; i < link.inputs.size(); ++i)
      if (i == 0)
        link.inputs[i].scratch = k % 2 == 0 ? 0 : pictures[0];
      else
        link.inputs[i].scratch += first_operand;
  }
  kernel->worker_bytes_ = first_operand + operands + scratch;
  return kernel;
}

std::unique_ptr<Kernel> prepare_in_bands(std::span<const Problem> links, std::string& text,
                                         std::size_t count) {
  ensure(links.size() > 1 && std::ranges::all_of(links, has_rows), "bands are of rows");
  if (count == 0) count = best_count(links);
  if (count < 2) return nullptr;
  ensure(count <= links.back().outputs[0].descriptor.shape[2], "a band has a row");
  const auto bands = bands_of(links, count);
  if (bands.empty()) return nullptr;
  std::unique_ptr<BandKernel> kernel;
  try {
    kernel = BandKernel::prepare(links, bands);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::not_supported) return nullptr;
    throw;
  }
  if (!kernel) return nullptr;
  text = "bands:";
  for (const Problem& link : links) text += (&link == links.data() ? " " : "; ") + to_string(link);
  text += "; " + std::to_string(count) + " bands, " + std::to_string(kernel->parts()) + " parts";
  return kernel;
}

}  // namespace polychron::kernels
