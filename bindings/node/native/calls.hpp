// The functions that lib/ calls, by file.
#pragma once

#include "environment.hpp"

namespace webnn {

// context.cpp
napi_value close(const Call& call);
napi_value pump(const Call& call);
napi_value create_context(const Call& call);
napi_value context_lost(const Call& call);
napi_value accelerated(const Call& call);
napi_value limits(const Call& call);
napi_value destroy(const Call& call);
napi_value dispatch(const Call& call);

// tensor.cpp
napi_value create_tensor(const Call& call);
napi_value create_constant_tensor(const Call& call);
napi_value write_tensor(const Call& call);
napi_value read_tensor(const Call& call);
napi_value read_tensor_late(const Call& call);

// builder.cpp
napi_value create_builder(const Call& call);
napi_value input(const Call& call);
napi_value dynamic_input(const Call& call);
napi_value dynamic_reshape(const Call& call);
napi_value constant(const Call& call);
napi_value scalar(const Call& call);
napi_value constant_tensor(const Call& call);
napi_value apply(const Call& call);
napi_value build(const Call& call);

// run.cpp: a run from bytes to bytes
napi_value create_cancellation(const Call& call);
napi_value cancel(const Call& call);
napi_value run(const Call& call);

// onnx.cpp: models
napi_value load_model(const Call& call);
napi_value create_sessions(const Call& call);
napi_value session_at(const Call& call);
napi_value run_session(const Call& call);

// extensions.cpp: beyond WebNN
napi_value tensor_error(const Call& call);
napi_value push_error_scope(const Call& call);
napi_value pop_error_scope(const Call& call);
napi_value stats(const Call& call);
napi_value export_tensor(const Call& call);
napi_value release(const Call& call);
napi_value graph_plan(const Call& call);
napi_value compute_shapes(const Call& call);
napi_value prepare(const Call& call);
napi_value start_trace(const Call& call);
napi_value stop_trace(const Call& call);
napi_value trace(const Call& call);

}  // namespace webnn
