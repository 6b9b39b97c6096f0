// Pages: a topic's data and the files of pages/ in one HTML file that needs nothing else.
#pragma once

#include <status.h>

#include <string>

#include "topics.h"

namespace explain {

// Writes every page into `folder`, which is made if it is not there. `*path` is that of the
// topic's.
Status write_pages(const Topic& topic, const Question& question, const std::string& folder,
                   std::string* path);

}  // namespace explain
