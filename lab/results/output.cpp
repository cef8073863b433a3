#include "results/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <inlay/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace inlay::lab {
namespace {

[[noreturn]] void refuse(std::string const& what, int error) {
  throw Error(fmt::format("{} cannot be written: {}", what, std::strerror(error)));
}
constexpr char const* kStdout = "the standard output";

}  // namespace

void check_writable(std::filesystem::path const& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) == 0 && S_ISFIFO(found.st_mode)) return;  // open() would wait for a reader
  bool const is_new = lstat(file.c_str(), &found) != 0;
  int const descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) refuse(file.string(), errno);
  // /dev/full rejects a write of no bytes; a full disk rejects the first byte, which is only written to a new file.
  int const error = write(descriptor, "\n", is_new ? 1 : 0) < 0 ? errno : 0;
  close(descriptor);
  if (is_new) unlink(file.c_str());
  if (error) refuse(file.string(), error);
}

void check_stdout() {
  if (write(STDOUT_FILENO, "", 0) < 0) refuse(kStdout, errno);
}

void write_file(std::filesystem::path const& file, std::string_view text) {
  std::FILE* const out = std::fopen(file.c_str(), "wb");
  if (!out) refuse(file.string(), errno);
  int error = std::fwrite(text.data(), 1, text.size(), out) < text.size() ? errno : 0;
  if (std::fclose(out) != 0 && !error) error = errno;
  if (error) refuse(file.string(), error);
}

void flush_stdout() {
  if (std::fflush(stdout) != 0) refuse(kStdout, errno);
}

}  // namespace inlay::lab
