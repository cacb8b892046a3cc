// The umbrella headers include the same standard headers as those of libtorch, and the macros of its log.
#if defined(RLT_TEST_SCRIPT)
#include <torch/script.h>
#else
#include <torch/torch.h>
#endif

int main() {
  std::ofstream file("/dev/null");
  file << "text";
  std::mutex mutex;
  std::condition_variable condition;
  std::unordered_map<std::string, std::function<int(int)>> functions{{"next", [](int number) { return number + 1; }}};
  std::variant<int, double> number = 2;
  auto begin = std::chrono::steady_clock::now();
  std::thread thread([&] {
    std::lock_guard<std::mutex> lock(mutex);
    number = functions.at("next")(std::get<int>(number));
  });
  thread.join();
  std::vector<int> values{3, 1, 2};
  std::sort(values.begin(), values.end());
  CHECK(values.front() == 1) << "sorted";
  DCHECK(values.size() == 3);
  LOG(INFO) << "sorted";
  VLOG_IF(1, values.empty()) << "empty";
  int* data = values.data();
  int* first = TORCH_CHECK_NOTNULL(data);
  if (*first != 1 || VLOG_IS_ON(5)) return 2;
  std::cout << std::setw(3) << values.front() << "\n";
  return std::get<int>(number) == 3 && std::chrono::steady_clock::now() >= begin ? 0 : 1;
}
