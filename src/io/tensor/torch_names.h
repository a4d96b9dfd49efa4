// Input: a name that a pickle mentions.
// Output: what it stands for among the few that torch.save() writes for tensors; for others, what a person can do.
// Never: stands for code.
#pragma once

#include <optional>

#include "include/millrace/array.h"
#include "src/io/tensor/pickle.h"

namespace millrace::torch_file {

// What calls there are. The first three are torch._utils._rebuild_tensor, _v2 and _v3; see tensor_of() in
// torch_tensors.cc.
enum class Call : std::uint8_t { tensor, tensor_v2, tensor_v3, parameter, size, device, none };

const pickle::Vocabulary& vocabulary();
// Of a name in the vocabulary: none for what cannot be called.
Call call_of(const pickle::Value& name);
// Of torch.HalfStorage and its like; nothing for torch.storage.UntypedStorage, whose elements are bytes, and all else.
std::optional<ElementType> storage_type(const pickle::Value& name);
bool is_untyped_storage(const pickle::Value& name);
// Of torch.float16 and its like.
std::optional<ElementType> dtype(const pickle::Value& name);

}  // namespace millrace::torch_file
