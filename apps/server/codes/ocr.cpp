#include "codes/ocr.hpp"

#include <boost/asio/post.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <opencv2/imgproc.hpp>
#include <thread>

#include "apps/ocr/page_reader.hpp"
#include "apps/ocr/picture.hpp"
#include "protocol/strings.hpp"

namespace polychron::server {

namespace {

using Clock = std::chrono::steady_clock;

/// A scan of a page in A4 with 600 dots an inch has 35 million.
constexpr std::uint64_t usual_pixels = 50'000'000;

onnx::Dimension fixed(std::uint32_t size) { return {size, {}}; }
onnx::Dimension lines() { return {std::nullopt, "lines"}; }

Signature signature_of_ocr() {
  Signature signature;
  signature.inputs = {{"picture", WireType::bytes, {fixed(1)}}};
  signature.outputs = {{"text", WireType::bytes, {lines()}},
                       {"boxes", WireType::fp32, {lines(), fixed(4), fixed(2)}},
                       {"confidence", WireType::fp32, {lines()}}};
  return signature;
}

std::vector<WireTensor> tensors_of(const ocr::Page& page) {
  std::vector<std::string> text;
  std::vector<float> boxes, confidence;
  for (const auto& line : page.lines) {
    text.push_back(line.text);
    for (const auto& corner : line.corners) boxes.insert(boxes.end(), {corner.x, corner.y});
    confidence.push_back(line.confidence);
  }
  const auto count = static_cast<std::uint32_t>(page.lines.size());
  std::vector<WireTensor> tensors;
  tensors.push_back({"text", WireType::bytes, {count}, bytes_of(text)});
  tensors.push_back({"boxes", WireType::fp32, {count, 4, 2}, Buffer::copy_of(boxes)});
  tensors.push_back({"confidence", WireType::fp32, {count}, Buffer::copy_of(confidence)});
  return tensors;
}

/// A thread for each lane, each with a reader of its own: reading blocks. They share a context, and
/// so the weights.
class OcrEngine final : public Engine {
 public:
  OcrEngine(const EngineOrigin& origin, const EngineHost& host, Context context,
            std::uint64_t pixels)
      : loop_(host.loop),
        context_(std::move(context)),
        files_(ocr::models_in(origin.file)),
        pixels_(pixels) {
    for (int i = 0; i < origin.config.lanes; ++i) readers_.emplace_back(context_, files_);
    // Runs both models, so that broken ones never serve.
    cv::Mat sample(96, 640, CV_8UC3, cv::Scalar::all(255));
    cv::putText(sample, "Polychron", {40, 70}, cv::FONT_HERSHEY_DUPLEX, 2, cv::Scalar::all(0), 3);
    readers_.front().read(sample);
    for (auto& reader : readers_)
      threads_.emplace_back([this, &reader](const std::stop_token& stop) { work(stop, reader); });
  }

  const Signature& signature() const override { return signature_; }
  std::vector<Context> contexts() const override { return {context_}; }

  Future<EngineOutcome> infer(EngineRequest&& request) override {
    Job job{std::move(request), {}};
    auto future = job.promise.future();
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    wake_.notify_one();
    return future;
  }

 private:
  struct Job {
    EngineRequest request;
    Promise<EngineOutcome> promise;
  };

  void work(const std::stop_token& stop, ocr::PageReader& reader) {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !jobs_.empty(); })) return;
      auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      auto outcome = std::make_shared<EngineOutcome>(read(reader, job.request));
      // The last handle to this engine may go with the promise, and must not go on its own thread.
      boost::asio::post(loop_, [promise = std::move(job.promise), outcome] {
        promise.resolve(std::move(*outcome));
      });
    }
  }

  EngineOutcome read(ocr::PageReader& reader, const EngineRequest& request) const try {
    try {
      return read_page(reader, request);
    } catch (const Error& error) {
      if (error.root().kind() != ErrorKind::out_of_memory) throw;
      reader =
          ocr::PageReader(context_, files_);  // graphs for pages of other sizes hold the memory
      return read_page(reader, request);
    }
  } catch (const cv::Exception& error) {  // its what() tells paths
    return Refusal(Status::internal, request.label + ": OpenCV: " + error.err);
  } catch (...) {
    return current_refusal(request.label);
  }

  EngineAnswer read_page(ocr::PageReader& reader, const EngineRequest& request) const {
    const auto begin = Clock::now();
    if (request.begin_by && begin > *request.begin_by)
      throw Refusal(Status::deadline, request.label + ": timed out");
    go_on(request);
    const auto picture = picture_of(request);
    const auto page =
        reader.read(picture, [&](std::string_view, std::size_t, std::size_t) { go_on(request); });
    return {tensors_of(page), Clock::now() - begin};
  }

  cv::Mat picture_of(const EngineRequest& request) const {
    using namespace std::string_view_literals;
    const auto bad = [&](const std::string& why) {
      return Refusal(Status::bad_request, request.label + ": input 'picture': " + why);
    };
    const auto file = strings_of(request.inputs.front()).front();
    if (!file.starts_with("\x89PNG"sv) && !file.starts_with("\xff\xd8"sv))
      throw bad("expected a PNG or JPEG file, got " + std::to_string(file.size()) +
                " bytes of something else");
    try {
      auto picture = ocr::decode_picture(std::as_bytes(std::span(file)), "picture", pixels_);
      if (!picture.damage.empty()) throw bad(picture.damage);
      constexpr int longest = 32766;  // that OpenCV can warp
      if (picture.pixels.rows > longest || picture.pixels.cols > longest)
        throw bad("a side of " +
                  std::to_string(std::max(picture.pixels.rows, picture.pixels.cols)) +
                  " pixels, at most " + std::to_string(longest));
      return picture.pixels;
    } catch (const Error& error) {
      // The message ends with the formats that programs may read.
      if (error.kind() == ErrorKind::bad_data)
        throw bad(error.message().substr(0, error.message().find("; expected")));
      throw;
    }
  }

  /// Nobody waits for the rest of a page after the deadline, or when the client has left.
  static void go_on(const EngineRequest& request) {
    if (request.cancellation.cancelled())
      throw Refusal(Status::cancelled, request.label + ": cancelled");
    if (request.deadline && Clock::now() > *request.deadline)
      throw Refusal(Status::deadline, request.label + ": timed out");
  }

  const Signature signature_ = signature_of_ocr();
  const boost::asio::any_io_executor loop_;
  const Context context_;
  const ocr::ModelFiles files_;
  const std::uint64_t pixels_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Job> jobs_;
  std::deque<ocr::PageReader> readers_;
  std::vector<std::jthread> threads_;  ///< last: they use all of the above
};

}  // namespace

std::shared_ptr<Engine> load_ocr(const EngineOrigin& origin, const EngineHost& host) {
  const auto& config = origin.config;
  auto pixels = usual_pixels;
  for (const auto& [name, value] : config.parameters) {
    if (name != "pixels" || value == 0 || value > ocr::most_pixels)
      throw Error(ErrorKind::bad_data, "parameter '" + printable(name, 40) +
                                           "': expected 'pixels', 1 to " +
                                           std::to_string(ocr::most_pixels));
    pixels = value;
  }
  ContextOptions options;
  options.label = config.label;
  options.lanes = config.lanes;
  options.threads = config.threads;
  options.memory_limit = config.memory_limit;
  return std::make_shared<OcrEngine>(origin, host, host.runtime.create_context(options).get(),
                                     pixels);
}

}  // namespace polychron::server
