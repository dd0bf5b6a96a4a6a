"""Engine to protobuf and back: the only place that knows both."""
