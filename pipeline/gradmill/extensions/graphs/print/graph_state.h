#pragma once

// The state of a model: tables of its tensors, and files in the format of safetensors that they are read from and saved
// to. A file is data only: reading one runs no code of it. Every error is a c10::Error that names the file and the entry.

#include <ATen/ATen.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradmill::state {

static_assert(std::endian::native == std::endian::little, "files of safetensors are little-endian");

// ---- Entries ----

// A tensor of a model's state, and what the graph requires of it.
struct Entry {
  std::string name; // in the module
  at::Tensor* tensor;
  at::ScalarType dtype;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  bool trained; // a parameter that needs a gradient
  std::string tied; // the name of an entry that is the same tensor, or nothing
};

struct Entries : std::vector<Entry> {
  void add(
      const char* name,
      at::Tensor& tensor,
      at::ScalarType dtype,
      at::IntArrayRef sizes,
      at::IntArrayRef strides,
      bool trained,
      const char* tied = "") {
    push_back({name, &tensor, dtype, sizes.vec(), strides.vec(), trained, tied});
  }
};

// All entries of several tables.
inline Entries joined(std::initializer_list<Entries> tables) {
  Entries all;
  for (const Entries& table : tables) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

// The tensors to train, each once: for an optimizer. Valid until another state is loaded.
inline std::vector<at::Tensor> trained(const Entries& entries) {
  std::vector<at::Tensor> tensors;
  for (const Entry& entry : entries) {
    if (entry.trained && entry.tied.empty()) {
      tensors.push_back(*entry.tensor);
    }
  }
  return tensors;
}

// ---- The format ----

struct Dtype {
  std::string_view name;
  at::ScalarType type;
};

inline constexpr Dtype dtypes[] = {
    {"F64", at::ScalarType::Double},
    {"F32", at::ScalarType::Float},
    {"F16", at::ScalarType::Half},
    {"BF16", at::ScalarType::BFloat16},
    {"I64", at::ScalarType::Long},
    {"I32", at::ScalarType::Int},
    {"I16", at::ScalarType::Short},
    {"I8", at::ScalarType::Char},
    {"U64", at::ScalarType::UInt64},
    {"U32", at::ScalarType::UInt32},
    {"U16", at::ScalarType::UInt16},
    {"U8", at::ScalarType::Byte},
    {"BOOL", at::ScalarType::Bool},
    {"C64", at::ScalarType::ComplexFloat},
    {"F8_E5M2", at::ScalarType::Float8_e5m2},
    {"F8_E4M3", at::ScalarType::Float8_e4m3fn},
};

// The name of a dtype in the format, or nothing.
inline std::string_view name_of(at::ScalarType type) {
  const auto* found = std::find_if(std::begin(dtypes), std::end(dtypes), [&](auto& each) { return each.type == type; });
  return found == std::end(dtypes) ? std::string_view() : found->name;
}

// A tensor in a file. Its bytes are counted from the end of the header.
struct Stored {
  at::ScalarType dtype = at::ScalarType::Undefined;
  std::vector<int64_t> sizes;
  uint64_t begin = 0;
  uint64_t end = 0;
};

using StoredByName = std::map<std::string, Stored>;

// `F32 [32, 2]`
inline std::string shown(at::ScalarType dtype, at::IntArrayRef sizes) {
  const std::string_view name = name_of(dtype);
  return c10::str(name.empty() ? std::string_view(c10::toString(dtype)) : name, " ", sizes);
}

// The bytes of a tensor. False if they are more than 64 bits count.
inline bool bytes_of(at::ScalarType dtype, at::IntArrayRef sizes, uint64_t& bytes) {
  bytes = c10::elementSize(dtype);
  for (const int64_t size : sizes) {
    if (c10::mul_overflows(bytes, static_cast<uint64_t>(size), &bytes)) {
      return false;
    }
  }
  return bytes <= INT64_MAX;
}

// Parses the header of a file: a JSON object of the tensors by name, and of texts by name under `__metadata__`.
class HeaderParser {
 public:
  HeaderParser(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  StoredByName parse() {
    StoredByName found;
    expect('{');
    for (bool more = !accept('}'); more; more = !closes('}')) {
      const std::string name = string();
      expect(':');
      if (name == "__metadata__") {
        metadata();
      } else {
        check(found.emplace(name, stored(name)).second, "'", name, "' is there twice");
      }
    }
    skip_space();
    check(at_ == text_.size(), "text follows the object");
    return found;
  }

 private:
  template <typename... Words>
  void check(bool condition, const Words&... words) const {
    TORCH_CHECK(condition, path_, ": the header is damaged at byte ", at_ + 8, ": ", words...);
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
  }

  bool accept(char letter) {
    skip_space();
    const bool found = at_ < text_.size() && text_[at_] == letter;
    at_ += found;
    return found;
  }

  void expect(char letter) {
    check(accept(letter), "'", letter, "' is missing");
  }

  // After an item: whether `letter` closes the list, and not a comma continues it.
  bool closes(char letter) {
    if (accept(letter)) {
      return true;
    }
    expect(',');
    return false;
  }

  std::string string() {
    expect('"');
    std::string text;
    for (;;) {
      check(at_ < text_.size(), "a text does not end");
      const char letter = text_[at_++];
      if (letter == '"') {
        return text;
      }
      check(static_cast<unsigned char>(letter) >= 0x20, "a text has a control character");
      letter == '\\' ? escaped(text) : text.push_back(letter);
    }
  }

  void escaped(std::string& text) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    check(at_ < text_.size(), "a text does not end");
    const char letter = text_[at_++];
    if (const size_t place = letters.find(letter); place != std::string_view::npos) {
      text.push_back(meant[place]);
      return;
    }
    check(letter == 'u', "an escape is unknown");
    uint32_t code = unit();
    if (code >= 0xD800 && code < 0xE000) { // one of a pair
      check(code < 0xDC00 && text_.substr(at_, 2) == "\\u", "half of a pair of surrogates");
      at_ += 2;
      const uint32_t low = unit();
      check(low >= 0xDC00 && low < 0xE000, "half of a pair of surrogates");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append(text, code);
  }

  // Four hexadecimal digits.
  uint32_t unit() {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const size_t digit = at_ < text_.size() ? std::string_view("0123456789abcdefABCDEF").find(text_[at_]) : 22;
      check(digit < 22, "a digit of an escape is missing");
      code = code * 16 + static_cast<uint32_t>(digit < 16 ? digit : digit - 6);
      ++at_;
    }
    return code;
  }

  // In UTF-8.
  static void append(std::string& text, uint32_t code) {
    if (code < 0x80) {
      text.push_back(static_cast<char>(code));
      return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    text.push_back(static_cast<char>((0xFF00 >> (more + 1) & 0xFF) | code >> 6 * more));
    for (int i = more - 1; i >= 0; --i) {
      text.push_back(static_cast<char>(0x80 | (code >> 6 * i & 0x3F)));
    }
  }

  uint64_t number() {
    skip_space();
    uint64_t value = 0;
    const size_t start = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto digit = static_cast<uint64_t>(text_[at_] - '0');
      check(value <= (INT64_MAX - digit) / 10, "a number is too large");
      value = value * 10 + digit;
    }
    check(at_ > start, "a number is missing");
    return value;
  }

  std::vector<uint64_t> numbers() {
    std::vector<uint64_t> found;
    expect('[');
    for (bool more = !accept(']'); more; more = !closes(']')) {
      found.push_back(number());
    }
    return found;
  }

  Stored stored(const std::string& name) {
    Stored found;
    bool has_sizes = false, has_place = false;
    expect('{');
    for (bool more = !accept('}'); more; more = !closes('}')) {
      const std::string key = string();
      expect(':');
      if (key == "dtype") {
        found.dtype = dtype(name);
      } else if (key == "shape") {
        const std::vector<uint64_t> sizes = numbers();
        found.sizes.assign(sizes.begin(), sizes.end());
        has_sizes = true;
      } else {
        check(key == "data_offsets", "'", name, "' has an unknown field '", key, "'");
        const std::vector<uint64_t> place = numbers();
        check(place.size() == 2, "'", name, "' has ", place.size(), " offsets");
        found.begin = place[0], found.end = place[1];
        has_place = true;
      }
    }
    const bool has_dtype = found.dtype != at::ScalarType::Undefined;
    check(has_dtype && has_sizes && has_place, "'", name, "' lacks a dtype, a shape or offsets");
    return found;
  }

  at::ScalarType dtype(const std::string& name) {
    const std::string text = string();
    const auto* found = std::find_if(std::begin(dtypes), std::end(dtypes), [&](auto& each) { return each.name == text; });
    check(found != std::end(dtypes), "'", name, "' has the dtype ", text, ", which is not supported");
    return found->type;
  }

  void metadata() {
    expect('{');
    for (bool more = !accept('}'); more; more = !closes('}')) {
      string();
      expect(':');
      string();
    }
  }

  const std::string& path_;
  std::string_view text_;
  size_t at_ = 0;
};

// An open file whose header is verified: its tensors have the bytes that their sizes need, and fill the file.
class File {
 public:
  explicit File(const std::string& path) : path_(path), in_(path, std::ios::binary | std::ios::ate) {
    const std::streamoff end = in_.good() ? std::streamoff(in_.tellg()) : -1;
    TORCH_CHECK(end >= 0, path_, ": it cannot be read");
    const auto size = static_cast<uint64_t>(end);
    uint64_t length = 0;
    if (size >= 8) {
      read(0, &length, 8);
    }
    const bool fits = size >= 8 && length <= size - 8 && length <= 100'000'000;
    TORCH_CHECK(fits, path_, ": it is truncated, or no file of safetensors");
    std::string header(length, '\0');
    read(8, header.data(), length);
    start_ = 8 + length;
    tensors = HeaderParser(path_, header).parse();
    verify(size - start_);
  }

  // The tensor of that entry of `tensors`, contiguous, in memory of its own.
  at::Tensor tensor(const Stored& stored) {
    at::Tensor result = at::empty(stored.sizes, at::TensorOptions().dtype(stored.dtype));
    read(start_ + stored.begin, result.mutable_data_ptr(), stored.end - stored.begin);
    return result;
  }

  StoredByName tensors;

 private:
  void verify(uint64_t size) const {
    std::vector<std::pair<uint64_t, uint64_t>> places;
    for (const auto& [name, stored] : tensors) {
      uint64_t bytes = 0;
      const bool known = bytes_of(stored.dtype, stored.sizes, bytes);
      TORCH_CHECK(
          known && stored.begin <= stored.end && stored.end <= size && stored.end - stored.begin == bytes,
          path_, ": '", name, "' is ", shown(stored.dtype, stored.sizes), ", and has the bytes from ", stored.begin,
          " to ", stored.end, " of ", size);
      places.emplace_back(stored.begin, stored.end);
    }
    std::sort(places.begin(), places.end());
    uint64_t end = 0;
    for (const auto& place : places) {
      TORCH_CHECK(place.first == end, path_, ": tensors overlap, or leave gaps, at byte ", end, " of the data");
      end = place.second;
    }
    TORCH_CHECK(end == size, path_, ": ", size - end, " bytes follow the last tensor");
  }

  void read(uint64_t from, void* into, uint64_t bytes) {
    in_.seekg(static_cast<std::streamoff>(from));
    in_.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes));
    TORCH_CHECK(in_.good(), path_, ": it cannot be read");
  }

  std::string path_;
  std::ifstream in_;
  uint64_t start_ = 0;
};

