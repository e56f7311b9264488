// Numbers of all types as Python passes them, and a loop that computes an operation for many.

#pragma once

#include "graph.h"
namespace graph = gradmill::graph;
struct Number {
  char kind;
  int64_t integer;
  double real;
};
static at::Scalar scalar(const Number& number) {
  return number.kind == 'f' ? at::Scalar(number.real)
      : number.kind == 'b'  ? at::Scalar(number.integer != 0)
                            : at::Scalar(number.integer);
}
static Number number(int64_t value) { return {'i', value, 0}; }
static Number number(double value) { return {'f', 0, value}; }
static Number number(bool value) { return {'b', value, 0}; }
static Number number(const at::Scalar& value) {
  return value.isBoolean()      ? number(value.toBool())
      : value.isFloatingPoint() ? number(value.toDouble())
                                : number(value.toLong());
}
template <class T>
static T as(const Number& number) {
  if constexpr (std::is_same_v<T, at::Scalar>) {
    return scalar(number);
  } else if constexpr (std::is_same_v<T, double>) {
    return number.real;
  } else {
    return static_cast<T>(number.integer);
  }
}
template <class Compute>
static void each(int64_t count, const Number* first, const Number* second, Number* results, Compute compute) {
  for (int64_t i = 0; i < count; ++i) {
    try {
      results[i] = compute(first[i], second[i]);
    } catch (const c10::Error&) {
      results[i] = {'e', 0, 0};
    }
  }
}

// A function that computes an expression of `a` and `b` for many numbers of two types.
#define COMPUTED(name, A, B, Found, ...)                                                                    \
  extern "C" void name(int64_t count, const Number* first, const Number* second, Number* results) {         \
    each(count, first, second, results, [](const Number& one, const Number& two) {                          \
      [[maybe_unused]] const auto a = as<A>(one);                                                           \
      [[maybe_unused]] const auto b = as<B>(two);                                                           \
      const Found found = __VA_ARGS__;                                                                      \
      return number(found);                                                                                 \
    });                                                                                                     \
  }
