// What programs take of the compiler's own libraries. Zig would compile those whole: 17 s of a processor.
//
// A program that is compiled with -fsanitize=undefined and -fno-sanitize-recover=all tells the place and ends.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using Number = __int128;
using Size = unsigned __int128;

Size size(Number number) { return number < 0 ? -static_cast<Size>(number) : static_cast<Size>(number); }

/// The begin of what each check passes.
struct Place {
  const char* file;
  std::uint32_t line;
  std::uint32_t column;
};

[[noreturn]] void end(const char* check, const Place* place) {
  std::fprintf(stderr, "%s:%u:%u: undefined behaviour: %s\n", place->file, place->line, place->column, check);
  std::abort();
}

}  // namespace

extern "C" Number __divti3(Number dividend, Number divisor) {
  const Size divided = size(dividend), by = size(divisor);
  Size quotient = 0, rest = 0;
  for (int bit = 127; bit >= 0; --bit) {
    rest = rest << 1 | (divided >> bit & 1);
    if (rest < by) continue;
    rest -= by;
    quotient |= static_cast<Size>(1) << bit;
  }
  return static_cast<Number>((dividend < 0) == (divisor < 0) ? quotient : -quotient);
}

#define CHECK(name) \
  extern "C" [[noreturn]] void __ubsan_handle_##name(const Place* place) { end(#name, place); }

CHECK(add_overflow_abort)
CHECK(alignment_assumption_abort)
CHECK(builtin_unreachable)
CHECK(divrem_overflow_abort)
CHECK(float_cast_overflow_abort)
CHECK(function_type_mismatch_abort)
CHECK(invalid_builtin_abort)
CHECK(load_invalid_value_abort)
CHECK(missing_return)
CHECK(mul_overflow_abort)
CHECK(negate_overflow_abort)
CHECK(nonnull_arg_abort)
CHECK(out_of_bounds_abort)
CHECK(pointer_overflow_abort)
CHECK(shift_out_of_bounds_abort)
CHECK(sub_overflow_abort)
CHECK(type_mismatch_v1_abort)
CHECK(vla_bound_not_positive_abort)