// ---- Reading and writing ----

// The tensors of a file by name, whatever they are.
inline std::map<std::string, at::Tensor> read(const std::string& path) {
  File file(path);
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, stored] : file.tensors) {
    tensors.emplace(name, file.tensor(stored));
  }
  return tensors;
}

// The entry whose tensor an entry is: itself, or what it is tied to.
inline const std::string& owner(const Entry& entry) {
  return entry.tied.empty() ? entry.name : entry.tied;
}

// All differences between a file and the entries that it is to have, a line each. Of tied entries, one is enough: some
// writers leave out the others.
inline std::string differences(const StoredByName& stored, const Entries& entries) {
  std::string text;
  std::set<std::string> names, owners;
  for (const Entry& entry : entries) {
    names.insert(entry.name);
    if (stored.count(entry.name)) {
      owners.insert(owner(entry));
    }
  }
  for (const Entry& entry : entries) {
    const auto found = stored.find(entry.name);
    const std::string ours = shown(entry.dtype, entry.sizes);
    if (found != stored.end() && (found->second.dtype != entry.dtype || found->second.sizes != entry.sizes)) {
      const std::string other = shown(found->second.dtype, found->second.sizes);
      text += c10::str("\n  '", entry.name, "' is ", other, "; the model has ", ours);
    } else if (found == stored.end() && !owners.count(owner(entry))) {
      text += c10::str("\n  '", entry.name, "' is missing; the model has ", ours);
    }
  }
  for (const auto& [name, other] : stored) {
    if (!names.count(name)) {
      text += c10::str("\n  '", name, "' is surplus; it is ", shown(other.dtype, other.sizes));
    }
  }
  return text;
}

