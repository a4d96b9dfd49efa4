// Input: a memory budget.
// Output: the rows of a picture for a derived class, once there is memory for the decoder.
// Never: keeps a row.
#pragma once

#include <functional>
#include <string>

#include "src/io/image/picture.h"
#include "src/memory/budget.h"

namespace millrace {

class ReservingSink : public RowSink {
 public:
  ReservingSink(Budget& budget, const std::function<bool()>& cancelled, std::string subject)
      : budget_(budget), cancelled_(cancelled), subject_(std::move(subject)) {}

  Outcome<void> prepare(Bytes decoder_memory) final { return reserve(decoder_memory); }
  Outcome<void> begin(const PictureInfo& info) final;

 protected:
  virtual void begin_rows(const PictureInfo& info) = 0;

 private:
  Outcome<void> reserve(Bytes bytes);

  Budget& budget_;
  const std::function<bool()>& cancelled_;
  const std::string subject_;
  Reservation reservation_;
};

}  // namespace millrace
