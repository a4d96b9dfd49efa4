// Input: a name that a pickle mentions.
// Output: its meaning, for the few names that torch.save() writes for tensors; for others, a remedy for the user.
// Never: resolves a name to code.
#pragma once

#include <optional>

#include "include/millrace/array.h"
#include "src/io/tensor/pickle.h"

namespace millrace::torch_file {

// Calls that a pickle may have. The first three are torch._utils._rebuild_tensor, _v2 and _v3; see add() in
// torch_tensors.cc.
enum class Call : std::uint8_t { tensor, tensor_v2, tensor_v3, parameter, size, device, none };

const pickle::Vocabulary& vocabulary();
// Returns the call of a name in the vocabulary; Call::none if it cannot be called.
Call call_of(const pickle::Value& name);
// Returns the element type of torch.HalfStorage and its like. nullopt for torch.storage.UntypedStorage, whose elements
// are bytes, and for all other names.
std::optional<ElementType> storage_type(const pickle::Value& name);
bool is_untyped_storage(const pickle::Value& name);
// Returns the type of torch.float16 and its like.
std::optional<ElementType> dtype(const pickle::Value& name);

}  // namespace millrace::torch_file