// A tensor with the strides and the device that an entry is to have.
inline at::Tensor placed(const at::Tensor& read, const Entry& entry, const at::Device& device, const std::string& path) {
  if (read.strides() == at::IntArrayRef(entry.strides)) {
    return read.to(device);
  }
  at::Tensor result = at::empty_strided(entry.sizes, entry.strides, read.options().device(device));
  at::Tensor into = result, from = read; // of an expanded tensor, the part that has its own memory
  for (int64_t dim = 0; dim < result.dim(); ++dim) {
    if (result.stride(dim) == 0 && result.size(dim) > 1) {
      into = into.narrow(dim, 0, 1), from = from.narrow(dim, 0, 1);
      TORCH_CHECK(read.equal(from.expand_as(read)), path, ": '", entry.name, "' is to repeat along dimension ", dim);
    }
  }
  into.copy_(from);
  return result;
}

// The tensors of a file that has exactly these entries, by owner.
inline std::map<std::string, at::Tensor> read_entries(
    const std::string& path,
    const Entries& entries,
    const at::Device& device) {
  File file(path);
  const std::string problems = differences(file.tensors, entries);
  TORCH_CHECK(problems.empty(), path, ": the entries are not those of the model:", problems);
  std::map<std::string, at::Tensor> tensors;
  for (const Entry& entry : entries) {
    const auto found = file.tensors.find(entry.name);
    if (found == file.tensors.end()) {
      continue;
    }
    const at::Tensor tensor = placed(file.tensor(found->second), entry, device, path);
    const at::Tensor& first = tensors.emplace(owner(entry), tensor).first->second;
    const auto bytes = [](const at::Tensor& each) { return each.flatten().view(at::kByte); }; // NaN equals NaN
    const bool same = first.is_same(tensor) || bytes(first).equal(bytes(tensor));
    TORCH_CHECK(same, path, ": '", entry.name, "' is not equal to '", entry.tied, "', and the model has one tensor for both");
  }
  return tensors;
}

