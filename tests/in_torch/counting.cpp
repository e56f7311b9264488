#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace gradmill::test {

namespace {

using Counters = std::map<std::pair<std::string, std::string>, std::atomic<long>>;

std::mutex& lock() {
  static std::mutex one;
  return one;
}

Counters& counters() {
  static Counters all;
  return all;
}

} // namespace

std::atomic<long>& counter(const char* family, const char* kernel) {
  const std::lock_guard<std::mutex> guard(lock());
  return counters()[{family, kernel}];
}

} // namespace gradmill::test

// A line for each kernel that ran: family, kernel, how often it was counted. Valid until the next call.
extern "C" const char* gradmill_counts() {
  static std::string text;
  const std::lock_guard<std::mutex> guard(gradmill::test::lock());
  text.clear();
  for (const auto& [key, count] : gradmill::test::counters()) {
    text += key.first + " " + key.second + " " + std::to_string(count.load()) + "\n";
  }
  return text.c_str();
}