// Reads a file that has exactly these entries; those that are trained need gradients afterwards. Entries that are one
// tensor in the module are one here. After an error, none has changed.
inline void load(const std::string& path, std::initializer_list<Entries> tables, at::Device device = at::kCPU) {
  const Entries entries = joined(tables);
  const std::map<std::string, at::Tensor> tensors = read_entries(path, entries, device);
  for (const Entry& entry : entries) {
    if (entry.trained) {
      tensors.at(owner(entry)).requires_grad_();
    }
  }
  for (const Entry& entry : entries) {
    const at::Tensor& tensor = tensors.at(owner(entry));
    *entry.tensor = tensor.requires_grad() && !entry.trained ? tensor.detach() : tensor;
  }
}

inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
    }
    TORCH_CHECK(static_cast<unsigned char>(letter) >= 0x20, "the name '", text, "' has a control character");
    result += letter;
  }
  return result + '"';
}

// The header of a file with these tensors, padded to a multiple of 8 bytes.
inline std::string header_of(const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
  std::string text = "{";
  uint64_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::string_view dtype = name_of(tensor.scalar_type());
    TORCH_CHECK(!dtype.empty(), "'", name, "' is ", tensor.scalar_type(), ", which safetensors does not have");
    std::string sizes;
    for (const int64_t size : tensor.sizes()) {
      sizes += c10::str(sizes.empty() ? "" : ",", size);
    }
    const uint64_t begin = end;
    end += tensor.nbytes();
    text += c10::str(text.size() > 1 ? "," : "", quoted(name), ":{\"dtype\":\"", dtype, "\",\"shape\":[", sizes);
    text += c10::str("],\"data_offsets\":[", begin, ",", end, "]}");
  }
  text += "}";
  return text + std::string((8 - text.size() % 8) % 8, ' ');
}

// Writes tensors into a file by name. The file is replaced when it is complete.
inline void write(const std::string& path, const std::vector<std::pair<std::string, at::Tensor>>& tensors) {
  std::vector<std::pair<std::string, at::Tensor>> whole;
  for (const auto& [name, tensor] : tensors) {
    TORCH_CHECK(tensor.defined(), path, ": '", name, "' has no tensor: load a state first");
    whole.emplace_back(name, tensor.detach().cpu().contiguous());
  }
  const std::string header = header_of(whole), temporary = path + ".part";
  const uint64_t length = header.size();
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(&length), 8);
  out.write(header.data(), static_cast<std::streamsize>(length));
  for (const auto& [name, tensor] : whole) {
    out.write(static_cast<const char*>(tensor.const_data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
  }
  out.close();
  const bool done = out.good() && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!done) {
    std::remove(temporary.c_str());
  }
  TORCH_CHECK(done, path, ": it cannot be written");
}

// Writes the entries into a file that `model.load_state_dict` accepts as a dictionary. Tied ones are each written.
inline void save(const std::string& path, std::initializer_list<Entries> tables) {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (const Entry& entry : joined(tables)) {
    tensors.emplace_back(entry.name, *entry.tensor);
  }
  write(path, tensors);
}

} // namespace gradmill::state
